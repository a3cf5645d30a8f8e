"""Making what plain requests name, just before they are sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.kit.outcomes import Full, Undecided
from pytest_corpus.suites.vector.support.cleanup import Cleanup, tenant_of
from pytest_corpus.suites.vector.support.conditions import VectorConditions
from pytest_corpus.suites.vector.support.plain_places import PlainPlaces
from pytest_corpus.suites.vector.support.sandbox import stored
from pytest_corpus.suites.vector.support.shared import Item, context_of

INDEPENDENT = ("vector.capabilities", "vector.health", "vector.create_namespace")
"""The operations that need nothing that was made before."""


class Preparation:
    """Makes the plain namespaces for each tenant and each instance, and whatever a request deletes.

    Args:
        obstacles: takes the reasons why something could not be made.
    """

    def __init__(
        self, vector: VectorConditions, places: PlainPlaces, cleanup: Cleanup, obstacles: list[Undecided]
    ) -> None:
        self._vector, self._places, self._cleanup, self._obstacles = vector, places, cleanup, obstacles

    def prepare(self, request: Mapping[str, Any]) -> None:
        """Make what a request needs and was not made before."""
        args = request.get("args")
        if not isinstance(args, Mapping) or request.get("op") in INDEPENDENT:
            return
        tenant = tenant_of(request)
        with self._vector.prepares():
            for name, make in self._needed(args, tenant):
                ready = self._vector.shared.ready.setdefault(self._vector.client, set())  # a sweep begins a new one
                key = (self._vector.client.generation, tenant, name)
                if key not in ready:
                    self._attempt(make)
                    ready.add(key)

    def _attempt(self, make: Callable[[], None]) -> None:
        try:
            make()
        except Full:
            raise
        except Undecided as obstacle:
            self._obstacles.append(obstacle)

    def _needed(self, args: Mapping[str, Any], tenant: str | None) -> Iterator[tuple[str, Callable[[], None]]]:
        """The name of each thing that a request needs, and the step that makes it."""
        names, doomed = _namespaces(args), self._vector.shared.to_delete
        plain = set() if self._vector.occupied else {self._places.main_namespace, self._places.scratch}
        for name in sorted(names & plain):
            yield name, partial(self._make_plain, name, tenant)
        for name in sorted(names & doomed.keys()):
            yield name, partial(self._create, name, tenant)
        ids = args.get("ids")
        for name in ids if isinstance(ids, list) else ():
            if isinstance(name, str) and (item := doomed.get(name)):
                yield name, partial(self._fill, self._places.scratch, [item], tenant)

    def _make_plain(self, name: str, tenant: str | None) -> None:
        if not self._vector.namespaces:
            self._cleanup.sweep(tenant)
        self._create(name, tenant)
        if name == self._places.main_namespace:
            self._fill(name, self._places.settled, tenant)
            query = {**self._vector.looking(), **self._vector.at(name)}
            self._vector.ready(partial(self._vector.call, "query", query, context_of(tenant)), True)

    def _create(self, name: str, tenant: str | None) -> None:
        if self._vector.namespaces:
            self._vector.call("create_namespace", self._vector.named(name), context_of(tenant))

    def _fill(self, name: str, items: Sequence[Item], tenant: str | None) -> None:
        size = self._vector.batch or len(items)
        for start in range(0, len(items), size):
            batch = list(items[start : start + size])
            args = {"vectors": batch, **self._vector.at(name)}
            reply = self._vector.call("upsert", args, context_of(tenant))
            self._vector.check_ids(reply)
            stored(reply, batch)


def _namespaces(args: Mapping[str, Any]) -> set[str]:
    """The namespaces that arguments name for a request and for each of its queries."""
    queries = args.get("queries")
    inner = [query for query in queries if isinstance(query, Mapping)] if isinstance(queries, list) else []
    return {str(each.get("namespace", "default")) for each in (args, *inner)}
