"""A namespace of the suite's own, to write to and to read back from."""

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import Blocked, Full, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, error_names
from pytest_corpus.kit.store.store import State, Thing, Use
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support import pages
from pytest_corpus.suites.vector.support.answers import failures_of, id_of, indexes, matches_of, results_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.geometry import Components, canonical, direction, is_number
from pytest_corpus.suites.vector.support.shared import Item, namespace_of

FEW = 8
"""A batch of more may be too large, where no limit is stated."""

SCALAR = (str, int, float)

SPARE = 3
"""The number of extra matches to ask for, to see what should not be there."""

CERTAIN = 10
"""A search that is not said to be approximate finds all where no more matches than these are asked for (R113)."""

MISSES = 20
"""The number of missing vectors after which the search ends: of those that should be there, and of others."""


class Sandbox:
    """One namespace of one tenant. Where namespaces are not offered it is the default one, swept before."""

    def __init__(
        self, vector: VectorCalls, name: str, dimensions: int, metric: str | None, ctx: Mapping[str, Any]
    ) -> None:
        self.vector, self.name, self.dimensions, self.metric, self.ctx = vector, name, dimensions, metric, ctx
        self.known: dict[str, list[Components]] = {}
        self.held: set[str] = set()
        vector.shared.sandboxes.add(self)

    @property
    def place(self) -> Thing:
        """The namespace, as the store knows it."""
        return namespace_of(self.ctx.get("tenant"), self.name)

    @property
    def truth(self) -> str | None:
        """The protocol's name of its metric; None if that is not known."""
        return canonical(self.metric)

    def args(self, **more: Any) -> dict[str, Any]:
        """Arguments of a call that names this place."""
        return {**({"namespace": self.name} if self.vector.namespaces else {}), **more}

    def _call(self, name: str, args: Mapping[str, Any]) -> Reply:
        self.vector.shared.actions.note(name, args)
        return self.vector.call(name, self.args(**args), self.ctx)

    # -- writing ---------------------------------------------------------------------------------------

    def upsert(self, *items: Item) -> Reply:
        """Upsert in one call, whatever comes of it."""
        self.know(*items)
        reply = self._call("upsert", {"vectors": list(items)})
        if reply.is_success and not failures_of(reply.result):
            self.held.update(str(item.get("id")) for item in items)
        return reply

    def know(self, *items: Item) -> None:
        """Note what may be found from now on."""
        for item in items:
            name, components = item.get("id"), item.get("vector")
            if not isinstance(name, str) or not isinstance(components, list) or len(components) != self.dimensions:
                continue
            if all(is_number(component) and isfinite(component) for component in components):
                self.known.setdefault(name, []).append(components)

    def put(self, *items: Item) -> None:
        """Upsert, in as many calls as limits ask for, to go on with.

        Raises Blocked if something is refused or not stored by its own report.
        """
        size = self.vector.limits.batch or len(items) or 1
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            stored(self.upsert(*batch), batch)

    def delete(self, **args: Any) -> Reply:
        """Delete, whatever comes of it."""
        ids = args.get("ids")
        self.held = self.held.difference(map(str, ids)) if isinstance(ids, list) else self.held
        return self._call("delete", args)

    def remove(self, *names: str) -> None:
        """Delete by ids, in as many calls as limits ask for, to go on with. Raises Blocked if it is refused."""
        size = self.vector.limits.batch or len(names) or 1
        for start in range(0, len(names), size):
            reply = self.delete(ids=list(names[start : start + size]))
            with expect.resting_on("VEC-DELETE-1"):
                expect.success(reply, "a delete by ids to be carried out")

    # -- reading ---------------------------------------------------------------------------------------

    def ask(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> Reply:
        """Query, whatever comes of it; an index that is not ready yet is waited for where something was stored.

        What comes in pages is one answer.
        """
        return self._ask(self._query(vector, top_k, args), filled=bool(self.held))

    def _ask(self, request: Mapping[str, Any], *, filled: bool) -> Reply:
        def send(query: Mapping[str, Any]) -> Reply:
            return self.vector.ready(lambda: self._call("query", query), filled)

        return pages.whole(self.vector.shared, send, request)

    def _query(self, vector: Components | None, top_k: int, more: Mapping[str, Any]) -> dict[str, Any]:
        wanted = direction(45, self.dimensions) if vector is None else vector
        return {"vector": list(wanted), "top_k": self.vector.limits.at_most(top_k), **more}

    def batch(self, *queries: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
        """The matches of each query of a batch that must be answered."""
        args = {"queries": [self.args(**query) for query in queries]}
        reply = self.vector.ready(lambda: self._call("batch_query", args), True)
        results = results_of(expect.success(reply, "an answer to the batch of queries"))
        if len(results) != len(queries):
            raise Blocked("VEC-MULTI-1", f"{len(queries)} queries have {len(results)} results")
        for result in results:
            matches_of(result, "VEC-MULTI-1")
        send = partial(self._call, "query")
        return [
            matches_of(pages.all_pages(self.vector.shared, send, query, result))
            for query, result in zip(queries, results, strict=True)
        ]

    def matches(
        self, vector: Components | None = None, top_k: int = 5, *, by: str = "query", **args: Any
    ) -> list[Mapping[str, Any]]:
        """The matches of a query that must be answered; an empty place may say INDEX_NOT_READY.

        Args:
            by: the operation: `query`, or `batch_query` with this query alone.
        """
        if by == "batch_query":
            return self.own(self.batch(self._query(vector, top_k, args))[0])
        reply = self.ask(vector, top_k, **args)
        if self.vector.says_empty(reply):
            return []
        return self.own(matches_of(expect.success(reply, "an answer to the query")))

    def ids(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> list[str]:
        """The ids of the matches, best first."""
        return [id_of(match) for match in self.matches(vector, top_k, **args)]

    def contents(self, **args: Any) -> dict[str, Mapping[str, Any]]:
        """The matches by id of as many queries as it takes to find all that was ever stored here.

        What a query for everything leaves out is looked for by its own vector, for a search may be approximate (R113).

        Raises NotAssessed if so few can be asked for at once that those on a line hide each other.
        """
        total = len(self.known) + SPARE
        found = self._everything(total, args)
        most = self.vector.limits.at_most(total) if found is not None else CERTAIN
        if found is None or most < total:
            self.tell_apart(total)
        elif most <= CERTAIN and not self.vector.limits.approximate:
            return found
        found = found or {}
        misses: Counter[bool] = Counter()
        for name in sorted(self.known, key=lambda name: name not in self.held):
            for vector in reversed(self.known[name]):
                if name in found or misses[name in self.held] == MISSES:
                    break
                asked = min(most, CERTAIN)
                matches = self._found(vector, asked, args)
                found.update(matches)
                if not self.vector.limits.approximate and 0 < len(matches) < asked:
                    return found  # that was all: a real back end takes its time for each query
            misses[name in self.held] += name not in found
        return found

    def _everything(self, total: int, args: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
        """The matches of one query for everything, none if it may not ask for so many; None if it is refused.

        A limit of `top_k` need not be published (SPECIFICATION 16.2).
        """
        if self.vector.limits.at_most(total) < total:
            return {}
        try:
            return self._found(None, total, args)
        except Violation as refused:
            stated = self.vector.capabilities.limit("max_top_k") is not None
            if stated or total <= CERTAIN or not Reply(refused.exchanges[-1]).is_a(*PERMANENT):
                raise
            return None

    def _found(self, vector: Components | None, top_k: int, args: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        return {id_of(match): match for match in self.matches(vector, top_k, **args)}

    def tell_apart(self, top_k: int) -> None:
        """Go on only if that many matches surely hold the nearest vector: those on a line are all equally near."""
        if len(self.known) > self.vector.limits.at_most(top_k) and self.dimensions == 1 and self.truth != "euclidean":
            raise NotAssessed(Obstacle.HIDDEN_ON_A_LINE)

    def own(self, matches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The same matches, where the place is the suite's alone.

        Raises NotAssessed if a namespace that was not made by the suite holds vectors of others, Blocked if vectors
        that an earlier test deleted are still there.
        """
        strange = [] if self.vector.namespaces else [id_of(each) for each in matches if id_of(each) not in self.known]
        gone = self.vector.store.written.where(State.GONE, kind="vector") if strange else ()
        if any(name in strange and (self.vector.limits.shares or at[1] == self.ctx.get("tenant")) for at, name in gone):
            raise Blocked("VEC-DELETE-2", "vectors that were deleted are still there")
        expect.assessable(not strange, Obstacle.FOREIGN_VECTORS)
        return list(matches)


def within(sandbox: Sandbox, **context: Any) -> Sandbox:
    """The same place, for calls with more in their context."""
    other = copy.copy(sandbox)
    other.ctx = {**sandbox.ctx, **context}
    return other


def lasting(vector: VectorCalls, name: str, make: Callable[[], list[Sandbox]]) -> list[Sandbox]:
    """Places that several tests read, and leave as they are; made again if they had to make room.

    Without namespaces they are made for each test.
    """
    if not vector.namespaces:
        return make()
    shared, key = vector.shared, ("lasting", name)
    found = cached(vector, key, make)
    if not all(vector.store.written.is_there(place.place) for place in found):
        shared.cached.pop(key, None)
        found = cached(vector, key, make)
    shared.sandboxes.update(found)
    vector.store.written.change((place.place for place in found), use=Use.LASTING)
    return found


def lost(reply: Reply) -> Blocked | None:
    """The obstacle of a test if the namespace that was made for it is not found."""
    if not reply.is_a("NamespaceNotFound"):
        return None
    return Blocked("VEC-NS-1", "a namespace that was created is not found", judged_on=(reply.exchange,))


def stored(reply: Reply, items: Sequence[Item]) -> None:
    """Go on only if an upsert stored everything by its own report."""
    expect.readable(reply)
    if reply.is_success and reply.result == {}:
        raise Blocked("VEC-UPSERT-1", "the result of an upsert is empty", judged_on=(reply.exchange,))
    if not reply.is_error and not failures_of(reply.result):
        return
    if found := lost(reply):
        raise found
    held = [value for item in items for value in (item.get("metadata") or {}).values()]
    if reply.is_a("ResourceExhausted"):
        raise Full(Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    decided = len(items) <= FEW and all(isinstance(value, SCALAR) for value in held)
    expect.assessable(decided, Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    said = Obstacle.UPSERT_ANSWERED.reason(number=len(items), reply=reply)
    plain = all(isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" for value in held)
    raise Blocked("VEC-UPSERT-1" if plain else "VEC-UPSERT-6", said, judged_on=(reply.exchange,))


def offer(sandbox: Sandbox, items: Mapping[str, Item]) -> dict[str, Item]:
    """Upsert items with words that may be refused permanently, by their kinds; those that are taken (R138)."""
    size = sandbox.vector.limits.batch or len(items) or 1
    found: dict[str, Item] = {}
    for start in range(0, len(items), size):
        found |= vocabulary.find_taken(dict([*items.items()][start : start + size]), partial(_taken, sandbox))
    sandbox.held.update(item["id"] for item in found.values())
    return found


def _taken(sandbox: Sandbox, items: Sequence[Item]) -> list[Item] | None:
    """Upsert at once, and return what is stored by the adapter's own report; None if all is refused."""
    reply = sandbox.upsert(*items)
    if reply.is_a("ResourceExhausted"):
        raise Full(Obstacle.UPSERT_ANSWERED, number=len(items), reply=reply)
    if not expect.either(reply, *PERMANENT):
        return None
    failures = failures_of(reply.result)
    names = [name for failure in failures for name in error_names(failure)]
    permanent = all(any(is_a(name, family) for family in PERMANENT) for name in names)
    expect.check(permanent, "a failure of a word to be permanent", ", ".join(names), "result.failures")
    lost = set(indexes(reply.result)) or {
        at for at, item in enumerate(items) for failure in failures if failure.get("id") == item["id"]
    }
    return None if len(lost) < len(failures) else [item for at, item in enumerate(items) if at not in lost]
