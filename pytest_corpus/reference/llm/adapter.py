"""The embedded reference adapter for LLMs: deterministic words instead of a model.

It is an example for adapter authors: read the request, call the provider, answer. `foundation` has everything that is
not specific to LLMs.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytest_corpus.reference.foundation import Chunk, ReferenceAdapter, digest, remember
from pytest_corpus.reference.llm.arguments import LLMArguments, Prompt
from pytest_corpus.reference.request import Call


@dataclass(frozen=True, slots=True)
class ReferenceReply:
    """The provider's answer: words or a tool call, and the finish reason."""

    text: str
    finish_reason: str
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


class ReferenceLLM(LLMArguments, ReferenceAdapter):
    """`llm.capabilities`, `complete`, `stream`, `count_tokens` and `health` (SPECIFICATION 8)."""

    component = "llm"
    max_tool_calls_per_turn = 1
    features: Mapping[str, bool] = {
        "supports_streaming": True,
        "supports_roles": True,
        "supports_system_message": True,
        "supports_json_output": False,
        "supports_tools": True,
        "supports_parallel_tool_calls": False,
        "supports_tool_choice": True,
        "supports_count_tokens": True,
        "supports_deadline": True,
        "supports_multi_tenant": True,
        "supports_caching": True,
        "idempotent_writes": True,
    }
    replayable = frozenset({"complete"})
    fault_kinds: Mapping[str, str] = {
        **ReferenceAdapter.fault_kinds,
        "content_filtered": "ContentFiltered",
        "overloaded": "ModelOverloaded",
    }
    resource_scopes: Mapping[str, str] = {
        **ReferenceAdapter.resource_scopes,
        "PromptTooLong": "token_limit",
        "ContentFiltered": "model",
        "ModelOverloaded": "model",
    }
    tokens_in_chunk = 4

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """Return the common facts, plus the models, limits and sampling ranges of SPECIFICATION 8.4."""
        common = await super().capabilities(call)
        return {
            **common,
            "models": [self.model_facts(model) for model in self.models],
            "max_tool_calls_per_turn": self.max_tool_calls_per_turn,
            "limits": {**common["limits"], "max_context_length": self.context_window},
            "sampling": {f"{name}_range": list(ends) for name, ends in self.ranges.items()},
        }

    def model_facts(self, model: str) -> dict[str, Any]:
        window, tools = self.context_window, self.features["supports_tools"]
        return {"name": model, "family": "reference", "context_window": window, "supports_tools": tools}

    async def complete(self, call: Call) -> dict[str, Any]:
        """Return `{text, model, usage, finish_reason}`, with `tool_calls` if a tool is called."""
        prompt = self.read_prompt(call)
        key = self.cache_key(call, prompt)
        return await remember(self.cache, key, partial(self.answer, call, prompt))

    async def answer(self, call: Call, prompt: Prompt) -> dict[str, Any]:
        await self.reach(call)
        return self.completion(prompt, self.reply(prompt))

    async def stream(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Yield chunks `{text, is_final, model, usage_so_far}`; the last chunk has the `tool_calls`."""
        prompt = self.read_prompt(call)
        await self.reach(call)
        for index, chunk in enumerate(self.chunks(prompt, self.reply(prompt))):
            await self.reach(call, chunk=index)
            yield chunk

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """Return `{tokens}`: the number of tokens in `text`, in an object, because edition 1.0.0 requires one (R10)."""
        self.read_model(call)
        text = call.args.required_text("text")
        await self.reach(call)
        return {"tokens": self.token_count(text)}

    def reply(self, prompt: Prompt) -> ReferenceReply:
        reply = self.text_reply(prompt) if prompt.tool is None else self.tool_reply(prompt, prompt.tool)
        self.count("tokens_total", prompt.tokens + self.token_count(reply.text), {"model": prompt.model})
        return reply

    def text_reply(self, prompt: Prompt) -> ReferenceReply:
        text = self.cut_at_stop(self.draft(prompt.seed), prompt.stop_sequences)
        cut = "".join(self.split(text)[: prompt.limit])
        return ReferenceReply(cut, "stop" if cut == text else "length")

    def tool_reply(self, prompt: Prompt, name: str) -> ReferenceReply:
        """Return a call of the function `name`; the reply uses no tokens."""
        function = {"name": name, "arguments": "{}"}
        tool_call = {"id": f"call_{prompt.seed[:24]}", "type": "function", "function": function}
        return ReferenceReply("", "tool_calls", [tool_call])

    def completion(self, prompt: Prompt, reply: ReferenceReply) -> dict[str, Any]:
        """Return an `llm.types.completion`; without tool calls it is also valid under edition 1.0.0 (SCHEMA 4.1.2)."""
        completion: dict[str, Any] = {
            "text": reply.text,
            "model": prompt.model,
            "usage": self.usage(prompt, self.token_count(reply.text)),
            "finish_reason": reply.finish_reason,
        }
        return {**completion, "tool_calls": reply.tool_calls} if reply.tool_calls else completion

    def chunks(self, prompt: Prompt, reply: ReferenceReply) -> Iterator[Chunk]:
        """Yield `llm.types.chunk` objects with a few tokens each; an empty reply is one final chunk."""
        tokens = self.split(reply.text)
        for start in range(0, len(tokens) or 1, self.tokens_in_chunk):
            end = start + self.tokens_in_chunk
            is_final = end >= len(tokens)
            chunk = {
                "text": "".join(tokens[start:end]),
                "is_final": is_final,
                "model": prompt.model,
                "usage_so_far": self.usage(prompt, len(tokens[:end])),
            }
            yield {**chunk, "tool_calls": reply.tool_calls} if is_final and reply.tool_calls else chunk

    def usage(self, prompt: Prompt, completion_tokens: int) -> dict[str, int]:
        total = prompt.tokens + completion_tokens
        return {"prompt_tokens": prompt.tokens, "completion_tokens": completion_tokens, "total_tokens": total}

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        """Return a hash over tenant, model and arguments; None if the answer is not cached (SPECIFICATION 16.3)."""
        if not self.features["supports_caching"] or call.args.values.get("temperature") != 0:
            return None
        return digest([call.tenant_hash, prompt.model, call.args.values])
