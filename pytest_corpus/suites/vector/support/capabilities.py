"""The plain arguments for a vector adapter, and the features that the suite finds out by trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakSet

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.adapter.turns import AttributePlace
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MIN_NAMESPACES, find_limit
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.kit.vocabulary import FEW
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.geometry import canonical_metric, direction
from pytest_corpus.suites.vector.support.limits import Limits
from pytest_corpus.suites.vector.support.shared import VectorShared

INDEX_TRIES, INDEX_WAIT_S = 4, 0.1
"""For an index that is not ready and states no wait: the number of waits, and the seconds of each."""


MATCHES, VECTORS = (50, 20, 10, 5, 3, 2, 1), (24, 12, 6, 4, 3, 2, 1)
"""Values of `top_k`, and numbers of vectors in an upsert, to try where no limit is stated."""


class VectorCalls(Subject):
    """The calls of the vector component, and the arguments of plain requests."""

    component = "vector"
    principal = "query"
    wrong_type_requirement = "VEC-QUERY-11"

    shared: VectorShared
    main: VectorCalls

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.is_preparing = self.occupied = False

    @cached_property
    def limits(self) -> Limits:
        """The limits that capabilities state, or that trials find."""
        return Limits(self.capabilities, self.settings.max_namespaces, self._find_most)

    def _find_most(self, what: str) -> int:
        sizes, takes = {"matches": (MATCHES, self._takes_matches), "vectors": (VECTORS, self._takes_vectors)}[what]

        def find() -> int:
            where = self.namespace_arg(self.new_name("n"))
            with self.suite_calls():
                if where:
                    self.call("create_namespace", self.namespace_args(where["namespace"]))
                found = find_limit(sizes, lambda size: takes(size, where))
                if where:
                    self.call("delete_namespace", where)
            return found

        return self.shared.find_once(what, find)

    def _takes_matches(self, size: int, where: Mapping[str, Any]) -> bool:
        args = {"vector": direction(45, self.dimensions), "top_k": size, **where}
        return not self.call("query", args).is_a(*PERMANENT)

    def _takes_vectors(self, size: int, where: Mapping[str, Any]) -> bool:
        """True if an upsert may have this many vectors; assumed without namespaces, where they would remain."""
        args = {"vectors": [self.item() for _ in range(size)], **where}
        return not where or not self.call("upsert", args).is_a(*PERMANENT)

    @cached_property
    def features(self) -> Features:
        """The features that the suite finds out by trials."""
        return Features(self)

    @property
    def has_namespaces(self) -> bool:
        """True if namespaces can be created, by the statement of capabilities or by a trial."""
        claimed = self.prerequisites.claim_of("create_namespace")
        if claimed is not None:
            return claimed
        return self.shared.find_once(
            "namespaces", lambda: self.features.is_supported("create_namespace", self.namespace_args())
        )

    @property
    def metric(self) -> str | None:
        """The metric of plain namespaces, or None if it is unknown."""
        return self.limits.plain_metric if self.has_namespaces or len(self.limits.metrics) == 1 else None

    @property
    def dimensions(self) -> int:
        """The number of components of plain vectors: as capabilities or errors require, or else a small number."""
        return self.shared.find_once("dimensions", self._find_dimensions)

    def _find_dimensions(self) -> int:
        if self.limits.fixed_dimensions or self.has_namespaces:
            return self.limits.usual_dimensions
        name, components = self.new_name(), direction(45, self.limits.usual_dimensions)
        with self.suite_calls():
            written = self.call("upsert", {"vectors": [{"id": name, "vector": components}]})
            read = self.call("query", {"vector": components, "top_k": 1})
            self.call("delete", {"ids": [name]})
        stated = [
            to_whole_number(reply.details.get("expected"))
            for reply in (written, read)
            if reply.is_a("DimensionMismatch")
        ]
        if not stated:
            return self.limits.usual_dimensions
        most = self.capabilities.limit("max_dimensions") or self.limits.usual_dimensions
        return next((number for number in stated if number is not None and number > 0), most)

    def new_name(self, prefix: str = "v") -> str:
        """Return a name that no other vector or namespace of this run or worker has, with at most four letters more."""
        return f"{self.settings.prefix}{prefix}{inputs.unique_digits()}"

    def unique(self, prefix: str = "note") -> str:
        return self.new_name(prefix)

    def item(self, degrees: float = 45, metadata: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Return a vector of unit length with a new id."""
        named = {"id": self.new_name(), "vector": direction(degrees, self.dimensions)}
        return {**named, **({} if metadata is None else {"metadata": dict(metadata)}), **more}

    def namespace_arg(self, namespace: str) -> dict[str, Any]:
        """Return the argument that names a namespace, if the adapter has namespaces."""
        return {"namespace": namespace} if self.has_namespaces else {}

    def namespace_args(
        self, name: str = "", dimensions: int | None = None, metric: str | None = None
    ) -> dict[str, Any]:
        """Return the arguments that create a namespace."""
        chosen = metric or self.limits.plain_metric
        return {
            "namespace": name or self.new_name("n"),
            "dimensions": dimensions or self.limits.usual_dimensions,
            **({"distance_metric": chosen} if chosen else {}),
        }

    def query_args(self, degrees: float = 15) -> dict[str, Any]:
        """Return the arguments of a query of the main namespace, without the namespace's name."""
        self.occupied = False
        return {"vector": direction(degrees, self.dimensions), "top_k": self.limits.cap_matches(3)}

    def is_empty_answer(self, reply: Reply | StreamReply) -> bool:
        """True if an answer suits an empty namespace (R12): INDEX_NOT_READY, or UNAVAILABLE if no subtype is named."""
        return reply.is_a("IndexNotReady") or (reply.names == ("Unavailable",) and not self._knows_subtypes)

    @property
    def _knows_subtypes(self) -> bool:
        """True if the error for an unknown namespace names the subtype, not only the parent class."""

        def names_subtype() -> bool:
            unknown = {**self.query_args(), "namespace": self.new_name("none")}
            with self.suite_calls(), self.retries.calling_once():  # a retry would need this fact
                return self.call("query", unknown).is_a("NamespaceNotFound")

        return self.has_namespaces and self.shared.find_once("knows_subtypes", names_subtype)

    def wait_for_index(self, attempt: Callable[[], Reply], filled: bool) -> Reply:
        """Call `attempt` and return its answer; if `filled`, repeat it until the index is ready (SPECIFICATION 9.5)."""
        return self.retries.repeat_until_ready(attempt, INDEX_TRIES, INDEX_WAIT_S) if filled else attempt()

    @contextmanager
    def suite_calls(self) -> Iterator[None]:
        """Make the suite's own calls in this block. They need no preparation and no planned fault affects them."""
        outer, self.is_preparing = self.is_preparing, True
        try:
            with self.client.provider.paused(), inputs.fact_scope("vector preparation"):
                yield
        finally:
            self.is_preparing = outer

    def test_attributes(self) -> list[tuple[AttributePlace, Any]]:
        return [
            *super().test_attributes(),
            ((self, "is_preparing"), False),
            ((self, "occupied"), False),
            ((self.shared, "used"), set()),
            ((self.shared, "sandboxes"), WeakSet()),
        ]


