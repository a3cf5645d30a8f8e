"""Reference adapters of a provider with quotas, and of one that keeps everything in a file.

All instances of an adapter share one store, as those of a real provider do.
"""

import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pytest_corpus.kit.store import leftovers
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Space as GraphSpace
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.store import Item, Space

HELD = {"namespaces": 0, "vectors": 0, "nodes": 0}  # the most that was ever held, of each kind


def used_up(scope: str, most: int) -> AdapterError:
    """The error of a provider whose quota is used up."""
    details = {"throttle_scope": scope, "quota": most}
    return AdapterError("ResourceExhausted", f"the quota of {most} {scope} is used up", details=details)


class Vector(ReferenceVector):
    """Holds ten namespaces and a hundred vectors at a time, of all tenants together."""

    namespaces, vectors = 10, 100
    stored: ClassVar[dict[str | None, dict[str, Space]]] = {}

    def __init_subclass__(cls) -> None:
        cls.stored = {}

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants = self.stored

    def held(self) -> int:
        return sum(name != "default" for spaces in self.tenants.values() for name in spaces)

    def create(self, call: Call, name: str, wanted: Space) -> None:
        if name not in self.spaces(call) and self.held() >= self.namespaces:
            raise used_up("namespaces", self.namespaces)
        super().create(call, name, wanted)
        HELD["namespaces"] = max(HELD["namespaces"], self.held())

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        there = sum(len(space.items) for spaces in self.tenants.values() for space in spaces.values())
        fresh = {item.id for item in items}.difference(self.space(call, namespace).items)
        if there + len(fresh) > self.vectors:
            raise used_up("vectors", self.vectors)
        HELD["vectors"] = max(HELD["vectors"], there + len(fresh))
        return super().write(call, namespace, items)


class Few(Vector):
    """Holds four namespaces, and says so."""

    namespaces = 4

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "max_namespaces": self.namespaces}


class Tight(Vector):
    """Holds two namespaces at a time, and does not say so."""

    namespaces = 2


class KeepsNamespaces(Vector):
    """Says nothing of namespaces, creates them and deletes none."""

    namespaces = 10_000
    features: Mapping[str, bool] = {
        name: value for name, value in ReferenceVector.features.items() if name != "supports_namespaces"
    }

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        raise AdapterError("NotSupported", "namespaces are deleted by an administrator")


class Graph(ReferenceGraph):
    """Holds a hundred and fifty nodes at a time: a page of a hundred, ten more, and some."""

    most = 150
    stored: ClassVar[dict[str | None, GraphSpace]] = {}

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants = self.stored

    def commit(self, call: Call, draft: GraphSpace) -> None:
        before = {**self.tenants, call.tenant_hash: draft}
        there = sum(len(graph.nodes) for space in before.values() for graph in space.values())
        if there > max(self.most, self.there()):
            raise used_up("nodes", self.most)
        HELD["nodes"] = max(HELD["nodes"], there)
        super().commit(call, draft)

    def there(self) -> int:
        return sum(len(graph.nodes) for space in self.tenants.values() for graph in space.values())


STORE = Path("store.pickle")


def stored(component: str) -> dict[str | None, Any]:
    """The data of a component in the file, by tenant."""
    found: dict[str, Any] = pickle.loads(STORE.read_bytes()) if STORE.exists() else {}
    tenants: dict[str | None, Any] = found.setdefault(component, {})
    return tenants


def names(component: str) -> list[str]:
    """The names of what the suite made that is in the file: of namespaces, vectors and nodes."""
    found: list[str] = []
    for spaces in stored(component).values():
        for name, space in spaces.items():
            found += [*([name] if name != "default" and component == "vector" else [])]
            found += [*(space.items if component == "vector" else (*space.nodes, *space.edges))]
    return found


def unknown(component: str) -> set[str]:
    """The names in the file that no journal of a run has noted, or that are not the suite's: `sweep` leaves them."""
    journals = [leftovers.read_file(path) for path in Path(leftovers.FOLDER).glob("*.jsonl")]
    named = {
        name
        for journal in journals
        if journal
        for names in journal.names.values()
        for name in names
        if leftovers.run_of(name) == journal.run or name == leftovers.uuid_of(journal.run)
    }
    spaces = [(name, space) for each in stored(component).values() for name, space in each.items()]
    if component == "vector":
        inside = {key for name, space in spaces if name not in named for key in space.items}
        return ({name for name, _ in spaces} - {"default"} | inside) - named
    return {key for _, space in spaces for key in (*space.nodes, *space.edges)} - named


def keep(component: str, tenants: dict[str | None, Any]) -> None:
    """Write a component to the file, whole or not at all."""
    found = pickle.loads(STORE.read_bytes()) if STORE.exists() else {}
    new = STORE.with_suffix(f".{os.getpid()}")
    new.write_bytes(pickle.dumps({**found, component: tenants}))
    new.replace(STORE)


TENANTS: dict[str, dict[str | None, Any]] = {}


UNKNOWN: set[str] = set()  # names that were in the file while no journal knew them


class Kept:
    """Keeps in a file what is written."""

    component: str
    tenants: Any

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)  # type: ignore[call-arg]
        if self.component not in TENANTS:
            TENANTS[self.component] = stored(self.component)
        self.tenants = TENANTS[self.component]

    async def handle(self, envelope: Any) -> Any:
        answer = await super().handle(envelope)  # type: ignore[misc]
        op = str(envelope.get("op")) if isinstance(envelope, dict) else ""
        if op.partition(".")[2] not in ("query", "batch_query", "capabilities", "health", "bulk_vertices", "traversal"):
            keep(self.component, self.tenants)
            UNKNOWN.update(unknown(self.component))
        return answer


class KeptVector(Kept, ReferenceVector):
    """Vectors in a file."""


class KeptGraph(Kept, ReferenceGraph):
    """Nodes and edges in a file."""


class KeptDefault(KeptVector):
    """Vectors in a file, without namespaces."""

    features: Mapping[str, bool] = {
        **ReferenceVector.features,
        "supports_namespaces": False,
        "supports_index_management": False,
    }
