"""The adapter for Ollama: its name, its claims, and the failures of its API."""

from collections.abc import Mapping
from typing import Any

import aiohttp
from corpus_wire import Arguments, Failures, WireError
from corpus_wire.llm import LLMAdapter, Prompt

from .provider import Provider

BYTES = 8
"""The most bytes of text for a token of the context: what has more is refused without asking."""


class Adapter(LLMAdapter):
    """Ollama's errors are texts, so the status decides; an error in mid-stream has none, and is `Unavailable`."""

    provider: Provider
    server = "llm-ollama"
    unary = ("capabilities", "complete", "health")
    denied = ("count_tokens",)
    claims: Mapping[str, Any] = {
        **LLMAdapter.claims,
        "supports_count_tokens": False,
        "supports_tools": True,
        "supports_parallel_tool_calls": True,
    }
    failures = Failures(
        classes={  # a subclass stands before its base
            aiohttp.ServerTimeoutError: "DeadlineExceeded",
            aiohttp.ClientError: "TransientNetwork",
            ValueError: "Unavailable",  # an answer that is not JSON
        },
        subtypes={"too long": "PromptTooLong", "overloaded": "ModelOverloaded"},
    )

    def tools(self, args: Arguments) -> tuple[list[dict[str, Any]], str | None, str | None]:
        """Read the tools. The model decides if it calls one: Ollama has no `tool_choice`."""
        tools, choice, forced = super().tools(args)
        if forced or choice == "required":
            raise WireError("NotSupported", "args.tool_choice is supported as auto and none only")
        return ([] if choice == "none" else tools), choice, None

    async def check_length(self, args: Arguments, prompt: Prompt) -> None:
        """Refuse a prompt that no tokenizer makes short enough; Ollama counts the tokens of others."""
        most = self.provider.context_length
        if sum(len(message["content"].encode("utf-8", "replace")) for message in prompt.messages) > BYTES * most:
            rule = "exceed the context length"
            raise args.invalid("messages", rule, error="PromptTooLong", model=prompt.model, max_context_length=most)
