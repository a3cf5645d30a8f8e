"""The embedded reference adapter for LLMs: deterministic words instead of a model.

It conforms in every requirement of SPECIFICATION 8 and is the example of how to write an adapter: validate,
reach the provider, answer. Everything that is not particular to LLMs is in `foundation`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from pytest_corpus.reference.foundation import (
    AdapterError,
    Call,
    Chunk,
    Fields,
    MetricsSink,
    Provider,
    ReferenceAdapter,
    Store,
    Stream,
    Unary,
    digest,
)
from pytest_corpus.spec.operations import protocol_of


@dataclass(frozen=True, slots=True)
class Range:
    """The allowed values of a sampling parameter; `above` excludes the lower end."""

    low: float
    high: float
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    def __str__(self) -> str:
        return f"{'above' if self.above else 'at least'} {self.low} and at most {self.high}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A validated request for a completion.

    `limit` is how many tokens it may give, `tool` the function that must be called (None: words), and
    `seed` a hash of all that decides the words.
    """

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
    tokens: int
    tool_calls: tuple[dict[str, Any], ...] = ()


class ReferenceLLM(ReferenceAdapter):
    """`llm.capabilities`, `complete`, `stream`, `count_tokens` and `health` (SPECIFICATION 8)."""

    component = "llm"
    model_family = "reference"
    models: tuple[str, ...] = ("reference-large", "reference-small")
    context_window = 512
    max_tool_calls_per_turn = 1
    longest_name = 256
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
    roles: tuple[str, ...] = ("system", "user", "assistant", "tool")
    ranges: Mapping[str, Range] = {
        "temperature": Range(0, 2),
        "top_p": Range(0, 1, above=True),
        "frequency_penalty": Range(-2, 2),
        "presence_penalty": Range(-2, 2),
    }
    cutting_args: frozenset[str] = frozenset({"max_tokens", "stop_sequences"})
    known_fields = ReferenceAdapter.known_fields | {
        *("messages", "role", "content", "name", "tool_call_id", "tool_calls", "function", "arguments"),
        *("model", "max_tokens", "stop_sequences", "system_message", "tools", "parameters", "tool_choice"),
        *("temperature", "top_p", "frequency_penalty", "presence_penalty", "text", "type", "description"),
    }
    keepalive_chunk: Mapping[str, Any] = {"text": "", "is_final": False}
    replayable = frozenset({"complete"})
    cache_ttl_s = 300.0
    resource_scopes: Mapping[str, str] = {
        **ReferenceAdapter.resource_scopes,
        "PromptTooLong": "token_limit",
        "ContentFiltered": "model",
        "ModelOverloaded": "model",
        "ModelNotAvailable": "model",
    }
    token = re.compile(r" ?\S{1,8}|\s")
    """One token; every non-empty prefix of a token is one too, so that counts never fall as a text grows."""
    vocabulary = (
        *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper"),
        *("kestrel", "lagoon", "meadow", "nectar", "orchard", "pebble", "quarry", "river", "saffron"),
        *("thicket", "upland", "valley", "willow", "yarrow", "zephyr"),
    )
    words_in_reply = 24
    words_in_chunk = 4

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self._cache = Store(self.cache_ttl_s)

    async def aclose(self) -> None:
        self._cache = Store(self.cache_ttl_s)

    def _unary(self) -> Mapping[str, Unary]:
        return {
            "capabilities": self._capabilities,
            "complete": self._complete,
            "count_tokens": self._count_tokens,
            "health": self._health,
        }

    def _streams(self) -> Mapping[str, Stream]:
        return {"stream": self._stream}

    # Operations

    async def _capabilities(self, call: Call) -> dict[str, Any]:  # noqa: ARG002 - has the shape of all operations
        """Flat facts, and the model list, limits, sampling ranges and cache of SPECIFICATION 8.4 and 6.2."""
        return {
            "server": self.server,
            "version": self.version,
            "protocol": protocol_of(self.component),
            "model_family": self.model_family,
            "supported_models": list(self.models),
            "models": [self._model_facts(model) for model in self.models],
            "max_context_length": self.context_window,
            "max_tool_calls_per_turn": self.max_tool_calls_per_turn,
            **self.features,
            "limits": {
                "max_context_length": self.context_window,
                "rate_limit_qps": self.rate_limit_qps,
                "concurrency": self.concurrency,
            },
            "sampling": {f"{name}_range": [each.low, each.high] for name, each in self.ranges.items()},
            "cache": {
                "supports_tags": False,
                "max_ttl_ms": int(self.cache_ttl_s * 1000),
                "invalidation_webhook": False,
            },
            "extensions": {"reference:deterministic": True},
        }

    def _model_facts(self, model: str) -> dict[str, Any]:
        return {
            "name": model,
            "family": self.model_family,
            "context_window": self.context_window,
            "supports_tools": self.features["supports_tools"],
        }

    async def _complete(self, call: Call) -> dict[str, Any]:
        """`{text, model, usage, finish_reason}`, and `tool_calls` where a tool is called.

        Errors: BadRequest, InputFormatError, ModelNotAvailable, PromptTooLong, and the provider's.
        """
        prompt = self._prompt(call)
        key = self._cache_key(call, prompt)
        hit: dict[str, Any] | None = self._cache.get(key) if key else None
        if key:
            call.labels["cache_hit"] = hit is not None
        if hit is not None:
            return hit
        await self._reach(call)
        reply = self._reply(prompt)
        self._count_usage(prompt, reply.tokens)
        result = self._completion(prompt, reply)
        if key:
            self._cache.put(key, result)
        return result

    async def _stream(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Chunks `{text, is_final, model, usage_so_far}`; errors as for `complete`.

        Where a tool is called, the last chunk has its `tool_calls`.
        """
        prompt = self._prompt(call)
        await self._reach(call)
        reply = self._reply(prompt)
        for index, chunk in enumerate(self._chunks(prompt, reply)):
            await self._reach(call, chunk=index)
            if chunk["is_final"]:
                self._count_usage(prompt, reply.tokens)
            yield chunk

    async def _count_tokens(self, call: Call) -> int:
        """How many tokens `text` has, as a bare integer (SPECIFICATION 8.3)."""
        self._model(call)
        text = call.args.text("text", required=True) or ""
        await self._reach(call)
        return self._tokens(text)

    async def _health(self, call: Call) -> dict[str, Any]:
        """`{ok, status, server, version, models, reason?}`: a failing provider is a report, not an error."""
        reason = None
        try:
            await self._reach(call)
        except Exception as fault:  # noqa: BLE001 - whatever fails is what is to be reported
            reason = self._map_fault(fault).kind.code
        status = "down" if reason else "ok"
        report = {
            "ok": not reason,
            "status": status,
            "server": self.server,
            "version": self.version,
            "models": dict.fromkeys(self.models, status),
        }
        return {**report, "reason": reason} if reason else report

    # Validation

    def _prompt(self, call: Call) -> Prompt:
        """Validate the arguments of `complete` and `stream` (SPECIFICATION 8.3; SCHEMA 4.1)."""
        args = call.args
        model = self._model(call)
        texts = [*self._messages(args), self._system_message(args)]
        self._sampling(args)
        limit = self._max_tokens(args)
        stop_sequences = self._stop_sequences(args)
        tool = self._tool_choice(args, self._tools(args))
        tokens = sum(map(self._tokens, texts))
        self._check_context(model, tokens)
        room = self.context_window - tokens
        return Prompt(
            model=model,
            tokens=tokens,
            limit=room if limit is None else min(limit, room),
            stop_sequences=stop_sequences,
            tool=tool,
            seed=self._seed(model, args),
        )

    def _model(self, call: Call) -> str:
        """The requested model, or the first one listed."""
        model = call.args.text("model", longest=self.longest_name) or self.models[0]
        if model not in self.models:
            raise self._unknown_model(model)
        call.labels["model"] = model  # a listed name: never what a client made up
        return model

    def _unknown_model(self, model: str) -> AdapterError:
        return AdapterError(
            "ModelNotAvailable",
            "The requested model is not available",
            model=model,
            validation_errors=[{"field": "args.model", "code": "MODEL_NOT_AVAILABLE"}],
        )

    def _messages(self, args: Fields) -> list[str]:
        """The texts of the messages; at least one message is required."""
        given = self._formatted(args)
        messages = given.objects("messages", required=True)
        if not messages:
            raise given.invalid("messages", "OUT_OF_RANGE", "must have at least one message")
        return [text for message in messages for text in self._message(message)]

    def _message(self, message: Fields) -> list[str]:
        """The texts that one message adds to the prompt; its unknown keys are ignored."""
        self._role(message)
        content = message.text("content", required=True) or ""
        message.text("name")
        message.text("tool_call_id")
        return [content, *map(self._tool_call, message.objects("tool_calls"))]

    def _role(self, message: Fields) -> None:
        if message.text("role", required=True) not in self.roles:
            raise message.invalid("role", "NOT_ALLOWED", f"must be one of {', '.join(self.roles)}")

    def _tool_call(self, tool_call: Fields) -> str:
        """The arguments of an earlier tool call."""
        tool_call.text("id", required=True)
        function = self._function(tool_call)
        return function.text("arguments", required=True) or ""

    def _function(self, fields: Fields) -> Fields:
        """The `function` of a tool, a tool call or a tool choice: `{type: "function", function: {name}}`."""
        if fields.text("type", required=True) != "function":
            raise fields.invalid("type", "NOT_ALLOWED", "must be function")
        function = fields.member("function")
        function.text("name", required=True, longest=self.longest_name)
        return function

    def _system_message(self, args: Fields) -> str:
        text = args.text("system_message")
        if text is not None:
            self._require("supports_system_message")
        return text or ""

    def _sampling(self, args: Fields) -> None:
        for name, allowed in self.ranges.items():
            value = args.number(name)
            if value is not None and value not in allowed:
                raise args.invalid(name, "OUT_OF_RANGE", f"must be {allowed}")

    def _max_tokens(self, args: Fields) -> int | None:
        return args.integer("max_tokens", at_least=0)

    def _stop_sequences(self, args: Fields) -> list[str]:
        return [stop for stop in args.items("stop_sequences", "a string") if stop]

    def _tools(self, args: Fields) -> list[str]:
        """The names of the offered functions."""
        tools = self._formatted(args).objects("tools")
        if tools:
            self._require("supports_tools")
        return [self._tool(tool) for tool in tools]

    def _tool(self, tool: Fields) -> str:
        function = self._function(tool)
        function.member("parameters")
        function.text("description")
        return function.text("name") or ""

    def _tool_choice(self, args: Fields, tools: list[str]) -> str | None:
        """The function that must be called; None where the model is free, and then answers in words."""
        choice = args.values.get("tool_choice")
        if choice in (None, "auto", "none"):
            return None
        self._require("supports_tool_choice")
        if choice == "required":
            name = tools[0] if tools else None
        else:
            name = self._function(args.member("tool_choice")).text("name")
        if name not in tools:
            raise args.invalid("tool_choice", "NOT_ALLOWED", "must name or require one of the given tools")
        return name

    def _formatted(self, args: Fields) -> Fields:
        """The arguments whose faults are faults of format (ERRORS 6.1)."""
        return Fields(args.values, args.path, "InputFormatError")

    def _check_context(self, model: str, tokens: int) -> None:
        if tokens > self.context_window:
            raise AdapterError(
                "PromptTooLong",
                "The prompt exceeds the model's context window",
                model=model,
                max_context_length=self.context_window,
                provided_tokens=tokens,
                validation_errors=[{"field": "args.messages", "code": "PROMPT_TOO_LONG"}],
            )

    # Generation: where a real adapter reads its provider's answer

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = self.token.findall(text)
        return tokens

    def _tokens(self, text: str) -> int:
        return len(self._split(text))

    def _seed(self, model: str, args: Fields) -> str:
        """What decides the words: not the arguments that only cut them."""
        return digest(
            [model, {name: value for name, value in args.values.items() if name not in self.cutting_args}]
        )

    def _reply(self, prompt: Prompt) -> Reply:
        return self._words(prompt) if prompt.tool is None else self._tool_use(prompt, prompt.tool)

    def _tool_use(self, prompt: Prompt, name: str) -> Reply:
        """A call of the function `name`; nothing at all where it does not fit."""
        tokens = self._tokens(name) + 1
        if tokens > prompt.limit:
            return Reply("", "length", 0)
        function = {"name": name, "arguments": "{}"}
        tool_call = {"id": f"call_{prompt.seed[:24]}", "type": "function", "function": function}
        return Reply("", "tool_calls", tokens, (tool_call,))

    def _words(self, prompt: Prompt) -> Reply:
        text = self._cut_at_stop(self._draft(prompt), prompt.stop_sequences)
        cut = self._cut_at_limit(text, prompt.limit)
        return Reply(cut, "stop" if cut == text else "length", self._tokens(cut))

    def _draft(self, prompt: Prompt) -> str:
        return " ".join(Random(prompt.seed).choices(self.vocabulary, k=self.words_in_reply))

    def _cut_at_stop(self, text: str, stop_sequences: list[str]) -> str:
        return text[: min([len(text), *(text.index(stop) for stop in stop_sequences if stop in text)])]

    def _cut_at_limit(self, text: str, limit: int) -> str:
        return "".join(self._split(text)[:limit])

    # Results

    def _completion(self, prompt: Prompt, reply: Reply) -> dict[str, Any]:
        """`llm.types.completion`; without tool calls it is valid under edition 1.0.0 too (SCHEMA 4.1.2)."""
        completion = {
            "text": reply.text,
            "model": prompt.model,
            "usage": self._usage(prompt, reply.tokens),
            "finish_reason": reply.finish_reason,
        }
        return {**completion, "tool_calls": list(reply.tool_calls)} if reply.tool_calls else completion

    def _chunks(self, prompt: Prompt, reply: Reply) -> Iterator[Chunk]:
        """`llm.types.chunk` objects, a few words each; an empty reply is one final chunk."""
        words = self._split(reply.text)
        starts = range(0, len(words) or 1, self.words_in_chunk)
        for start in starts:
            end = start + self.words_in_chunk
            is_final = start == starts[-1]
            chunk: Chunk = {
                "text": "".join(words[start:end]),
                "is_final": is_final,
                "model": prompt.model,
                "usage_so_far": self._usage(prompt, reply.tokens if is_final else end),
            }
            if is_final and reply.tool_calls:
                chunk["tool_calls"] = list(reply.tool_calls)
            yield chunk

    def _usage(self, prompt: Prompt, completion_tokens: int) -> dict[str, int]:
        return {
            "prompt_tokens": prompt.tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt.tokens + completion_tokens,
        }

    def _count_usage(self, prompt: Prompt, completion_tokens: int) -> None:
        self._count("tokens_total", prompt.tokens + completion_tokens, {"model": prompt.model})

    # Cache

    def _cache_key(self, call: Call, prompt: Prompt) -> str | None:
        """A hash over tenant, model and all arguments; deterministic requests only (SPECIFICATION 16.3)."""
        if not self.features["supports_caching"] or call.args.values.get("temperature") != 0:
            return None
        return digest([call.context.tenant_hash, call.op, prompt.model, call.args.values])
