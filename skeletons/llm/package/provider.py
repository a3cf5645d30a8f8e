"""The provider: call your library here. The present code is a stand-in that invents its answers.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run the suite lets the provider fail, hang or be slow there.
"""

import re
from collections.abc import AsyncGenerator

from .corpus_wire.llm import LLMProvider, Prompt, Reply


class Provider(LLMProvider):
    """EDIT: the models, and how each method gets its answer from your library; `aclose` closes its client."""

    models = ("stand-in-large", "stand-in-small")
    context_length = 2048

    async def complete(self, prompt: Prompt) -> Reply:
        """Return the whole answer."""
        await self.reached("complete")
        # EDIT: here call your library, for example
        #     answer = await client.chat.completions.create(model=prompt.model, messages=prompt.messages, ...)
        return self.invented(prompt)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        """Yield the answer in parts; the probe is reached once more before each of them."""
        await self.reached("stream")
        # EDIT: here call your library with stream=True
        reply = self.invented(prompt)
        for number, piece in enumerate(self.tokens(reply.text)):
            await self.reached("stream", chunk=number)
            yield Reply(piece)
        reply.text = ""  # it was sent in pieces
        yield reply

    async def count_tokens(self, model: str, text: str) -> int:
        """EDIT: use the tokenizer of your model."""
        return len(self.tokens(text))

    async def ping(self) -> None:
        """EDIT: make a cheap call of your library."""

    # The stand-in: delete it with the last call of it.

    def invented(self, prompt: Prompt) -> Reply:
        text = f"You said {len(prompt.messages)} things to {prompt.model}, and this is my answer."
        for stop in prompt.stop_sequences:
            text = text.partition(stop)[0]
        tokens = self.tokens(text)
        room = self.context_length if prompt.max_tokens is None else prompt.max_tokens
        kept, used = tokens[:room], sum(len(self.tokens(message["content"])) for message in prompt.messages)
        usage = {"prompt_tokens": used, "completion_tokens": len(kept), "total_tokens": used + len(kept)}
        return Reply("".join(kept), "stop" if len(tokens) <= room else "length", usage=usage)

    def tokens(self, text: str) -> list[str]:
        return re.findall(r" ?\S{1,8}|\s", text)
