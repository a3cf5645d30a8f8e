"""Reads results of the vector component. A result with a wrong form is read too; the schema tests report the form."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit.outcomes import Blocked


def matches_of(result: Any, by: str = "VEC-QUERY-1") -> list[Mapping[str, Any]]:
    """Return the matches of a query result. Raises Blocked (by the requirement `by`) if they are not a list."""
    matches = result.get("matches") if isinstance(result, Mapping) else None
    if not isinstance(matches, list):
        raise Blocked(by, "a query result has no list of matches")
    return [match for match in matches if isinstance(match, Mapping)]


def results_of(result: Any) -> list[Any]:
    """Return the results of a batch of queries. The answer may be a list, or an object with a list (R10)."""
    listed = result.get("results") if isinstance(result, Mapping) else result
    if not isinstance(listed, list):
        raise Blocked("VEC-MULTI-1", "a batch of queries is answered without a list of results")
    return listed


def vector_of(match: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the vector of a match."""
    held = match.get("vector")
    return held if isinstance(held, Mapping) else {}


def id_of(match: Mapping[str, Any]) -> str:
    """Return the id of a match."""
    return str(vector_of(match).get("id"))


def metadata_of(match: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of a match; empty if the match has no metadata."""
    held = vector_of(match).get("metadata")
    return held if isinstance(held, Mapping) else {}


def failed_count(result: Any) -> int:
    """Return the number of items that a batch reports as failed."""
    return (to_whole_number(result.get("failed_count")) if isinstance(result, Mapping) else None) or 0
