"""The conditions that a test of a vector store states before it relies on a feature."""

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.suites.vector.support.answers import failures_of
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.support.geometry import canonical


class VectorConditions(VectorCapabilities):
    """Conditions: each goes on, or raises the reason why there is no verdict."""

    def several(self, count: int = 2) -> None:
        """Go on only if an upsert may hold this many vectors. Raises NotApplicable if it may not."""
        expect.applicable((self.batch or count) >= count, f"an upsert holds at most {self.batch} vectors")

    def stated(self, limit: str, most: int | None = None) -> int:
        """A stated limit. Raises NotApplicable if there is none, NotAssessed if it is larger than `most`."""
        found = expect.applicable(self.capabilities.limit(limit), f"no {limit} is stated")
        expect.assessable(most is None or found <= most, f"a {limit} of {found} is too large to be tried here")
        return found

    def need_direction(self, metric: str | None = "cosine") -> None:
        """Go on only if vectors differ in their direction, for a metric that compares directions."""
        if self.dimensions == 1 and metric == "cosine":
            raise NotAssessed("one-dimensional vectors have no direction to compare")

    def spelling(self, metric: str) -> str:
        """A metric as capabilities list it. Raises NotApplicable if no namespace can be known to be of it."""
        spelled = next((name for name in self.metrics if canonical(name) == metric), None)
        if spelled is None or not (self.namespaces or len(self.metrics) == 1):
            raise NotApplicable(f"no namespace can be known to be of {metric}")
        return spelled

    def need_filters(self) -> None:
        """Go on only if filters are offered and a plain one is answered."""
        expect.applicable(self.filters, "filters are denied, or answered with NOT_SUPPORTED and not claimed")
        self.require("query")
        reply = cached(self, "plain filter", self._plain_filter)
        if reply.is_a("IndexNotReady", "ResourceExhausted"):
            raise NotAssessed(f"a plain filter is answered with {reply}")
        with expect.resting_on("VEC-FILTER-1"):
            expect.success(reply, "an answer to a query with a plain filter")

    def _plain_filter(self) -> Reply:
        query = {**self.requests.minimal("query"), "filter": {"kind": "home"}}
        return self.ready(lambda: self.call("query", query), True)

    def need_terms(self) -> None:
        """Go on only if a filter may have two terms. Raises NotApplicable if it may not."""
        expect.applicable((self.capabilities.limit("max_filter_terms") or 2) >= 2, "a filter has at most one term")

    def filters_work(self) -> bool:
        """Return whether filters are offered and a plain one is answered."""
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

    def check_ids(self, reply: Reply) -> None:
        """Go on only if an upsert was not refused for ids that are not UUIDs. Raises Blocked if it was."""
        if not (reply.is_a("BadRequest") or (reply.is_success and failures_of(reply.result))):
            return
        if self.shared.once("only_uuids", lambda: not self.takes_any_id()):
            raise Blocked("VEC-UPSERT-18", "an id that is not a UUID is refused", evidence=reply.exchange)

    def takes_any_id(self) -> bool:
        """Return whether a vector with a text for an id is stored, if one with a UUID is."""
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
