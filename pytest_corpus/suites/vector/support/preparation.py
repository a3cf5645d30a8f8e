"""Making what plain requests name, just before they are sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.kit.outcomes import Blocked, Full, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities, VectorConditions
from pytest_corpus.suites.vector.support.cleanup import Cleanup, tenant_of
from pytest_corpus.suites.vector.support.requests import VectorRequests
from pytest_corpus.suites.vector.support.sandbox import stored
from pytest_corpus.suites.vector.support.shared import Item, context_of, speaking

INDEPENDENT = ("vector.capabilities", "vector.health", "vector.create_namespace")
"""The operations that need nothing that was made before."""


class VectorPrerequisites(Prerequisites):
    """Plain requests need the namespaces that are made for them.

    `met` tells why something could not be made.
    """

    def __init__(self, vector: VectorCapabilities) -> None:
        super().__init__(vector)
        self.met: list[Undecided] = []

    def claimed(self, name: str) -> bool | None:
        """Namespaces can be created and deleted with either of two capabilities (R22)."""
        if name not in ("create_namespace", "delete_namespace"):
            return super().claimed(name)
        said = {self._calls.capabilities.flag(flag) for flag in ("supports_namespaces", "supports_index_management")}
        return True if True in said else False if False in said else None

    def obstacle(self, name: str) -> Undecided | None:
        obstacle = super().obstacle(name)
        return self.met[0] if isinstance(obstacle, Blocked) and self.met else obstacle


class Preparation:
    """Makes the plain namespaces for each tenant and each instance, and whatever a request deletes.

    Args:
        obstacles: takes the reasons why something could not be made.
    """

    def __init__(
        self, vector: VectorConditions, places: VectorRequests, cleanup: Cleanup, obstacles: list[Undecided]
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
        names = {str(each.get("namespace", "default")) for each in speaking(args, "queries")}
        doomed = self._vector.shared.to_delete
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
            self._await_index({**self._vector.looking(), **self._vector.at(name)}, context_of(tenant))

    def _await_index(self, query: Mapping[str, Any], ctx: Mapping[str, Any]) -> None:
        """Wait until a namespace that was filled can be queried, unless the first one could be at once."""
        ask = partial(self._vector.call, "query", query, ctx)
        if self._vector.shared.index_lags is not False:
            self._vector.shared.index_lags = ask().is_a("IndexNotReady")
        if self._vector.shared.index_lags:
            self._vector.ready(ask, True)

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
