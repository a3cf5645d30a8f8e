"""The embedded reference adapter for LLMs: deterministic words instead of a model.

It is the example of how to write an adapter: read the request, reach the provider, answer. Everything that is
not particular to LLMs is in `foundation`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import Chunk, ReferenceAdapter, digest, remembered
from pytest_corpus.reference.language import Language
from pytest_corpus.reference.request import Call, Fields


@dataclass(frozen=True, slots=True)
class Prompt:
    """A checked request for at most `limit` tokens, or for a call of `tool`; `seed` decides the words."""

    model: str
    tokens: int
    limit: int
    stop_sequences: list[str]
    tool: str | None
    seed: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the provider gives: words or a tool call, and why it ended."""

    text: str
    finish_reason: str
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


class ReferenceLLM(Language, ReferenceAdapter):
    """`llm.capabilities`, `complete`, `stream`, `count_tokens` and `health` (SPECIFICATION 8)."""

    component = "llm"
    models: tuple[str, ...] = ("reference-large", "reference-small")
    context_window = 512
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
    roles: tuple[str, ...] = ("system", "user", "assistant", "tool")
    ranges: Mapping[str, tuple[float, float]] = {
        "temperature": (0, 2),
        "top_p": (0, 1),
        "frequency_penalty": (-2, 2),
        "presence_penalty": (-2, 2),
    }
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

    # Operations

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """The common facts, and the models, limits and sampling ranges of SPECIFICATION 8.4."""
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
        """`{text, model, usage, finish_reason}`, and `tool_calls` where a tool is called."""
        prompt = self.read_prompt(call)
        key = self.cache_key(call, prompt)
        return await remembered(self.cache, key, partial(self.answer, call, prompt))

    async def answer(self, call: Call, prompt: Prompt) -> dict[str, Any]:
        await self.reach(call)
        return self.completion(prompt, self.reply(prompt))

    async def stream(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Chunks `{text, is_final, model, usage_so_far}`, the last one with the `tool_calls`."""
        prompt = self.read_prompt(call)
        await self.reach(call)
        for index, chunk in enumerate(self.chunks(prompt, self.reply(prompt))):
            await self.reach(call, chunk=index)
            yield chunk

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """`{tokens}`: how many `text` has, in an object because edition 1.0.0 wants one (R10)."""
        self.read_model(call)
        text = call.args.required_text("text")
        await self.reach(call)
        return {"tokens": self.tokens(text)}

    # Reading arguments (SPECIFICATION 8.3, SCHEMA 4.1)

    def read_prompt(self, call: Call) -> Prompt:
        """Read and check the arguments of `complete` and `stream`."""
        model = self.read_model(call)
        texts = [*self.read_messages(call), self.read_system_message(call)]
        self.read_sampling(call)
        limit = self.read_max_tokens(call)
        stop_sequences = self.read_stop_sequences(call)
        tool = self.read_tool_choice(call, self.read_tools(call))
        tokens = sum(map(self.tokens, texts))
        self.check_context(model, tokens)
        room = self.context_window - tokens
        limit = room if limit is None else min(limit, room)
        return Prompt(model, tokens, limit, stop_sequences, tool, seed=digest([model, texts]))

    def read_model(self, call: Call) -> str:
        """The requested model, or the first one listed."""
        model = call.args.text("model") or self.models[0]
        if model not in self.models:
            raise self.unknown_model(model)
        call.labels["model"] = model  # a listed name: never what a client made up
        return model

    def unknown_model(self, model: str) -> AdapterError:
        rule = "is not available"
        return invalid("args.model", "MODEL_NOT_AVAILABLE", rule, error="ModelNotAvailable", model=model)

    def read_messages(self, call: Call) -> list[str]:
        """The texts of all messages."""
        messages = self.formatted(call).objects("messages", required=True)
        return [text for message in messages for text in self.read_message(message)]

    def formatted(self, call: Call) -> Fields:
        """The arguments whose faults are faults of format (ERRORS 6.1)."""
        return replace(call.args, error="InputFormatError")

    def read_message(self, message: Fields) -> list[str]:
        """The texts that one message adds to the prompt; its unknown keys are ignored."""
        if message.required_text("role") not in self.roles:
            raise message.invalid("role", "NOT_ALLOWED", f"must be one of {', '.join(self.roles)}")
        message.text("name")
        message.text("tool_call_id")
        return [message.required_text("content"), *map(self.read_tool_call, message.objects("tool_calls"))]

    def read_tool_call(self, tool_call: Fields) -> str:
        """The arguments of an earlier tool call."""
        tool_call.required_text("id")
        return self.read_function(tool_call).required_text("arguments")

    def read_function(self, fields: Fields) -> Fields:
        """The `function` of a tool, a tool call or a tool choice: `{type: "function", function: {name}}`."""
        if fields.required_text("type") != "function":
            raise fields.invalid("type", "NOT_ALLOWED", "must be function")
        function = fields.member("function")
        function.required_text("name")
        return function

    def read_system_message(self, call: Call) -> str:
        text = call.args.text("system_message")
        if text is not None:
            self.require("supports_system_message")
        return text or ""

    def read_sampling(self, call: Call) -> None:
        for name, (low, high) in self.ranges.items():
            value = call.args.number(name)
            if value is not None and not self.in_range(name, value):
                raise call.args.invalid(name, "OUT_OF_RANGE", f"must lie between {low} and {high}")

    def in_range(self, name: str, value: float) -> bool:
        """Both ends belong to a range, but for `top_p`, which is above 0 (R37)."""
        low, high = self.ranges[name]
        return low <= value <= high and not (name == "top_p" and value == 0)

    def read_max_tokens(self, call: Call) -> int | None:
        return call.args.integer("max_tokens", at_least=0)

    def read_stop_sequences(self, call: Call) -> list[str]:
        return [stop for stop in call.args.items("stop_sequences", "a string") if stop]

    def read_tools(self, call: Call) -> list[str]:
        """The names of the offered functions."""
        tools = self.formatted(call).objects("tools")
        if tools:
            self.require("supports_tools")
        return [self.read_tool(tool) for tool in tools]

    def read_tool(self, tool: Fields) -> str:
        function = self.read_function(tool)
        function.member("parameters")
        function.text("description")
        return function.required_text("name")

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        """The function that must be called; None where the model is free, and then answers in words."""
        choice = call.args.values.get("tool_choice")
        if choice in (None, "auto", "none"):
            return None
        self.require("supports_tool_choice")
        args = self.formatted(call)
        if choice == "required":
            name = next(iter(tools), None)
        else:
            name = self.read_function(args.member("tool_choice")).text("name")
        if name not in tools:
            raise args.invalid("tool_choice", "NOT_ALLOWED", "must name or require one of the given tools")
        return name

    def check_context(self, model: str, tokens: int) -> None:
        if tokens > self.context_window:
            raise invalid(
                "args.messages",
                "PROMPT_TOO_LONG",
                "exceed the model's context window",
                error="PromptTooLong",
                model=model,
                max_context_length=self.context_window,
                provided_tokens=tokens,
            )

    # Answers: where a real adapter reads what its provider said

    def reply(self, prompt: Prompt) -> Reply:
        reply = self.words(prompt) if prompt.tool is None else self.tool_use(prompt, prompt.tool)
        self.count("tokens_total", prompt.tokens + self.tokens(reply.text), {"model": prompt.model})
        return reply

    def words(self, prompt: Prompt) -> Reply:
        text = self.cut_at_stop(self.draft(prompt.seed), prompt.stop_sequences)
        cut = "".join(self.split(text)[: prompt.limit])
        return Reply(cut, "stop" if cut == text else "length")

    def tool_use(self, prompt: Prompt, name: str) -> Reply:
        """A call of the function `name`, which costs no tokens."""
        function = {"name": name, "arguments": "{}"}
        tool_call = {"id": f"call_{prompt.seed[:24]}", "type": "function", "function": function}
        return Reply("", "tool_calls", [tool_call])

    def completion(self, prompt: Prompt, reply: Reply) -> dict[str, Any]:
        """`llm.types.completion`; without tool calls it is valid under edition 1.0.0 too (SCHEMA 4.1.2)."""
        completion: dict[str, Any] = {
            "text": reply.text,
            "model": prompt.model,
            "usage": self.usage(prompt, self.tokens(reply.text)),
            "finish_reason": reply.finish_reason,
        }
        return {**completion, "tool_calls": reply.tool_calls} if reply.tool_calls else completion

    def chunks(self, prompt: Prompt, reply: Reply) -> Iterator[Chunk]:
        """`llm.types.chunk` objects, a few tokens each; an empty reply is one final chunk."""
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
        """A hash over tenant, model and all arguments; deterministic requests only (SPECIFICATION 16.3)."""
        if not self.features["supports_caching"] or call.args.values.get("temperature") != 0:
            return None
        return digest([call.tenant_hash, prompt.model, call.args.values])
