"""A namespace of the suite for the writes and reads of a test."""

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, QuotaUsedUp, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import write_accepted_items
from pytest_corpus.kit.store.store import State, Thing, Use, parts_of
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support import pages
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, results_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.geometry import Components, canonical_metric, direction, is_number
from pytest_corpus.suites.vector.support.shared import Item, exclusive_drop, namespace_key

FEW = 8
"""A larger batch may be refused if no limit is stated."""

SCALAR = (str, int, float)

SPARE = 3
"""The number of extra matches to request, to see vectors that should not be there."""

CERTAIN = 10
"""An exact search misses no vector if a query requests at most this number of matches (R113)."""

MISSES = 20
"""The searches for stored vectors and for deleted vectors each end after this number of misses."""


class VectorSandbox:
    """One namespace of one tenant. Without namespaces, it is the default namespace, emptied before use."""

    def __init__(
        self, vector: VectorCalls, name: str, dimensions: int, metric: str | None, ctx: Mapping[str, Any]
    ) -> None:
        self.vector, self.name, self.dimensions, self.metric, self.ctx = vector, name, dimensions, metric, ctx
        self.known: dict[str, list[Components]] = {}
        self.held: set[str] = set()
        vector.shared.sandboxes.add(self)

    @property
    def store_key(self) -> Thing:
        """The namespace in the form in which the store records it."""
        return namespace_key(self.ctx.get("tenant"), self.name)

    @property
    def protocol_metric(self) -> str | None:
        """The protocol's name of the namespace's metric; None if the metric is unknown."""
        return canonical_metric(self.metric)

    def args(self, **more: Any) -> dict[str, Any]:
        """Return the arguments of a call that names this namespace."""
        return {**({"namespace": self.name} if self.vector.has_namespaces else {}), **more}

    def _call(self, name: str, args: Mapping[str, Any]) -> Reply:
        self.vector.shared.actions.note(name, args)
        return self.vector.call(name, self.args(**args), self.ctx)

    def upsert(self, *items: Item) -> Reply:
        """Send one upsert and return the reply unchecked."""
        self.note_stored(*items)
        reply = self._call("upsert", {"vectors": list(items)})
        if reply.is_carried_out:
            self.held.update(str(item.get("id")) for item in items)
        return reply

    def note_stored(self, *items: Item) -> None:
        """Record that these vectors are in the namespace from now on."""
        for item in items:
            name, components = item.get("id"), item.get("vector")
            if not isinstance(name, str) or not isinstance(components, list) or len(components) != self.dimensions:
                continue
            if all(is_number(component) and isfinite(component) for component in components):
                self.known.setdefault(name, []).append(components)

    def put(self, *items: Item) -> None:
        """Upsert in batches within the stated limit. Raises Blocked if a batch is refused or reports a failure."""
        for batch in parts_of([*items], self.vector.limits.most_in_batch or len(items) or 1):
            expect_stored(self.upsert(*batch), batch)

    def delete(self, **args: Any) -> Reply:
        """Send one delete and return the reply unchecked."""
        ids = args.get("ids")
        self.held = self.held.difference(map(str, ids)) if isinstance(ids, list) else self.held
        return self._call("delete", args)

    def remove(self, *names: str) -> None:
        """Delete by ids, in requests within the stated limit. Raises Blocked if a request is refused."""
        for part in parts_of([*names], self.vector.limits.most_in_batch or len(names) or 1):
            reply = self.delete(ids=[*part])
            with expect.resting_on("VEC-DELETE-1"):
                expect.success(reply, "a delete by ids to be carried out")

    def ask(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> Reply:
        """Send a query and return the unchecked reply with all its pages.

        If the namespace has vectors, the suite waits for an index that is not ready.
        """
        return self._ask(self._query(vector, top_k, args), filled=bool(self.held))

    def _ask(self, request: Mapping[str, Any], *, filled: bool) -> Reply:
        def send(query: Mapping[str, Any]) -> Reply:
            return self.vector.wait_for_index(lambda: self._call("query", query), filled)

        return pages.ask_for_all(self.vector.shared, send, request)

    def _query(self, vector: Components | None, top_k: int, more: Mapping[str, Any]) -> dict[str, Any]:
        wanted = direction(45, self.dimensions) if vector is None else vector
        return {"vector": list(wanted), "top_k": self.vector.limits.cap_matches(top_k), **more}

    def batch(self, *queries: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
        """Send queries as one batch, which must succeed, and return the matches of each query."""
        args = {"queries": [self.args(**query) for query in queries]}
        reply = self.vector.wait_for_index(lambda: self._call("batch_query", args), True)
        results = results_of(expect.success(reply, "an answer to the batch of queries"))
        if len(results) != len(queries):
            raise Blocked("VEC-MULTI-1", f"{len(queries)} queries have {len(results)} results")
        for result in results:
            matches_of(result, "VEC-MULTI-1")
        send = partial(self._call, "query")
        return [
            matches_of(pages.join_pages(self.vector.shared, send, query, result))
            for query, result in zip(queries, results, strict=True)
        ]

    def matches(
        self, vector: Components | None = None, top_k: int = 5, *, by: str = "query", **args: Any
    ) -> list[Mapping[str, Any]]:
        """Return the matches of a query, which must succeed. In an empty namespace, INDEX_NOT_READY is allowed."""
        if by == "batch_query":
            return self.expect_own(self.batch(self._query(vector, top_k, args))[0])
        reply = self.ask(vector, top_k, **args)
        if self.vector.is_empty_answer(reply):
            return []
        return self.expect_own(matches_of(expect.success(reply, "an answer to the query")))

    def ids(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> list[str]:
        """Return the ids of the matches, the best first."""
        return [id_of(match) for match in self.matches(vector, top_k, **args)]

    def contents(self, **args: Any) -> dict[str, Mapping[str, Any]]:
        """Send as many queries as are needed to find all stored vectors of the sandbox; return their matches by id.

        If the first query misses a vector, the vector gets its own query, because a search may be approximate (R113).

        Raises:
            NotAssessed: in one dimension, the limit of matches is too low to find all vectors.
        """
        total = len(self.known) + SPARE
        found = self._all_matches(total, args)
        most = self.vector.limits.cap_matches(total) if found is not None else CERTAIN
        if found is None or most < total:
            self.require_distinguishable(total)
        elif most <= CERTAIN and not self.vector.limits.is_approximate:
            return found
        found = found or {}
        misses: Counter[bool] = Counter()
        for name in sorted(self.known, key=lambda name: name not in self.held):
            for vector in reversed(self.known[name]):
                if name in found or misses[name in self.held] == MISSES:
                    break
                asked = min(most, CERTAIN)
                matches = self._found_matches(vector, asked, args)
                found.update(matches)
                if not self.vector.limits.is_approximate and 0 < len(matches) < asked:
                    return found  # all found; each further query would cost time
            misses[name in self.held] += name not in found
        return found

    def _all_matches(self, total: int, args: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
        """Query for all vectors and return the matches: empty if `max_top_k` is too low, None after a refusal."""
        if self.vector.limits.cap_matches(total) < total:
            return {}
        try:
            return self._found_matches(None, total, args)
        except Violation as refused:
            stated = self.vector.capabilities.limit("max_top_k") is not None
            if stated or total <= CERTAIN or not Reply(refused.exchanges[-1]).is_a(*PERMANENT):
                raise
            return None

    def _found_matches(
        self, vector: Components | None, top_k: int, args: Mapping[str, Any]
    ) -> dict[str, Mapping[str, Any]]:
        return {id_of(match): match for match in self.matches(vector, top_k, **args)}

    def require_distinguishable(self, top_k: int) -> None:
        """Raise NotAssessed if other vectors may hide the wanted one: in one dimension all may be equally near."""
        if (
            len(self.known) > self.vector.limits.cap_matches(top_k)
            and self.dimensions == 1
            and self.protocol_metric != "euclidean"
        ):
            raise NotAssessed(Obstacle.HIDDEN_ON_A_LINE)

    def expect_own(self, matches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the matches, if all of them were written by the suite.

        Raises:
            NotAssessed: the namespace has vectors that the suite did not write.
            Blocked: the namespace has vectors that an earlier test deleted.
        """
        strange = (
            [] if self.vector.has_namespaces else [id_of(each) for each in matches if id_of(each) not in self.known]
        )
        gone = self.vector.store.written.select(State.GONE, kind="vector") if strange else ()
        if any(
            name in strange and (self.vector.limits.tenants_share_data or at[1] == self.ctx.get("tenant"))
            for at, name in gone
        ):
            raise Blocked("VEC-DELETE-2", "vectors that were deleted are still there")
        expect.assessable(not strange, Obstacle.FOREIGN_VECTORS)
        return list(matches)


def sandbox_with_context(sandbox: VectorSandbox, **context: Any) -> VectorSandbox:
    """Return the same sandbox with more members in the context of its calls."""
    other = copy.copy(sandbox)
    other.ctx = {**sandbox.ctx, **context}
    return other


def shared_sandboxes(vector: VectorCalls, name: str, make: Callable[[], list[VectorSandbox]]) -> list[VectorSandbox]:
    """Return sandboxes that several tests only read. `make` makes them again if they were deleted."""
    if not vector.has_namespaces:
        return make()
    shared, key = vector.shared, ("lasting", name)
    found = cached(vector, key, make)
    for sandbox in found:
        with exclusive_drop(sandbox.store_key[1]):
            pass
    if not all(vector.store.written.is_there(sandbox.store_key) for sandbox in found):
        shared.cached.pop(key, None)
        found = cached(vector, key, make)
    shared.sandboxes.update(found)
    vector.store.written.change_records((sandbox.store_key for sandbox in found), use=Use.LASTING)
    return found


def namespace_obstacle(reply: Reply) -> Blocked | None:
    """Return the obstacle of a test if an answer says that the test's namespace does not exist, or None."""
    if not reply.is_a("NamespaceNotFound"):
        return None
    return Blocked("VEC-NS-1", "a namespace that was created is not found", judged_on=(reply.exchange,))


def expect_stored(reply: Reply, items: Sequence[Item]) -> None:
    """Check that an upsert reports that it stored all items."""
    expect.readable(reply)
    if reply.is_success and reply.result == {}:
        raise Blocked("VEC-UPSERT-1", "the result of an upsert is empty", judged_on=(reply.exchange,))
    if not reply.is_error and not reply.failed_items:
        return
    if found := namespace_obstacle(reply):
        raise found
    held = [value for item in items for value in (item.get("metadata") or {}).values()]
    if reply.is_a("ResourceExhausted"):
        raise QuotaUsedUp(Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    decided = len(items) <= FEW and all(isinstance(value, SCALAR) for value in held)
    expect.assessable(decided, Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    said = Obstacle.UPSERT_ANSWERED.reason(number=len(items), reply=reply)
    plain = all(isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" for value in held)
    raise Blocked("VEC-UPSERT-1" if plain else "VEC-UPSERT-6", said, judged_on=(reply.exchange,))


def offer_items(sandbox: VectorSandbox, items: Mapping[str, Item]) -> dict[str, Item]:
    """Upsert items with words that may be refused permanently (R138); return the accepted items by their keys."""
    size = sandbox.vector.limits.most_in_batch or len(items) or 1
    found = write_accepted_items(items, size, lambda part: sandbox.upsert(*part))
    sandbox.held.update(item["id"] for item in found.values())
    return found
