"""The limits of a vector adapter and the kind of its search, as stated in capabilities or found by trials."""

from collections.abc import Callable
from functools import cached_property

from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit import expect
from pytest_corpus.spec.capabilities import APPROXIMATE_SEARCH, LOWER_PRECISION, POST_FILTERING
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.geometry import canonical_metric

USUAL_DIMENSIONS = 4


class Limits:
    """Dimensions, metrics, batch sizes and the kind of search.

    Args:
        given: the largest number of namespaces, from the options of the run.
        find: returns the `matches` of a query or the `vectors` of an upsert that a trial finds to be the most.
    """

    def __init__(self, capabilities: Capabilities, given: int, find: Callable[[str], int]) -> None:
        self._capabilities, self._given, self._find = capabilities, given, find

    @property
    def tenants_share_data(self) -> bool:
        """True if capabilities deny that tenants are isolated; otherwise each tenant may have separate data."""
        return self._capabilities.flag("supports_multi_tenant") is False

    @cached_property
    def filters_after_search(self) -> bool:
        """True if capabilities say that filters are applied after the search (R47)."""
        return self._capabilities.mentions(POST_FILTERING)

    @cached_property
    def is_approximate(self) -> bool:
        """True if capabilities say that a search is approximate: it may then miss vectors (R113)."""
        return self._capabilities.mentions(APPROXIMATE_SEARCH)

    @cached_property
    def is_coarse(self) -> bool:
        """True if capabilities say that components have less than 32 bits (R128)."""
        return self._capabilities.mentions(LOWER_PRECISION)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the protocol that capabilities list, as capabilities spell them."""
        return tuple(name for name in self._capabilities.names("metrics") if canonical_metric(name))

    @property
    def plain_metric(self) -> str | None:
        """A listed metric that distinguishes plain vectors. In one dimension only the euclidean metric does."""
        on_a_line = (
            [name for name in self.metrics if canonical_metric(name) == "euclidean"]
            if self.usual_dimensions == 1
            else []
        )
        return next(iter((*on_a_line, *self.metrics)), None)

    @property
    def fixed_dimensions(self) -> int | None:
        """The dimensions that every vector must have (R22); None if capabilities state no dimensions."""
        return self._capabilities.limit("dimension")

    @cached_property
    def usual_dimensions(self) -> int:
        """The number of dimensions of plain namespaces, within the limits of capabilities."""
        return self.fixed_dimensions or min(
            USUAL_DIMENSIONS, self._capabilities.limit("max_dimensions") or USUAL_DIMENSIONS
        )

    @property
    def most_in_batch(self) -> int | None:
        """The largest number of vectors or queries in a request (SPECIFICATION 9.2, 16.2); None if there is none."""
        if self._capabilities.flag("supports_batch_operations") is False:
            return 1
        stated = [*filter(None, map(self._capabilities.limit, ("max_batch_size", "max_batch_ops")))]
        return min(stated) if stated else self._find("vectors") or None

    @cached_property
    def most_namespaces(self) -> int:
        """The largest number of namespaces that the suite uses at a time (R115)."""
        return min(self._given, self._capabilities.published_limit("max_namespaces") or self._given)

    def cap_matches(self, top_k: int) -> int:
        """Return this number of matches, or the maximum of a query if the maximum is smaller."""
        return 1 if top_k == 1 else min(top_k, self._capabilities.limit("max_top_k") or self._find("matches") or top_k)

    def require_batch_of(self, count: int = 2) -> None:
        """Check that an upsert may have this many vectors. Raises NotApplicable otherwise."""
        expect.applicable(
            (self.most_in_batch or count) >= count, f"an upsert holds at most {self.most_in_batch} vectors"
        )

    def require_two_terms(self) -> None:
        """Check that a filter may have two terms. Raises NotApplicable otherwise."""
        expect.applicable((self._capabilities.limit("max_filter_terms") or 2) >= 2, "a filter has at most one term")

    def require_limit(self, limit: str, most: int | None = None) -> int:
        """Return a stated limit.

        Raises:
            NotApplicable: no limit is stated.
            NotAssessed: the limit is larger than `most`.
        """
        found = expect.applicable(self._capabilities.limit(limit), f"no {limit} is stated")
        expect.assessable(most is None or found <= most, Obstacle.LARGE_LIMIT, limit=limit, number=found)
        return found
