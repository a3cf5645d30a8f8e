"""Making what plain requests speak of, just before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.kit.outcomes import Full, Undecided
from pytest_corpus.suites.vector.subject.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.subject.cleanup import Cleanup, tenant_of
from pytest_corpus.suites.vector.subject.requests import VectorRequests
from pytest_corpus.suites.vector.subject.sandbox import stored
from pytest_corpus.suites.vector.subject.shared import Item


class Preparation:
    """Makes the main and the scratch namespace for each tenant and each instance, and what is to be deleted.

    Why something could not be made is noted in `obstacles`.
    """

    def __init__(
        self, vector: VectorCapabilities, requests: VectorRequests, cleanup: Cleanup, obstacles: list[Undecided]
    ) -> None:
        self._vector, self._requests, self._cleanup, self._obstacles = vector, requests, cleanup, obstacles

    def prepare(self, request: Mapping[str, Any]) -> None:
        op, args, tenant = request.get("op"), request.get("args"), tenant_of(request)
        if not isinstance(args, Mapping) or op in ("vector.capabilities", "vector.health", "vector.create_namespace"):
            return
        queries, ids = args.get("queries"), args.get("ids")
        named = (
            [args, *(query for query in queries if isinstance(query, Mapping))] if isinstance(queries, list) else [args]
        )
        spaces = {str(each.get("namespace", "default")) for each in named}
        with self._vector.prepares():
            for space in (
                sorted(spaces & {self._requests.main_namespace, self._requests.scratch})
                if not self._vector.occupied
                else ()
            ):
                self._make(space, tenant)
            for name in sorted(space for space in spaces if space in self._vector.shared.to_delete):
                self._once(tenant, name, partial(self._create, name, tenant))
            for name in ids if isinstance(ids, list) else []:
                if isinstance(name, str) and (item := self._vector.shared.to_delete.get(name)):
                    self._once(tenant, name, partial(self._fill, self._requests.scratch, [item], tenant))

    def _once(self, tenant: str | None, name: str, work: Callable[[], None]) -> None:
        key = (self._vector.client.generation, tenant, name)
        ready = self._vector.shared.ready.setdefault(self._vector.client, set())
        if key in ready:
            return
        try:
            work()
        except Full:
            raise
        except Undecided as obstacle:
            self._obstacles.append(obstacle)
        ready.add(key)

    def _make(self, name: str, tenant: str | None) -> None:
        def work() -> None:
            if not self._vector.namespaces:
                self._cleanup.sweep(tenant)
            self._create(name, tenant)
            if name == self._requests.main_namespace:
                self._fill(name, self._requests.settled, tenant)
                query = {**self._vector.looking(), **self._vector.at(name)}
                self._vector.ready(
                    lambda: self._vector.call("query", query, {"tenant": tenant} if tenant else {}), True
                )

        self._once(tenant, name, work)

    def _create(self, name: str, tenant: str | None) -> None:
        if self._vector.namespaces:
            self._vector.call("create_namespace", self._vector.named(name), {"tenant": tenant} if tenant else {})

    def _fill(self, name: str, items: Sequence[Item], tenant: str | None) -> None:
        ctx = {"tenant": tenant} if tenant else {}
        size = self._vector.batch or len(items)
        for start in range(0, len(items), size):
            batch = list(items[start : start + size])
            reply = self._vector.call("upsert", {"vectors": batch, **self._vector.at(name)}, ctx)
            self._vector.check_ids(reply)
            stored(reply, batch)
