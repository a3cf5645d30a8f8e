"""The `llm` adapter; its answers repeat a sentence."""

import re
from collections.abc import AsyncGenerator

from corpus_wire import Failures, Metrics, Probe
from corpus_wire.llm import LLMAdapter, LLMProvider, Prompt, Reply


class Provider(LLMProvider):
    """A stand-in that knows no library."""

    models = ("large", "small")
    context_length = 2048

    async def complete(self, prompt: Prompt) -> Reply:
        await self.reached("complete")
        return answer(prompt, self.context_length)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        await self.reached("stream")
        reply = answer(prompt, self.context_length)
        for number, piece in enumerate(tokens(reply.text)):
            await self.reached("stream", chunk=number)
            yield Reply(piece)
        yield Reply("", reply.finish_reason, usage=reply.usage)

    async def count_tokens(self, model: str, text: str) -> int:
        return len(tokens(text))


def tokens(text: str) -> list[str]:
    return re.findall(r" ?\S{1,8}|\s", text)


def answer(prompt: Prompt, most: int) -> Reply:
    """A sentence up to the first stop sequence or the limit."""
    text = f"You said {len(prompt.messages)} things to {prompt.model}, and this is my answer."
    for stop in prompt.stop_sequences:
        text = text.partition(stop)[0]
    made = tokens(text)
    kept = made[: most if prompt.max_tokens is None else prompt.max_tokens]
    used = sum(len(tokens(message["content"])) for message in prompt.messages)
    usage = {"prompt_tokens": used, "completion_tokens": len(kept), "total_tokens": used + len(kept)}
    return Reply("".join(kept), "stop" if kept == made else "length", usage=usage)


class Adapter(LLMAdapter):
    """The adapter."""

    server = "multi-llm"
    failures = Failures(subtypes={"content_filtered": "ContentFiltered", "overloaded": "ModelOverloaded"})


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=multi.llm:factory`."""
    return Adapter(Provider(provider), metrics)
