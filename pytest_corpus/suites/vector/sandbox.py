"""A namespace of the suite's own, to write to and to read back from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.vector.geometry import Components, canonical, direction, is_number

if TYPE_CHECKING:
    from pytest_corpus.suites.vector.component import Vector

Item = Mapping[str, Any]

FEW = 8
"""A batch of more may be too large, where no limit is stated."""

SCALAR = (str, int, float)

SPARE = 3
"""So many matches more than there should be are asked for, to see what should not be there."""


class Sandbox:
    """One namespace of one tenant. Where namespaces are not offered it is the default one, swept before."""

    def __init__(self, vector: Vector, name: str, dimensions: int, metric: str | None, ctx: Mapping[str, Any]) -> None:
        self.vector, self.name, self.dimensions, self.metric, self.ctx = vector, name, dimensions, metric, ctx
        self.known: dict[str, list[Components]] = {}
        self.held: set[str] = set()

    @property
    def truth(self) -> str | None:
        """The protocol's name of its metric; None where that is not known."""
        return canonical(self.metric)

    def args(self, **more: Any) -> dict[str, Any]:
        """Arguments of a call that speaks of this place."""
        return {**({"namespace": self.name} if self.vector.namespaces else {}), **more}

    # -- writing ---------------------------------------------------------------------------------------

    def upsert(self, *items: Item, **context: Any) -> Reply:
        """Upsert in one call, whatever comes of it."""
        self.know(*items)
        reply = self.vector.call("upsert", self.args(vectors=list(items)), {**self.ctx, **context})
        if reply.is_success and not failures_of(reply.result):
            self.held.update(str(item.get("id")) for item in items)
        return reply

    def know(self, *items: Item) -> None:
        """Note what may be found from now on."""
        if not self.vector.namespaces:
            self.vector.leave(self.ctx.get("tenant"), items)
        for item in items:
            name, components = item.get("id"), item.get("vector")
            if not isinstance(name, str) or not isinstance(components, list) or len(components) != self.dimensions:
                continue
            if all(is_number(component) and isfinite(component) for component in components):
                self.known.setdefault(name, []).append(components)

    def put(self, *items: Item) -> None:
        """Upsert, in as many calls as limits ask for, to go on with.

        Raises:
            Blocked: something is refused or not stored by its own report.
        """
        size = self.vector.batch or len(items) or 1
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            stored(self.upsert(*batch), batch)

    def delete(self, **args: Any) -> Reply:
        """Delete, whatever comes of it."""
        ids = args.get("ids")
        self.held = self.held.difference(map(str, ids)) if isinstance(ids, list) else self.held
        return self.vector.call("delete", self.args(**args), self.ctx)

    def remove(self, *names: str) -> None:
        """Delete by ids, in as many calls as limits ask for, to go on with.

        Raises:
            Blocked: it is refused.
        """
        size = self.vector.batch or len(names) or 1
        for start in range(0, len(names), size):
            reply = self.delete(ids=list(names[start : start + size]))
            with expect.resting_on("VEC-DELETE-1"):
                expect.success(reply, "a delete by ids to be carried out")

    # -- reading ---------------------------------------------------------------------------------------

    def ask(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> Reply:
        """Query, whatever comes of it; an index that is not ready yet is waited for where something was stored."""
        wanted = direction(45, self.dimensions) if vector is None else vector
        request = self.args(vector=list(wanted), top_k=self.vector.at_most(top_k), **args)
        return self.vector.ready(lambda: self.vector.call("query", request, self.ctx), bool(self.held))

    def matches(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> list[Mapping[str, Any]]:
        """The matches of a query that must be answered; an empty place may say INDEX_NOT_READY."""
        reply = self.ask(vector, top_k, **args)
        if reply.is_a("IndexNotReady"):
            return []
        return self.own(matches_of(expect.success(reply, "an answer to the query")))

    def ids(self, vector: Components | None = None, top_k: int = 5, **args: Any) -> list[str]:
        """The ids of the matches, best first."""
        return [id_of(match) for match in self.matches(vector, top_k, **args)]

    def contents(self, **args: Any) -> dict[str, Mapping[str, Any]]:
        """The matches by id of as many queries as it takes to find all that was ever stored here."""
        total = len(self.known) + SPARE
        if self.vector.at_most(total) == total:
            return {id_of(match): match for match in self.matches(None, total, **args)}
        vectors = [components for versions in self.known.values() for components in versions]
        found: dict[str, Mapping[str, Any]] = {}
        for vector in vectors:
            found.update({id_of(match): match for match in self.matches(vector, total, **args)})
        return found

    def own(self, matches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The same matches, where the place is the suite's alone.

        Raises:
            NotAssessed: a namespace that was not made by the suite holds vectors of others.
            Blocked: vectors that an earlier test deleted are still there.
        """
        strange = [] if self.vector.namespaces else [id_of(each) for each in matches if id_of(each) not in self.known]
        gone = self.vector.swept(self.ctx.get("tenant"))
        if any(name in gone for name in strange):
            raise Blocked("VEC-DELETE-2", "vectors that were deleted are still there")
        if strange:
            raise NotAssessed("the only namespace holds vectors of others, or some that could not be deleted")
        return list(matches)


def stored(reply: Reply, items: Sequence[Item]) -> None:
    """Go on only where an upsert stored everything by its own report."""
    expect.readable(reply)
    if not reply.is_error and not failures_of(reply.result):
        return
    said = f"an upsert of {len(items)} is answered with {reply}"
    if reply.is_a("NamespaceNotFound"):
        raise Blocked("VEC-NS-1", "a namespace that was created is not found", evidence=reply.exchange)
    held = [value for item in items for value in (item.get("metadata") or {}).values()]
    if reply.is_a("ResourceExhausted") or len(items) > FEW or not all(isinstance(value, SCALAR) for value in held):
        raise NotAssessed(said)
    plain = all(isinstance(value, (str, int)) and value not in ("", True, False) for value in held)
    raise Blocked("VEC-UPSERT-1" if plain else "VEC-UPSERT-6", said, evidence=reply.exchange)


def matches_of(result: Any, by: str = "VEC-QUERY-1") -> list[Mapping[str, Any]]:
    """The matches of a query result, read leniently; `by` is the requirement that says what it looks like."""
    matches = result.get("matches") if isinstance(result, Mapping) else None
    if not isinstance(matches, list):
        raise Blocked(by, "a query result has no list of matches")
    return [match for match in matches if isinstance(match, Mapping)]


def results_of(result: Any) -> list[Any]:
    """The results of a batch of queries, as an array or in an object (R10)."""
    listed = result.get("results") if isinstance(result, Mapping) else result
    if not isinstance(listed, list):
        raise Blocked("VEC-MULTI-1", "a batch of queries is answered without a list of results")
    return listed


def vector_of(match: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a match says of its vector."""
    held = match.get("vector")
    return held if isinstance(held, Mapping) else {}


def id_of(match: Mapping[str, Any]) -> str:
    """The id of a match."""
    return str(vector_of(match).get("id"))


def metadata_of(match: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a match; empty where there are none."""
    held = vector_of(match).get("metadata")
    return held if isinstance(held, Mapping) else {}


def failures_of(result: Any) -> list[Any]:
    """The failures of a batch."""
    failures = result.get("failures") if isinstance(result, Mapping) else None
    return failures if isinstance(failures, list) else []


def processed(result: Any) -> int:
    """How many items a batch says it processed, in any documented spelling (R14).

    Raises:
        Violation: it does not say.
    """
    for key in ("upserted_count", "deleted_count", "processed_count"):
        count = result.get(key) if isinstance(result, Mapping) else None
        if isinstance(count, int) and not isinstance(count, bool):
            return count
    raise Violation("a count of what was processed", "none", "result")


def failed(result: Any) -> int:
    """How many items a batch says failed."""
    count = result.get("failed_count") if isinstance(result, Mapping) else None
    return count if isinstance(count, int) else 0


def indexes(result: Any) -> Iterator[int]:
    """The indexes of the failed items, as far as they are given."""
    for failure in failures_of(result):
        index = failure.get("index") if isinstance(failure, Mapping) else None
        if isinstance(index, int):
            yield index
