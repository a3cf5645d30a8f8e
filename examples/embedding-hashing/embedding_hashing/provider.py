"""The provider: the hashing vectorizer of scikit-learn, which needs no training and no model file.

A text becomes counts of its words and pairs of words, each at the place that its hash says. It takes time and no input
or output, so it runs in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sklearn.feature_extraction.text import HashingVectorizer

from .context import sent_along


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


class Provider:
    """A vectorizer for each model, which is called for its number of dimensions."""

    models: Mapping[str, int] = {"hashing-256": 256, "hashing-1024": 1024}
    max_text_length = 20_000  # in characters
    max_batch_size = 256

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe
        self.vectorizers = {
            # One that takes every character for a word as well: a text of signs alone is not nothing.
            model: HashingVectorizer(n_features=size, ngram_range=(1, 2), norm=None, token_pattern=r"\w+|[^\w\s]")
            for model, size in self.models.items()
        }

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text, in their order."""
        await self.reached(op, items=len(texts))
        if not texts:
            return []
        matrix = await asyncio.to_thread(self.vectorizers[model].transform, texts)
        return [list(row) for row in matrix.toarray()]

    def count_tokens(self, text: str) -> int:
        """The words and signs that are hashed."""
        return len(self.vectorizers["hashing-256"].build_tokenizer()(text))

    async def is_up(self) -> bool:
        """Whether the provider answers; what runs in this process does."""
        try:
            await self.reached("embedding.health")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True
