"""The provider: the hashing vectorizer of scikit-learn, which needs no training and no model file.

A text becomes counts of its words and pairs of words, each at the place of its hash. That takes time, so it runs in a
thread.
"""

import asyncio
from collections.abc import Mapping, Sequence

from corpus_wire import Probe
from corpus_wire.embedding import EmbeddingProvider
from sklearn.feature_extraction.text import HashingVectorizer


class Provider(EmbeddingProvider):
    """A vectorizer for each model, which is called for its number of dimensions."""

    models: Mapping[str, int] = {"hashing-256": 256, "hashing-1024": 1024}
    max_text_length = 20_000  # in characters
    max_batch_size = 256

    def __init__(self, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.vectorizers = {
            # Signs count as words, so that a text of signs alone is not a vector of zeros.
            model: HashingVectorizer(n_features=size, ngram_range=(1, 2), norm=None, token_pattern=r"\w+|[^\w\s]")
            for model, size in self.models.items()
        }

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[Sequence[float]]:
        await self.reached(op, items=len(texts))
        matrix = await asyncio.to_thread(self.vectorizers[model].transform, texts)
        return [list(row) for row in matrix.toarray()]

    def count_tokens(self, text: str) -> int:
        """Count the words and signs that are hashed."""
        return len(self.vectorizers["hashing-256"].build_tokenizer()(text))
