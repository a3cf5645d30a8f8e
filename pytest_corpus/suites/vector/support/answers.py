"""Results of the vector component, read leniently: their form is the finding of their schemas."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit.outcomes import Blocked


def matches_of(result: Any, by: str = "VEC-QUERY-1") -> list[Mapping[str, Any]]:
    """The matches of a query result. Raises Blocked by the requirement `by` if it has no list of matches."""
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
    """The vector of a match."""
    held = match.get("vector")
    return held if isinstance(held, Mapping) else {}


def id_of(match: Mapping[str, Any]) -> str:
    """The id of a match."""
    return str(vector_of(match).get("id"))


def metadata_of(match: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a match; empty if there are none."""
    held = vector_of(match).get("metadata")
    return held if isinstance(held, Mapping) else {}


def failed_count(result: Any) -> int:
    """The number of items that a batch reports as failed."""
    return (whole(result.get("failed_count")) if isinstance(result, Mapping) else None) or 0
