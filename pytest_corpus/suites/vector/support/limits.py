"""The limits and properties that the capabilities of a vector adapter state."""

from functools import cached_property

from pytest_corpus.kit.component import Subject
from pytest_corpus.spec.capabilities import APPROXIMATE_SEARCH, POST_FILTERING
from pytest_corpus.suites.vector.support.geometry import canonical
from pytest_corpus.suites.vector.support.shared import VectorShared

USUAL_DIMENSIONS = 4


class StatedLimits(Subject):
    """Dimensions, metrics, batch sizes and the kind of search, by what capabilities say."""

    component = "vector"
    principal = "query"
    checked = "VEC-QUERY-11"

    shared_type = VectorShared
    shared: VectorShared

    @property
    def shares(self) -> bool:
        """Return whether capabilities deny that tenants are kept apart; otherwise each may have data of its own."""
        return self.capabilities.flag("supports_multi_tenant") is False

    @cached_property
    def post_filters(self) -> bool:
        """Return whether capabilities say that filters are applied after the search (R47)."""
        return self.capabilities.speaks_of(POST_FILTERING)

    @cached_property
    def approximate(self) -> bool:
        """Return whether capabilities say that a search is approximate: it may then miss vectors (R113)."""
        return self.capabilities.speaks_of(APPROXIMATE_SEARCH)

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

    def at_most(self, top_k: int) -> int:
        """Return this number of matches, or the most that a query may ask for."""
        return min(top_k, self.capabilities.limit("max_top_k") or top_k)
