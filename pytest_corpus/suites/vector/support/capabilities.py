"""The features that a vector adapter offers or turns out to have, and the conditions that a test states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakSet

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.facts import whole
from pytest_corpus.adapter.turns import Place
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import reading_apart
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MIN_NAMESPACES
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.kit.vocabulary import FEW
from pytest_corpus.spec.capabilities import APPROXIMATE_SEARCH, LOWER_PRECISION, POST_FILTERING
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import failures_of
from pytest_corpus.suites.vector.support.geometry import canonical, direction
from pytest_corpus.suites.vector.support.shared import VectorShared

USUAL_DIMENSIONS = 4

INDEX_TRIES, INDEX_WAIT_S = 4, 0.1
"""The number of waits for an index that is not ready and does not say when it will be, and their seconds."""


class StatedLimits(Subject):
    """Dimensions, metrics, batch sizes and the kind of search, by what capabilities say."""

    component = "vector"
    principal = "query"
    checked = "VEC-QUERY-11"

    shared_type = VectorShared
    shared: VectorShared

    @property
    def shares(self) -> bool:
        """True if capabilities deny that tenants are kept apart; otherwise each may have data of its own."""
        return self.capabilities.flag("supports_multi_tenant") is False

    @cached_property
    def post_filters(self) -> bool:
        """True if capabilities say that filters are applied after the search (R47)."""
        return self.capabilities.speaks_of(POST_FILTERING)

    @cached_property
    def approximate(self) -> bool:
        """True if capabilities say that a search is approximate: it may then miss vectors (R113)."""
        return self.capabilities.speaks_of(APPROXIMATE_SEARCH)

    @cached_property
    def is_coarse(self) -> bool:
        """True if capabilities say that components have less than 32 bits (R128)."""
        return self.capabilities.speaks_of(LOWER_PRECISION)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the protocol that capabilities list, as they spell them."""
        return tuple(name for name in self.capabilities.names("metrics") if canonical(name))

    @property
    def plain_metric(self) -> str | None:
        """A listed metric that can tell plain vectors apart: in one dimension only the euclidean one."""
        on_a_line = [name for name in self.metrics if canonical(name) == "euclidean"] if self.usual == 1 else []
        return next(iter((*on_a_line, *self.metrics)), None)

    @property
    def fixed(self) -> int | None:
        """The dimensions that every vector has (R22); None if none are stated."""
        return self.capabilities.limit("dimension")

    @cached_property
    def usual(self) -> int:
        """The dimensions of plain namespaces, by what capabilities say."""
        return self.fixed or min(USUAL_DIMENSIONS, self.capabilities.limit("max_dimensions") or USUAL_DIMENSIONS)

    @property
    def batch(self) -> int | None:
        """The most vectors of an upsert; None if no limit is stated."""
        if self.capabilities.flag("supports_batch_operations") is False:
            return 1
        return self.capabilities.limit("max_batch_size")

    @cached_property
    def most_namespaces(self) -> int:
        """The most namespaces that the suite holds at a time (R115)."""
        given = self.settings.max_namespaces
        return min(given, self.capabilities.published("max_namespaces") or given)

    @property
    def keeps_apart(self) -> bool:
        return self.prerequisites.claimed("create_namespace") is True

    @property
    def most_in_flight(self) -> int:
        """The namespaces that tests in flight may hold, one each: the others are shared, or held besides."""
        return max(1, min(self.most_namespaces, self.shared.room or self.most_namespaces) - MIN_NAMESPACES)

    def at_most(self, top_k: int) -> int:
        """Return this number of matches, or the most that a query may ask for."""
        return min(top_k, self.capabilities.limit("max_top_k") or top_k)


