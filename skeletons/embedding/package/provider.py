"""The provider: here you call your library. What stands here now is a stand-in that makes up its vectors.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run it is where the suite lets the provider fail, hang or be slow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .context import sent_along


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


class Provider:
    """EDIT: the models with their dimensions, the limits, and how your library is asked for vectors."""

    models: Mapping[str, int] = {"stand-in-large": 32, "stand-in-small": 16}
    max_text_length = 1000  # in characters
    max_batch_size = 16

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def aclose(self) -> None:
        """EDIT: close your library's client; called once, by whoever made the adapter."""

    async def embed(self, op: str, model: str, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text, in their order."""
        await self.reached(op, items=len(texts))
        # EDIT: here call your library, for example
        #     answer = await client.embeddings.create(model=model, input=texts)
        return [self.made_up(model, text) for text in texts]

    def count_tokens(self, text: str) -> int:
        # EDIT: the tokenizer of your model
        return len(text.split())

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("embedding.health")
            # EDIT: a cheap call of your library
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    # The stand-in: delete it when nothing calls it any more.

    def made_up(self, model: str, text: str) -> list[float]:
        content = f"{model}\n{text}".encode("utf-8", "surrogatepass")
        return [(byte - 127.5) / 127.5 for byte in hashlib.shake_128(content).digest(self.models[model])]