class Features:
    """Features that the suite finds out by trials. The `require` methods raise Undecided if a feature is missing."""

    def __init__(self, vector: VectorCalls) -> None:
        self._vector = vector

    @property
    def accepts_filters(self) -> bool:
        """True if filters are offered, by the statement of capabilities or by a trial."""
        claimed = self._vector.capabilities.flag("supports_filters")
        if claimed is not None:
            return claimed

        def try_filter() -> bool:
            return self.is_supported("query", {**self._vector.requests.minimal("query"), "filter": {"kind": "home"}})

        return self._vector.shared.find_once("filters", try_filter)

    @property
    def deletes_by_filter(self) -> bool:
        """True if deletes accept filters. Some adapters accept filters only in queries (R131)."""

        def try_filter() -> bool:
            unmatched = {**self._vector.requests.minimal("delete"), "filter": {"kind": self._vector.new_name("none")}}
            del unmatched["ids"]
            return self.accepts_filters and self.is_supported("delete", unmatched)

        return self._vector.shared.find_once("deletes_by_filter", try_filter)

    @reading_separately()
    def is_supported(self, name: str, args: Mapping[str, Any]) -> bool:
        """True if an operation with these arguments is not answered with NOT_SUPPORTED."""
        with self._vector.client.provider.paused():
            return not self._vector.call(name, args).is_a("NotSupported")

    def count_words_to_try(self, most: int) -> int:
        """Return the number of items with words to try: at most `most`, and no more than a few requests can hold."""
        found = self._vector.limits.cap_matches(most + FEW) - FEW if self._vector.dimensions == 1 else most
        return max(FEW, min(most, FEW * (self._vector.limits.most_in_batch or most), found))

    def count_namespaces_to_try(self) -> int:
        """Return the number of namespaces to try: two, or so few that any other test has enough."""
        room = min(self._vector.limits.most_namespaces, self._vector.shared.room or self._vector.limits.most_namespaces)
        return max(0, min(2, room - MIN_NAMESPACES))

    def require_direction(self, metric: str | None = "cosine") -> None:
        """Raise NotAssessed for cosine if vectors have one component, because such vectors have no direction."""
        if self._vector.dimensions == 1 and metric == "cosine":
            raise NotAssessed(Obstacle.NO_DIRECTION)

    def spell_metric(self, metric: str) -> str:
        """Return a metric as capabilities spell it. Raises NotApplicable if it is unknown how to get this metric."""
        spelled = next((name for name in self._vector.limits.metrics if canonical_metric(name) == metric), None)
        if spelled is None or not (self._vector.has_namespaces or len(self._vector.limits.metrics) == 1):
            raise NotApplicable(f"it is unknown how to get a namespace with the metric {metric}")
        return spelled

    @reading_separately()
    def require_filters(self) -> None:
        """Check that filters are offered and that a plain filter is answered."""
        expect.applicable(self.accepts_filters, "filters are denied, or not claimed and answered with NOT_SUPPORTED")
        self._vector.require("query")
        reply = cached(self._vector, "plain filter", self._plain_filter, common=True)
        if reply.is_a("IndexNotReady", "ResourceExhausted"):
            raise NotAssessed(Obstacle.PLAIN_ANSWERED, op="filter", reply=reply)
        with expect.resting_on("VEC-FILTER-1"):
            expect.success(reply, "an answer to a query with a plain filter")

    def _plain_filter(self) -> Reply:
        query = {**self._vector.requests.minimal("query"), "filter": {"kind": "home"}}
        return self._vector.wait_for_index(lambda: self._vector.call("query", query), True)

    @reading_separately()
    def filters_work(self) -> bool:
        """True if filters are offered and a plain filter is answered."""
        try:
            self.require_filters()
        except Undecided:
            return False
        return True

    def require_filter_deletes(self) -> None:
        """Check that deletes accept filters."""
        self.require_filters()
        expect.applicable(self.deletes_by_filter, "a delete by filter is answered with NOT_SUPPORTED")

    def require_namespaces(self, *names: str) -> None:
        """Check that namespaces can be created, and that these operations work."""
        expect.applicable(self._vector.has_namespaces, "namespaces are not supported")
        self._vector.require(*names)

    @reading_separately()
    def check_ids(self, reply: Reply) -> None:
        """Check that an upsert was not refused because its ids are not UUIDs. Raises Blocked if it was."""
        if not (reply.is_a(*PERMANENT) or (reply.is_success and reply.failed_items)):
            return
        if self._vector.shared.find_once("only_uuids", lambda: not self.takes_any_id()):
            raise Blocked("VEC-UPSERT-18", "an id that is not a UUID is refused", judged_on=(reply.exchange,))

    def takes_any_id(self) -> bool:
        """False if ids must be UUIDs: a vector is accepted with a UUID as its id, but refused with another text."""
        where, item = self._vector.namespace_arg(self._vector.new_name("n")), self._vector.item()
        uuid = {**item, "id": uuid_of(self._vector.settings.run)}
        taken = []
        with self._vector.suite_calls():
            if self._vector.has_namespaces:
                self._vector.call("create_namespace", self._vector.namespace_args(where["namespace"]))
            for each in (uuid, item):
                reply = self._vector.call("upsert", {"vectors": [each], **where})
                taken.append(reply.is_carried_out)
            if self._vector.has_namespaces:
                self._vector.call("delete_namespace", where)
        return taken[1] or not taken[0]
