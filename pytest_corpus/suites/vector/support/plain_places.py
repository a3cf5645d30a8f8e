"""The namespaces of plain requests: one that is only read, and one to write to."""

from typing import Any

from pytest_corpus.kit.requests import Requests
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.shared import Item

HOME = (15, 75, 135)
"""The directions of the vectors that plain queries look for."""


class PlainPlaces(Requests):
    """The main and the scratch namespace by name, and what is in them."""

    def __init__(self, vector: VectorCapabilities) -> None:
        self._vector = vector

    @property
    def main_namespace(self) -> str:
        """The namespace of plain queries; nothing but a few vectors is ever written to it."""
        self._vector.shared.main_namespace = self._vector.shared.main_namespace or self._named("home")
        return self._vector.shared.main_namespace

    @property
    def scratch(self) -> str:
        """The namespace of plain writes."""
        self._vector.shared.scratch = self._vector.shared.scratch or self._named("scratch")
        return self._vector.shared.scratch

    def _named(self, prefix: str) -> str:
        return self._vector.name(prefix) if self._vector.namespaces else "default"

    @property
    def settled(self) -> tuple[Item, ...]:
        """The vectors of the main namespace."""
        self._vector.shared.settled = self._vector.shared.settled or tuple(
            {
                "id": self._vector.name("home"),
                "vector": direction(degrees, self._vector.dimensions),
                "metadata": {"kind": "home", "part": number},
            }
            for number, degrees in enumerate(HOME)
        )
        return self._vector.shared.settled

    @property
    def in_main(self) -> dict[str, Any]:
        """The argument that names the main namespace, where there is more than one."""
        return self._vector.at(self.main_namespace)

    @property
    def in_scratch(self) -> dict[str, Any]:
        """The argument that names the scratch namespace, where there is more than one."""
        return self._vector.at(self.scratch)

    def to_delete(self, item: Item | None = None) -> str:
        """The name of a vector of the scratch namespace, or of a namespace, to be made just before it is deleted."""
        name = str(item["id"]) if item else self._vector.name("doomed")
        self._vector.shared.to_delete[name] = item
        return name