class VectorCapabilities(StatedLimits):
    """Features that are found out by trying, and the arguments that depend on them."""

    main: VectorCapabilities

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._preparing = False
        self.occupied = False

    @property
    def namespaces(self) -> bool:
        """True if namespaces can be created, by what capabilities say or by trying."""
        claimed = self.prerequisites.claimed("create_namespace")
        if claimed is not None:
            return claimed
        return self.shared.once("namespaces", lambda: self._answers("create_namespace", self.named()))

    @property
    def filters(self) -> bool:
        """True if filters are offered, by what capabilities say or by trying."""
        claimed = self.capabilities.flag("supports_filters")
        if claimed is not None:
            return claimed

        def answered() -> bool:
            return self._answers("query", {**self.requests.minimal("query"), "filter": {"kind": "home"}})

        return self.shared.once("filters", answered)

    @property
    def deletes_by_filter(self) -> bool:
        """True if deletes take filters, which queries that take them do not promise (R131)."""

        def answered() -> bool:
            unmatched = {**self.requests.minimal("delete"), "filter": {"kind": self.name("none")}}
            del unmatched["ids"]
            return self.filters and self._answers("delete", unmatched)

        return self.shared.once("deletes_by_filter", answered)

    @reading_apart()
    def _answers(self, name: str, args: Mapping[str, Any]) -> bool:
        with self.client.provider.paused():
            return not self.call(name, args).is_a("NotSupported")

    @property
    def metric(self) -> str | None:
        """The metric of plain namespaces; None if it is not known."""
        return self.plain_metric if self.namespaces or len(self.metrics) == 1 else None

    @property
    def dimensions(self) -> int:
        """The dimensions of plain vectors: the fixed ones if capabilities or errors state them, else a few."""
        return self.shared.once("dimensions", self._find_dimensions)

    def _find_dimensions(self) -> int:
        if self.fixed or self.namespaces:
            return self.usual
        name, components = self.name(), direction(45, self.usual)
        with self.prepares():
            written = self.call("upsert", {"vectors": [{"id": name, "vector": components}]})
            read = self.call("query", {"vector": components, "top_k": 1})
            self.call("delete", {"ids": [name]})
        stated = [whole(reply.details.get("expected")) for reply in (written, read) if reply.is_a("DimensionMismatch")]
        if not stated:
            return self.usual
        most = self.capabilities.limit("max_dimensions") or self.usual
        return next((number for number in stated if number is not None and number > 0), most)

    def leave(self, tenant: str | None, names: Sequence[str]) -> None:
        """Remember ids of vectors that may be in the default namespace of a tenant, to be deleted later."""
        self.shared.leave(tenant, names, own_data=not self.shares)
        self.settings.journal.add(("vector", tenant, None, "vector"), names)

    def name(self, prefix: str = "v") -> str:
        """A name that no other vector or namespace of this run or worker has."""
        return f"{self.settings.prefix}{prefix}{inputs.number()}"

    def unique(self, prefix: str = "note") -> str:
        return self.name(prefix)

    def item(self, degrees: float = 45, metadata: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """A vector of unit length with an id of its own."""
        named = {"id": self.name(), "vector": direction(degrees, self.dimensions)}
        return {**named, **({} if metadata is None else {"metadata": dict(metadata)}), **more}

    def at(self, namespace: str) -> dict[str, Any]:
        """The argument that names a namespace, if the adapter has namespaces."""
        return {"namespace": namespace} if self.namespaces else {}

    def named(self, name: str = "", dimensions: int | None = None, metric: str | None = None) -> dict[str, Any]:
        """The arguments that create a namespace."""
        chosen = metric or self.plain_metric
        return {
            "namespace": name or self.name("n"),
            "dimensions": dimensions or self.usual,
            **({"distance_metric": chosen} if chosen else {}),
        }

    def looking(self, degrees: float = 15) -> dict[str, Any]:
        """The arguments of a query of the home namespace, without its name."""
        self.occupied = False
        return {"vector": direction(degrees, self.dimensions), "top_k": self.at_most(3)}

    def says_empty(self, reply: Reply | StreamReply) -> bool:
        """True if an answer to a query is that of an empty place: INDEX_NOT_READY, or its class alone (R12)."""
        return reply.is_a("IndexNotReady") or (reply.names == ("Unavailable",) and not self._knows_subtypes)

    @property
    def _knows_subtypes(self) -> bool:
        """True if an unknown namespace is answered with a class of its own, not with the class above it alone."""

        def is_named() -> bool:
            unknown = {**self.looking(), "namespace": self.name("none")}
            with self.prepares():
                return self.call("query", unknown).is_a("NamespaceNotFound")

        return self.namespaces and self.shared.once("knows_subtypes", is_named)

    def ready(self, attempt: Callable[[], Reply], filled: bool) -> Reply:
        """Return the answer, after a wait if an index that holds something is not ready (SPECIFICATION 9.5)."""
        return self.retries.until_ready(attempt, INDEX_TRIES, INDEX_WAIT_S) if filled else attempt()

    @contextmanager
    def prepares(self) -> Iterator[None]:
        """Make calls of the suite's own: nothing is prepared for them, and no planned fault strikes them."""
        outer, self._preparing = self._preparing, True
        try:
            with self.client.provider.paused(), inputs.fact_scope("vector preparation"):
                yield
        finally:
            self._preparing = outer


class VectorConditions(VectorCapabilities):
    """Conditions: each goes on, or raises the reason why there is no verdict."""

    def of_a_test(self) -> list[tuple[Place, Any]]:
        return [
            *super().of_a_test(),
            ((self, "_preparing"), False),
            ((self, "occupied"), False),
            ((self.shared, "used"), set()),
            ((self.shared, "sandboxes"), WeakSet()),
        ]

    def several(self, count: int = 2) -> None:
        """Go on only if an upsert may hold this many vectors. Raises NotApplicable if it may not."""
        expect.applicable((self.batch or count) >= count, f"an upsert holds at most {self.batch} vectors")

    def words_at_once(self, most: int) -> int:
        """The number of items with words to try: as many as go into a few upserts, and are surely found again."""
        found = self.at_most(most + FEW) - FEW if self.dimensions == 1 else most
        return max(FEW, min(most, FEW * (self.batch or most), found))

    def names_at_once(self, most: int) -> int:
        """The number of namespaces to try besides the home namespace and two that a test holds."""
        room = min(self.most_namespaces, self.shared.room or self.most_namespaces)
        return max(0, min(most, room - MIN_NAMESPACES))

    def stated(self, limit: str, most: int | None = None) -> int:
        """A stated limit. Raises NotApplicable if there is none, NotAssessed if it is larger than `most`."""
        found = expect.applicable(self.capabilities.limit(limit), f"no {limit} is stated")
        expect.assessable(most is None or found <= most, Obstacle.LARGE_LIMIT, limit=limit, number=found)
        return found

    def need_direction(self, metric: str | None = "cosine") -> None:
        """Go on only if vectors differ in their direction, for a metric that compares directions."""
        if self.dimensions == 1 and metric == "cosine":
            raise NotAssessed(Obstacle.NO_DIRECTION)

    def spelling(self, metric: str) -> str:
        """A metric as capabilities list it. Raises NotApplicable if no namespace can be known to be of it."""
        spelled = next((name for name in self.metrics if canonical(name) == metric), None)
        if spelled is None or not (self.namespaces or len(self.metrics) == 1):
            raise NotApplicable(f"no namespace can be known to be of {metric}")
        return spelled

    @reading_apart()
    def need_filters(self) -> None:
        """Go on only if filters are offered and a plain one is answered."""
        expect.applicable(self.filters, "filters are denied, or answered with NOT_SUPPORTED and not claimed")
        self.require("query")
        reply = cached(self, "plain filter", self._plain_filter)
        if reply.is_a("IndexNotReady", "ResourceExhausted"):
            raise NotAssessed(Obstacle.PLAIN_ANSWERED, op="filter", reply=reply)
        with expect.resting_on("VEC-FILTER-1"):
            expect.success(reply, "an answer to a query with a plain filter")

    def _plain_filter(self) -> Reply:
        query = {**self.requests.minimal("query"), "filter": {"kind": "home"}}
        return self.ready(lambda: self.call("query", query), True)

    def need_terms(self) -> None:
        """Go on only if a filter may have two terms. Raises NotApplicable if it may not."""
        expect.applicable((self.capabilities.limit("max_filter_terms") or 2) >= 2, "a filter has at most one term")

    @reading_apart()
    def filters_work(self) -> bool:
        """True if filters are offered and a plain one is answered."""
        try:
            self.need_filters()
        except Undecided:
            return False
        return True

    def need_filter_deletes(self) -> None:
        """Go on only if deletes take filters."""
        self.need_filters()
        expect.applicable(self.deletes_by_filter, "a delete by filter is answered with NOT_SUPPORTED")

    def need_namespaces(self, *names: str) -> None:
        """Go on only if namespaces can be created, and these operations work."""
        expect.applicable(self.namespaces, "namespaces are not supported")
        self.require(*names)

    @reading_apart()
    def check_ids(self, reply: Reply) -> None:
        """Go on only if an upsert was not refused for ids that are not UUIDs. Raises Blocked if it was."""
        if not (reply.is_a(*PERMANENT) or (reply.is_success and failures_of(reply.result))):
            return
        if self.shared.once("only_uuids", lambda: not self.takes_any_id()):
            raise Blocked("VEC-UPSERT-18", "an id that is not a UUID is refused", judged_on=(reply.exchange,))

    def takes_any_id(self) -> bool:
        """True if a vector with a text for an id is stored, if one with a UUID is."""
        where, item = self.at(self.name("corpus")), self.item()
        uuid = {**item, "id": uuid_of(self.settings.run)}
        taken = []
        with self.prepares():
            if self.namespaces:
                self.call("create_namespace", self.named(where["namespace"]))
            for each in (uuid, item):
                reply = self.call("upsert", {"vectors": [each], **where})
                taken.append(reply.is_success and not failures_of(reply.result))
            if self.namespaces:
                self.call("delete_namespace", where)
        return taken[1] or not taken[0]
