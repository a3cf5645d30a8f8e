"""Reads answers in any documented form (R14, R28), compares them, and explains why an answer has no vector."""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import non_finite
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Undecided, Violation, Violations
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.texts import Texts

Vector = Sequence[float]

UNIT = 0.02
"""The norm of a normalized vector may differ from 1 by this much (BEHAVIORAL_CONFORMANCE 6.4)."""

FAR = 0.02
"""Two vectors are different if their distance, relative to the longer one, is at least this."""


def norm(vector: Vector) -> float:
    """Return the Euclidean norm of a vector."""
    return math.hypot(*vector)


def is_unit(vector: Vector) -> bool:
    """True if the norm is about 1."""
    return abs(norm(vector) - 1) <= UNIT


def distance(one: Vector, other: Vector) -> float:
    """Return the distance of two vectors, relative to the longer one; 2 if their dimensions differ."""
    if len(one) != len(other):
        return 2.0
    longest = max(norm(one), norm(other))
    return math.dist(one, other) / longest if longest else 0.0


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of the angle between two vectors; 0 if a vector is zero or the lengths differ."""
    lengths = norm(one), norm(other)
    if len(one) != len(other) or not all(lengths):
        return 0.0
    return math.fsum(a / lengths[0] * (b / lengths[1]) for a, b in zip(one, other, strict=True))


def normal_text(text: str) -> str:
    """Return a text without differences that an adapter may remove: blanks and Unicode normal forms."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_same_text(one: Any, other: str) -> bool:
    """True if a text came back unchanged, except for differences that an adapter may remove."""
    return isinstance(one, str) and (one == other or normal_text(one) == normal_text(other))


def vector_of(embedding: Any) -> list[float] | None:
    """Return the vector of an embedding object, or None."""
    vector = embedding.get("vector") if isinstance(embedding, Mapping) else None
    numbers = isinstance(vector, list) and bool(vector) and all(is_number(value) for value in vector)
    return vector if numbers else None


def is_number(value: Any) -> bool:
    """True for a finite number that is not a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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
    """Return the embeddings in a result of `embed` or `embed_batch`, in any documented form (R14, R28)."""
    if not isinstance(result, Mapping):
        return []
    found = result.get("embeddings")
    if not isinstance(found, list):
        found = result.get("results")
    if not isinstance(found, list):
        found = [result.get("embedding")]
    return [each for each in found if isinstance(each, Mapping)]


def failures_of(result: Any) -> list[Mapping[str, Any]]:
    """Return the failed items of a result, in any documented form (R14)."""
    listed = [result.get(key) for key in ("failed_texts", "failures")] if isinstance(result, Mapping) else []
    found: list[Any] = next((each for each in listed if isinstance(each, list) and each), [])
    return [each for each in found if isinstance(each, Mapping)]


def streamed_embeddings(stream: StreamReply) -> list[Mapping[str, Any]]:
    """Return the embeddings of all chunks, in order."""
    listed = (chunk.get("embeddings") for chunk in stream.chunks)
    return [each for found in listed if isinstance(found, list) for each in found if isinstance(each, Mapping)]


def all_embeddings_of(reply: Reply | StreamReply) -> list[Mapping[str, Any]]:
    """Return the embeddings of any answer, in order."""
    return streamed_embeddings(reply) if isinstance(reply, StreamReply) else embeddings_of(reply.result)


def texts_of(reply: Reply | StreamReply) -> list[str]:
    """Return every text in an answer."""
    top = reply.result.get("text") if isinstance(reply, Reply) and isinstance(reply.result, Mapping) else None
    return [text for text in (top, *(each.get("text") for each in all_embeddings_of(reply))) if isinstance(text, str)]


def expect_unit_norm(vector: Vector, path: str = "vector") -> None:
    """Check that the norm of a vector is about 1."""
    expect.check(is_unit(vector), "a vector of norm 1", f"a vector of norm {norm(vector):.4g}", path)


def statistics_problems(result: Mapping[str, Any]) -> Violations:
    for key in STATISTICS:
        value = result.get(key)
        if value is not None and not (is_number(value) and value >= 0):
            yield "EMB-STATS-1", Violation("a number that is not negative", found=value, path=f"result.{key}")


PLAIN = 64
"""A text of this many ASCII characters must be embedded by every adapter that states no smaller limit."""

NORMALIZED = {"embed": "EMB-NORM-1", "embed_batch": "EMB-NORM-2", "stream_embed": "EMB-NORM-3"}
"""For each operation, the requirement that it normalizes vectors."""

ANSWERED = {"embed": "EMB-EMBED-1", "embed_batch": "COM-CAP-6", "stream_embed": "COM-CAP-6"}
"""For each operation, the requirement that it embeds a plain text."""


def reason_for_missing_vector(
    texts: Texts, name: str, text: str, reply: Reply | StreamReply, changed: Mapping[str, Any]
) -> Undecided:
    """Return the reason why an answer without a vector decides nothing. Raises Blocked if the answer is unreadable."""
    expect.readable(reply)
    if reply.is_error:
        expect.known_class(reply)
        by, instead = _requirement_of_refusal(texts, name, text, reply, changed), f": {reply}"
    else:
        by, instead = _requirement_of_omission(texts, name, reply), ", and no error"
    if not by:
        return NotAssessed(Obstacle.NO_VECTOR, op=name, instead=instead)
    return Blocked(by, Obstacle.NO_VECTOR.reason(op=name, instead=instead), judged_on=(reply.exchange,))


def _requirement_of_omission(texts: Texts, name: str, reply: Reply | StreamReply) -> str:
    """Return the requirement that an answer without a vector violates; empty if the text is reported as failed."""
    found = all_embeddings_of(expect.finished(reply) if isinstance(reply, StreamReply) else reply)
    if any(True for each in found for _ in non_finite(each.get("vector"))):
        return "COM-NUM-2"
    if found or name == "embed":
        return texts.operation(name).shaped
    if isinstance(reply, StreamReply):
        return "EMB-STREAM-2"
    return "" if failures_of(reply.result) else "EMB-BATCH-3"


def _requirement_of_refusal(
    texts: Texts, name: str, text: str, reply: Reply | StreamReply, changed: Mapping[str, Any]
) -> str:
    """Return the requirement that an error violates; empty if the adapter may refuse this text."""
    flag, refused = texts.capabilities.flag, reply.is_a("BadRequest", "NotSupported")
    sized = texts.can_take_text(text) and (len(text) <= PLAIN or texts.limit is not None)
    if reply.is_a("ResourceExhausted") or not sized or (texts.has_small_limit and refused):
        return ""
    if changed.get("normalize") is True:
        denied = "supports_normalization" in texts.capabilities.denied_flags(changed.get("model", texts.model))
        claimed = flag("supports_normalization") is True and not denied
        return NORMALIZED[name] if claimed and text.isascii() else ""
    if "truncate" in changed and refused and flag("supports_truncation") is not True:
        return ""
    if not text.isascii():
        return "EMB-EMBED-4" if name == "embed" else ""
    if changed.get("normalize") is False and refused:
        return "EMB-NORM-9"
    return ANSWERED[name] if name != "embed" or len(text) <= PLAIN else "EMB-TRUNC-2"
