"""The `embedding` adapter; its vectors are hashes."""

import hashlib
from collections.abc import Mapping, Sequence

from corpus_wire import Metrics, Probe
from corpus_wire.embedding import EmbeddingAdapter, EmbeddingProvider


class Provider(EmbeddingProvider):
    """A stand-in that knows no library."""

    models: Mapping[str, int] = {"large": 32, "small": 16}
    max_text_length = 1000
    max_batch_size = 16

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[list[float]]:
        await self.reached(op, items=len(texts))
        contents = [f"{model}\n{text}".encode("utf-8", "surrogatepass") for text in texts]
        digests = [hashlib.shake_128(content).digest(self.models[model]) for content in contents]
        return [[(byte - 127.5) / 127.5 for byte in digest] for digest in digests]

    def count_tokens(self, text: str) -> int:
        return len(text.split())


class Adapter(EmbeddingAdapter):
    """The adapter."""

    server = "multi-embedding"


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=multi.embedding:factory`."""
    return Adapter(Provider(provider), metrics)
