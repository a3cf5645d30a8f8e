"""The vector component as its suite speaks to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import payload_problem
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Undecided, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.vector.requests import VectorRequests
from pytest_corpus.suites.vector.root_causes import root_cause
from pytest_corpus.suites.vector.sandbox import Item, Sandbox, failures_of, id_of, matches_of, results_of, stored


class Vector(VectorRequests):
    """Requests of the vector component.

    Plain requests speak of a home and a scratch namespace, which are made for each tenant and each instance of
    the adapter just before the first call that names them.
    """

    core: Mapping[str, str] = {
        **Subject.core,
        "query": "VEC-QUERY-1",
        "batch_query": "VEC-MULTI-1",
        "upsert": "VEC-UPSERT-1",
        "delete": "VEC-DELETE-1",
        "create_namespace": "VEC-NS-1",
        "delete_namespace": "VEC-NS-1",
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._ready: set[tuple[Any, ...]] = set()
        self._itemised: dict[str, bool] = {}
        self._obstacles: list[Undecided] = []
        self._spaces: dict[tuple[str | None, str], None] = {}
        self._stored: dict[str | None, dict[str, None]] = {}
        self._swept: dict[str | None, set[str]] = {}
        self.failing_basics: dict[str, tuple[str, ...]] | None = None

    def root_cause(self, requirement: str, violation: Violation) -> Blocked | None:
        return super().root_cause(requirement, violation) or root_cause(self, requirement)

    # -- places ----------------------------------------------------------------------------------------

    def sandbox(self, *items: Item, tenant: str | None = None, name: str = "", **made: Any) -> Sandbox:
        """A new namespace with these vectors in it; without namespaces the default one, swept.

        Raises:
            Blocked: it cannot be created or written to.
        """
        ctx = {"tenant": tenant} if tenant else {}
        dimensions, metric = made.get("dimensions", self.dimensions), made.get("metric", self.metric)
        sandbox = Sandbox(self, name or self.name("corpus"), dimensions, metric, ctx)
        if self.namespaces:
            reply = self.call("create_namespace", self.named(sandbox.name, dimensions, metric), ctx)
            self._created(reply, sandbox)
        else:
            sandbox.name = "default"
            offered = [self.filters, *map(self.works, self.operations())]
            assert offered, "what is offered is found out before the sweep, because that fills the home again"
            self._sweep(tenant)
            self._occupied = True
        sandbox.put(*items)
        return sandbox

    def _created(self, reply: Reply, sandbox: Sandbox) -> None:
        """Go on only where a namespace was created."""
        expect.readable(reply)
        if reply.is_success:
            return
        said = f"create_namespace is answered with {reply}"
        if sandbox.dimensions != self.usual or reply.is_a("ResourceExhausted"):
            raise NotAssessed(said)
        plain = sandbox.metric in (self.metric, next(iter(self.metrics), None))
        raise Blocked("VEC-NS-1" if plain else "VEC-CAP-2", said, evidence=reply.exchange)

    def fresh(self) -> Vector:
        """Another instance, which shares the names of places but not what is in them."""
        shared = (self.main_namespace, self.scratch, self.settled, self.dimensions, self.namespaces)
        other = super().fresh()
        assert isinstance(other, Vector)
        other.main_namespace, other.scratch, other.settled, other.dimensions, other.namespaces = shared
        other._doomed, other._spaces = self._doomed, self._spaces
        other._stored, other._swept = self._stored, self._swept
        if other.client is self.client:
            other._ready = self._ready
        return other

    # -- calls -----------------------------------------------------------------------------------------

    def send(self, request: Any, **options: Any) -> Reply:
        """Make the places that a request speaks of, then send it."""
        if not self._preparing and isinstance(request, Mapping):
            self._prepare(request)
        reply = super().send(request, **options)
        if reply.is_success:
            self._note(request)
        return reply

    def _prepare(self, request: Mapping[str, Any]) -> None:
        op, args, tenant = request.get("op"), request.get("args"), _tenant(request)
        if not isinstance(args, Mapping) or op in ("vector.capabilities", "vector.health", "vector.create_namespace"):
            return
        queries, ids = args.get("queries"), args.get("ids")
        named = (
            [args, *(query for query in queries if isinstance(query, Mapping))] if isinstance(queries, list) else [args]
        )
        spaces = {str(each.get("namespace", "default")) for each in named}
        with self.prepares():
            for space in sorted(spaces & {self.main_namespace, self.scratch}) if not self._occupied else ():
                self._make(space, tenant)
            for name in sorted(space for space in spaces if space in self._doomed):
                self._once(tenant, name, partial(self._create, name, tenant))
            for name in ids if isinstance(ids, list) else []:
                if isinstance(name, str) and (item := self._doomed.get(name)):
                    self._once(tenant, name, partial(self._fill, self.scratch, [item], tenant))

    def _once(self, tenant: str | None, name: str, work: Callable[[], None]) -> None:
        key = (self.client.generation, tenant if self.tenants else None, name)
        if key in self._ready:
            return
        try:
            work()
        except Undecided as obstacle:
            self._obstacles.append(obstacle)
        self._ready.add(key)

    def _make(self, name: str, tenant: str | None) -> None:
        def work() -> None:
            if not self.namespaces:
                self._sweep(tenant)
            self._create(name, tenant)
            if name == self.main_namespace:
                self._fill(name, self.settled, tenant)
                query = {**self.looking(), **self.at(name)}
                self.ready(lambda: self.call("query", query, {"tenant": tenant} if tenant else {}), True)

        self._once(tenant, name, work)

    def _create(self, name: str, tenant: str | None) -> None:
        if self.namespaces:
            self.call("create_namespace", self.named(name), {"tenant": tenant} if tenant else {})

    def _fill(self, name: str, items: Sequence[Item], tenant: str | None) -> None:
        ctx = {"tenant": tenant} if tenant else {}
        size = self.batch or len(items)
        for start in range(0, len(items), size):
            batch = list(items[start : start + size])
            stored(self.call("upsert", {"vectors": batch, **self.at(name)}, ctx), batch)

    def multiple(self, queries: Sequence[Mapping[str, Any]], where: Mapping[str, Any], **ctx: Any) -> list[list[Any]]:
        """The matches of each query of a batch that must be answered."""
        args = {"queries": [dict(query) for query in queries], **where}
        reply = self.ready(lambda: self.call("batch_query", args, ctx), True)
        results = results_of(expect.success(reply, "an answer to the batch of queries"))
        if len(results) != len(queries):
            raise Blocked("VEC-MULTI-1", f"{len(queries)} queries have {len(results)} results")
        return [matches_of(result, "VEC-MULTI-1") for result in results]

    def backed(self, *, streaming: bool) -> list[str]:
        """The operations whose answer to a failing provider is an error; a batch may report it for each item (R14)."""
        return [name for name in super().backed(streaming=streaming) if not self.itemised(name)]

    def itemised(self, name: str) -> bool:
        """Whether an operation on several items reports a failing provider as the failure of each item."""
        if name not in ("upsert", "delete"):
            return False
        if name not in self._itemised:
            fresh = self.fresh()
            fresh.plan("unavailable", name)
            reply = fresh.call(name, fresh.distinct(name))
            fresh.client.provider.clear()
            self._itemised[name] = reply.is_success and bool(failures_of(reply.result))
        return self._itemised[name]

    def _asked_to_wait(self, reply: Any) -> float | None:
        return None if reply.is_a("IndexNotReady") else super()._asked_to_wait(reply)

    def _try(self, name: str) -> Undecided | None:
        obstacle = super()._try(name)
        return self._obstacles[0] if isinstance(obstacle, Blocked) and self._obstacles else obstacle

    def _note(self, request: Any) -> None:
        """Remember what is there now, to be deleted at the end."""
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping):
            return
        tenant, where, vectors = _tenant(request), args.get("namespace"), args.get("vectors")
        if request.get("op") == "vector.create_namespace" and isinstance(where, str):
            self._spaces[tenant, where] = None
        elif request.get("op") == "vector.delete_namespace":
            self._spaces.pop((tenant, str(where)), None)
        elif request.get("op") == "vector.upsert" and where in (None, "default") and isinstance(vectors, list):
            self.leave(tenant, [item for item in vectors if isinstance(item, Mapping)])

    def leave(self, tenant: str | None, items: Sequence[Item]) -> None:
        """Remember vectors that may be in the default namespace of a tenant, to be deleted in the end."""
        names = [item.get("id") for item in items]
        known = {name: None for name in names if isinstance(name, str) and name}
        self._stored.setdefault(tenant, {}).update(known)
        self.swept(tenant).difference_update(known)

    def swept(self, tenant: str | None) -> set[str]:
        """The ids in the default namespace of a tenant that were deleted, by the adapter's own report."""
        return self._swept.setdefault(tenant if self.tenants else None, set())

    def _sweep(self, tenant: str | None) -> None:
        """Delete what the suite left in the default namespace of a tenant."""
        shared = [tenant] if self.tenants else list(self._stored)
        for owner in shared:
            left = list(self._stored.pop(owner, {}))
            size = self.batch or 100
            for start in range(0, len(left), size):
                with self.prepares():
                    ctx = {"tenant": owner} if owner else {}
                    reply = self.call("delete", {"ids": left[start : start + size]}, ctx)
                if reply.is_success and not failures_of(reply.result):
                    self.swept(owner).update(left[start : start + size])
        self._ready.clear()

    def tidy(self) -> None:
        """Delete what was made with the adapter, as far as it can be deleted."""
        self.client.provider.clear()
        for tenant, name in list(self._spaces):
            with self.prepares():
                self.call("delete_namespace", {"namespace": name}, {"tenant": tenant} if tenant else {})
        for tenant in list(self._stored):
            self._sweep(tenant)

    # -- what holds for every answer -------------------------------------------------------------------

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        edition = self.settings.edition
        if name in ("capabilities", "health", "create_namespace", "delete_namespace"):
            requirement = {"capabilities": "COM-CAP-1", "health": "COM-HEALTH-1"}.get(name, "VEC-NS-10")
            if not isinstance(result, Mapping):
                yield requirement, Violation("an object", type(result).__name__, "result")
            elif requirement == "VEC-NS-10" and result.get("success") is False:
                yield requirement, Violation("true, or an error envelope", "false", "result.success")
        elif name in ("upsert", "delete"):
            if problem := payload_problem("vector.types.partial_success_result", result, edition):
                yield f"VEC-{name.upper()}-1", problem
        elif name == "query":
            yield from _query_result(result, edition, "VEC-QUERY-1")
        elif name == "batch_query":
            if edition == "1.0.0" and not isinstance(result, Mapping):
                yield "VEC-MULTI-1", Violation("an object (edition 1.0.0)", type(result).__name__, "result")
            try:
                for each in results_of(result):
                    yield from _query_result(each, edition, "VEC-MULTI-1")
            except Blocked as problem:
                yield "VEC-MULTI-1", Violation("a list of query results", problem.reason, "result")

    def fingerprint(self, reply: Reply) -> Any:
        if not reply.is_success:
            raise NotAssessed(f"a query is answered with {reply}")
        return next((id_of(match) for match in matches_of(reply.result)), None)


def _tenant(request: Mapping[str, Any]) -> str | None:
    ctx = request.get("ctx")
    tenant = ctx.get("tenant") if isinstance(ctx, Mapping) else None
    return tenant if isinstance(tenant, str) and tenant else None


def _query_result(result: Any, edition: str | None, requirement: str) -> Iterator[tuple[str, Violation]]:
    if problem := payload_problem("vector.types.query_result", result, edition):
        yield requirement, problem
    elif result["total_matches"] < len(result["matches"]):
        yield "VEC-QUERY-5", Violation("at least the number of matches", "fewer", "result.total_matches")


@pytest.fixture
def vector(request: pytest.FixtureRequest) -> Vector:
    """The vector component under test."""
    found = request.node.stash[SUBJECT]
    assert isinstance(found, Vector)
    return found


COMPONENT = Vector
