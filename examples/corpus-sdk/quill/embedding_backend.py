"""A small embedding service in memory: its models, its tokens and its failures as the SDK's exceptions.

It takes the part of a model server; the adapter in `embedding_adapter` puts the SDK around it.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from corpus_sdk.embedding import embedding_base
from corpus_sdk.embedding.embedding_base import (
    BadRequest,
    EmbeddingStats,
    EmbeddingVector,
    ResourceExhausted,
    TextTooLong,
)

from .authoring import Taxonomy, subtype

MODELS = {"quill-embed-small": 8, "quill-embed-large": 16}
"""The dimension of each model."""

# -- errors ----------------------------------------------------------------------------------------------


ContentFiltered = subtype(BadRequest, "ContentFiltered")
ProviderQuotaExceeded = subtype(ResourceExhausted, "ProviderQuotaExceeded")
TAXONOMY = Taxonomy(embedding_base, {"quota_exhausted": ProviderQuotaExceeded, "content_filtered": ContentFiltered})


class Truncation:
    """The policy that cuts long texts; unlike the SDK's own it says by how much a text is too long."""

    def apply(self, text: str, max_len: int | None, allow: bool) -> tuple[str, bool]:
        """The text, cut where that is allowed, and whether it was.

        Raises:
            TextTooLong: it is not allowed.
        """
        if not max_len or len(text) <= max_len:
            return text, False
        if not allow:
            raise TextTooLong(
                "the text is longer than the model takes",
                details={"max_text_length": max_len, "provided_length": len(text)},
            )
        return text[:max_len], True


# -- models ----------------------------------------------------------------------------------------------


def tokens(text: str) -> int:
    """The number of tokens: four characters of a word make one, so that a longer text never has fewer."""
    return sum(-(-len(word) // 4) for word in text.split())


def embedding(text: str, model: str, index: int | None = None) -> EmbeddingVector:
    """The embedding of a text by a model, of no particular length; the same every time."""
    written = f"{model}\n{text}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(written).digest()[: MODELS[model]]
    vector = [(byte - 127.5) / 32 for byte in digest]
    return EmbeddingVector(vector, text, model, len(vector), index)


@dataclass
class Statistics:
    """The statistics of the service."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    errors: int = 0
    spent_ms: float = 0.0

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request, and whether it fails."""
        began = time.monotonic()
        self.requests += 1
        try:
            yield
        except BaseException:
            self.errors += 1
            raise
        finally:
            self.spent_ms += (time.monotonic() - began) * 1000

    def embedded(self, text: str) -> int:
        """Count a text that was embedded; its tokens."""
        count = tokens(text)
        self.texts += 1
        self.tokens += count
        return count

    def report(self) -> EmbeddingStats:
        """The statistics as the SDK wants them; it adds those of its cache and its streams."""
        return EmbeddingStats(
            total_requests=self.requests,
            total_texts=self.texts,
            total_tokens=self.tokens,
            avg_processing_time_ms=self.spent_ms / self.requests if self.requests else 0.0,
            error_count=self.errors,
        )
