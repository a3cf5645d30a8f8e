"""The provider: call your library here. The present code is a stand-in that invents its vectors.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run the suite lets the provider fail, hang or be slow there.
"""

import hashlib
from collections.abc import Mapping, Sequence

from .corpus_wire.embedding import EmbeddingProvider


class Provider(EmbeddingProvider):
    """EDIT: the models with their dimensions, and the limits; `aclose` closes your library's client."""

    models: Mapping[str, int] = {"stand-in-large": 32, "stand-in-small": 16}
    max_text_length = 1000  # in characters
    max_batch_size = 16

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in their order."""
        await self.reached(op, items=len(texts))
        # EDIT: here call your library, for example
        #     answer = await client.embeddings.create(model=model, input=texts)
        return [self.invented(model, text) for text in texts]

    def count_tokens(self, text: str) -> int:
        """EDIT: use the tokenizer of your model."""
        return len(text.split())

    async def ping(self) -> None:
        """EDIT: make a cheap call of your library."""

    # The stand-in: delete it with the last call of it.

    def invented(self, model: str, text: str) -> list[float]:
        content = f"{model}\n{text}".encode("utf-8", "surrogatepass")
        return [(byte - 127.5) / 127.5 for byte in hashlib.shake_128(content).digest(self.models[model])]
