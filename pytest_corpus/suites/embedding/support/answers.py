"""The parts of an answer, in any documented spelling (R14, R28)."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.embedding.support.vectors import Vector, is_number, is_unit

STATISTICS = (
    "total_requests",
    "total_texts",
    "total_tokens",
    "cache_hits",
    "cache_misses",
    "avg_processing_time_ms",
    "error_count",
)
"""The documented statistics."""


def embeddings_of(result: Any) -> list[Mapping[str, Any]]:
    """The embeddings of a result of `embed` or `embed_batch`, in any documented spelling (R14, R28)."""
    if not isinstance(result, Mapping):
        return []
    found = result.get("embeddings")
    if not isinstance(found, list):
        found = result.get("results")
    if not isinstance(found, list):
        found = [result.get("embedding")]
    return [each for each in found if isinstance(each, Mapping)]


def failures_of(result: Any) -> list[Mapping[str, Any]]:
    """The failed items, in any documented spelling (R14)."""
    listed = [result.get(key) for key in ("failed_texts", "failures")] if isinstance(result, Mapping) else []
    found: list[Any] = next((each for each in listed if isinstance(each, list) and each), [])
    return [each for each in found if isinstance(each, Mapping)]


def streamed_embeddings(stream: StreamReply) -> list[Mapping[str, Any]]:
    """The embeddings of all chunks, in order."""
    listed = (chunk.get("embeddings") for chunk in stream.chunks)
    return [each for found in listed if isinstance(found, list) for each in found if isinstance(each, Mapping)]


def embedded_by(reply: Reply | StreamReply) -> list[Mapping[str, Any]]:
    """The embeddings of any answer, in order."""
    return streamed_embeddings(reply) if isinstance(reply, StreamReply) else embeddings_of(reply.result)


def texts_of(reply: Reply | StreamReply) -> list[str]:
    """Every text that an answer gives back."""
    top = reply.result.get("text") if isinstance(reply, Reply) and isinstance(reply.result, Mapping) else None
    return [text for text in (top, *(each.get("text") for each in embedded_by(reply))) if isinstance(text, str)]


def unit(vector: Vector, path: str = "vector") -> None:
    """A vector of approximately unit norm."""
    expect.that(is_unit(vector), "a vector of unit norm", "another norm", path)


def statistics_problems(result: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    for key in STATISTICS:
        value = result.get(key)
        if value is not None and not (is_number(value) and value >= 0):
            yield "EMB-STATS-1", Violation("a number that is not negative", found=value, path=f"result.{key}")
