"""The reason why an answer has no vector, and the requirement that this breaks, if any."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.exchange import non_finite
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.embedding.support.answers import embedded_by, failures_of
from pytest_corpus.suites.embedding.support.texts import Texts

PLAIN = 64
"""The number of ASCII characters that any adapter without a smaller limit embeds."""

NORMALIZED = {"embed": "EMB-NORM-1", "embed_batch": "EMB-NORM-2", "stream_embed": "EMB-NORM-3"}
"""The requirement that says that an operation normalizes."""

ANSWERED = {"embed": "EMB-EMBED-1", "embed_batch": "COM-CAP-6", "stream_embed": "COM-CAP-6"}
"""The requirement that says that an operation answers a plain text."""


def without_vector(
    texts: Texts, name: str, text: str, reply: Reply | StreamReply, changed: Mapping[str, Any]
) -> Undecided:
    """Return the obstacle to a test if an operation gave no vector. Raises Blocked if the answer cannot be read."""
    expect.readable(reply)
    if reply.is_error:
        expect.named(reply)
        by, said = _refused_against(texts, name, text, reply, changed), f"{name} gives no vector: {reply}"
    else:
        by, said = _left_out_against(texts, name, reply), f"{name} gives no vector, and no error"
    return Blocked(by, said, evidence=reply.exchange) if by else NotAssessed(said)


def _left_out_against(texts: Texts, name: str, reply: Reply | StreamReply) -> str:
    """The requirement that an answer without a vector breaks; none if the text is reported as failed."""
    found = embedded_by(expect.finished(reply) if isinstance(reply, StreamReply) else reply)
    if any(True for each in found for _ in non_finite(each.get("vector"))):
        return "COM-NUM-2"
    if found or name == "embed":
        return texts.operation(name).shaped
    if isinstance(reply, StreamReply):
        return "EMB-STREAM-2"
    return "" if failures_of(reply.result) else "EMB-BATCH-3"


def _refused_against(texts: Texts, name: str, text: str, reply: Reply | StreamReply, changed: Mapping[str, Any]) -> str:
    """The requirement that an error breaks; none if the adapter may be busy, or the text or an option too much."""
    flag, refused = texts.capabilities.flag, reply.is_a("BadRequest", "NotSupported")
    sized = texts.holds(text) and (len(text) <= PLAIN or texts.limit is not None)
    if reply.is_a("ResourceExhausted") or not sized or (texts.small and refused):
        return ""
    if changed.get("normalize") is True:
        denied = "supports_normalization" in texts.capabilities.denials(changed.get("model", texts.model))
        claimed = flag("supports_normalization") is True and not denied
        return NORMALIZED[name] if claimed and text.isascii() else ""
    if "truncate" in changed and refused and flag("supports_truncation") is not True:
        return ""
    if not text.isascii():
        return "EMB-EMBED-4" if name == "embed" else ""
    if changed.get("normalize") is False and refused:
        return "EMB-NORM-9"
    return ANSWERED[name] if name != "embed" or len(text) <= PLAIN else "EMB-TRUNC-2"
