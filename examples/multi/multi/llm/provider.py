"""The provider: here you call your library. What stands here now is a stand-in that makes up its answers.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run it is where the suite lets the provider fail, hang or be slow.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..context import sent_along


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Prompt:
    """A request that was read and checked; in `sampling` None stands for the provider's own default."""

    model: str
    messages: list[dict[str, str]]
    max_tokens: int | None
    stop_sequences: list[str]
    sampling: dict[str, float | None]


@dataclass(frozen=True)
class Reply:
    """`finish_reason` is stop, length or content_filter."""

    text: str
    finish_reason: str


class Provider:
    """EDIT: the models, and how each of the methods below gets its answer from your library."""

    models = ("stand-in-large", "stand-in-small")
    context_length = 2048

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def aclose(self) -> None:
        """EDIT: close your library's client; called once, by whoever made the adapter."""

    async def complete(self, prompt: Prompt) -> Reply:
        await self.reached("llm.complete")
        # EDIT: here call your library, for example
        #     answer = await client.chat.completions.create(model=prompt.model, messages=prompt.messages, ...)
        return self.made_up(prompt)

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        """The text in pieces; the probe is reached once more before each of them."""
        await self.reached("llm.stream")
        # EDIT: here call your library with stream=True
        for number, piece in enumerate(self.tokens(self.made_up(prompt).text)):
            await self.reached("llm.stream", chunk=number)
            yield piece

    def count_tokens(self, text: str) -> int:
        # EDIT: the tokenizer of your model
        return len(self.tokens(text))

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("llm.health")
            # EDIT: a cheap call of your library
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    # The stand-in: delete it when nothing calls it any more.

    def made_up(self, prompt: Prompt) -> Reply:
        text = f"You said {len(prompt.messages)} things to {prompt.model}, and this is what I answer."
        for stop in filter(None, prompt.stop_sequences):
            text = text.partition(stop)[0]
        tokens = self.tokens(text)
        room = self.context_length if prompt.max_tokens is None else prompt.max_tokens
        return Reply("".join(tokens[:room]), "stop" if len(tokens) <= room else "length")

    def tokens(self, text: str) -> list[str]:
        return re.findall(r" ?\S{1,8}|\s", text)
