"""An LLM adapter as a careful author builds it on the published SDK, over a deterministic backend in memory.

Only the SDK's own extension points are used: the `_do_*` hooks and the arguments of its constructor.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from corpus_sdk.llm.llm_base import (
    AuthError,
    BadRequest,
    BaseLLMAdapter,
    LLMAdapterError,
    LLMCapabilities,
    LLMChunk,
    LLMCompletion,
    MetricsSink,
    ModelOverloaded,
    OperationContext,
    ResourceExhausted,
    SimpleDeadline,
    TokenUsage,
    ToolCall,
    ToolCallFunction,
    TransientNetwork,
    Unavailable,
    WireLLMHandler,
)

SERVER, VERSION, FAMILY = "quill", "1.4.0", "quill"
MODELS = ("quill-small", "quill-large")
CONTEXT_WINDOW = 4096
ROLES = ("system", "user", "assistant", "tool")
VOCABULARY = (
    "amid arch bark bell calm clay dawn dew echo elm fern fog gold hail iris jade "
    "kelp lark leaf mist moss oak owl pine rain reed rust sand snow tide vale wind"
)
"""32 words of one token each."""


# -- errors ----------------------------------------------------------------------------------------------


class ContentFiltered(BadRequest):
    """The provider's content filter refused the request."""


class PromptTooLong(BadRequest):
    """The prompt alone does not fit into the context window."""


class ProviderQuotaExceeded(ResourceExhausted):
    """The provider's quota is used up."""


_Mapped = tuple[type[LLMAdapterError], str]

KINDS: dict[str, _Mapped] = {
    "quota_exhausted": (ProviderQuotaExceeded, "the provider's quota is used up"),
    "content_filtered": (ContentFiltered, "the provider's content filter refused the request"),
}
STATUSES: dict[int, _Mapped] = {
    400: (BadRequest, "the provider refused the request"),
    401: (AuthError, "the provider refused the credentials"),
    403: (AuthError, "the provider denied permission"),
    408: (TransientNetwork, "the provider timed out"),
    422: (BadRequest, "the provider refused the request"),
    429: (ResourceExhausted, "the provider's rate limit is reached"),
    502: (TransientNetwork, "the provider cannot be reached"),
    504: (TransientNetwork, "the provider timed out"),
    529: (ModelOverloaded, "the model is overloaded"),
}
NETWORK: _Mapped = (TransientNetwork, "the provider cannot be reached")
ANY_OTHER: _Mapped = (Unavailable, "the provider is unavailable")
RETRYABLE = (ResourceExhausted, TransientNetwork, Unavailable, ModelOverloaded)


def code_of(error: type[LLMAdapterError]) -> str:
    """The wire code of a class; the SDK would give a subtype the code of its parent."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error.__name__).upper()


def normalized(fault: Exception) -> LLMAdapterError:
    """The SDK's exception for whatever the provider raised, without a word of the provider's own text."""
    lost = isinstance(fault, (ConnectionError, TimeoutError, asyncio.TimeoutError))
    status = STATUSES.get(getattr(fault, "http_status", None) or 0, NETWORK if lost else ANY_OTHER)
    error, message = KINDS.get(str(getattr(fault, "kind", "")), status)
    if not issubclass(error, RETRYABLE):
        return error(message, code=code_of(error))
    retry_after_ms = getattr(fault, "retry_after_ms", None)
    return error(
        message,
        code=code_of(error),
        retry_after_ms=retry_after_ms,
        throttle_scope="provider" if issubclass(error, ResourceExhausted) else None,
        details={} if retry_after_ms is not None else {"suggested_backoff_ms": 500},
    )


# -- requests --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """A request that was found sound; `function` is the definition of the tool that has to be called."""

    model: str
    prompt: str
    max_tokens: int | None
    stop_sequences: tuple[str, ...]
    function: Mapping[str, Any] | None


def require(condition: object, message: str) -> None:
    """Refuse the request unless `condition` holds."""
    if not condition:
        raise BadRequest(message)


def finite(value: Any) -> bool:
    """Whether no number in a JSON value is NaN or infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, (list, tuple)) else True


def text_or_none(value: Any) -> bool:
    """Whether an optional text is one, or is left out."""
    return value is None or isinstance(value, str)


def check_context(ctx: OperationContext | None) -> None:
    """Refuse a context with a value of a wrong type; the SDK takes it from the wire unseen."""
    if ctx is None:
        return
    for name in ("request_id", "idempotency_key", "traceparent", "tenant"):
        require(text_or_none(getattr(ctx, name)), f"ctx.{name} must be a string")
    number = ctx.deadline_ms is None or isinstance(ctx.deadline_ms, (int, float))
    require(number and finite(ctx.deadline_ms), "ctx.deadline_ms must be a finite number")
    require(
        isinstance(ctx.attrs, Mapping) and finite(ctx.attrs),
        "ctx.attrs must be an object of finite numbers and texts",
    )


def check_model(model: Any) -> str:
    """The model to use: the first one where none is asked for."""
    require(model is None or model in MODELS, "the model is not served")
    return model or MODELS[0]


def is_function(value: Any, key: str, kind: type | tuple[type, ...]) -> bool:
    """Whether `value` is ``{"type": "function", "function": {"name": str, key: kind}}``."""
    if not isinstance(value, Mapping) or value.get("type") != "function":
        return False
    function = value.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return False
    return isinstance(function.get(key), kind)


def check_message(message: Mapping[str, Any]) -> None:
    """Refuse what the SDK lets pass in a message: unknown roles and malformed optional fields."""
    require(message["role"] in ROLES, f"a message's role must be one of {', '.join(ROLES)}")
    for name in ("name", "tool_call_id"):
        require(text_or_none(message.get(name)), f"a message's {name} must be a string")
    calls = message.get("tool_calls")
    require(calls is None or isinstance(calls, list), "a message's tool_calls must be a list")
    for call in calls or ():
        sound = is_function(call, "arguments", str) and isinstance(call.get("id"), str)
        require(sound, "each tool call must have an id, a type and a function")


def required_function(tools: Any, tool_choice: Any) -> Mapping[str, Any] | None:
    """The function that `tool_choice` demands a call of, if it demands one."""
    for tool in tools or ():
        sound = is_function(tool, "parameters", (Mapping, type(None)))
        require(sound, "each tool must be a function with a name and an object of parameters")
    functions: dict[str, Mapping[str, Any]] = {tool["function"]["name"]: tool["function"] for tool in tools or ()}
    if tool_choice == "required":
        require(functions, "tool_choice requires a tool, but there are no tools")
        return next(iter(functions.values()))
    if not isinstance(tool_choice, Mapping):
        return None
    require(is_function(tool_choice, "name", str), "tool_choice must name a function")
    chosen = functions.get(tool_choice["function"]["name"])
    require(chosen is not None, "tool_choice names a function that is not among the tools")
    return chosen


def parsed(request: Mapping[str, Any], ctx: OperationContext | None) -> Turn:
    """What is asked for, after the checks that the SDK leaves to its authors."""
    check_context(ctx)
    messages, system, limit = request["messages"], request.get("system_message"), request.get("max_tokens")
    require(finite(request), "numbers must be finite")
    for message in messages:
        check_message(message)
    require(text_or_none(system), "system_message must be a string")
    require(
        limit is None or (isinstance(limit, (int, float)) and limit == int(limit)),
        "max_tokens must be an integer",
    )
    lines = [f"system:{system}"] if system else []
    lines += [f"{message['role']}:{message['content']}" for message in messages]
    return Turn(
        check_model(request.get("model")),
        "\n".join(lines),
        None if limit is None else int(limit),
        tuple(stop for stop in request.get("stop_sequences") or () if stop),
        required_function(request.get("tools"), request.get("tool_choice")),
    )


# -- the backend -----------------------------------------------------------------------------------------


class Provider(Protocol):
    """What is reached whenever a real backend would call its provider."""

    async def reached(self, op: str, **facts: Any) -> None:
        """Return once the provider has answered; raise what it raises."""


@dataclass(frozen=True)
class Reply:
    """What a model answered."""

    text: str
    finish_reason: str
    prompt_tokens: int
    tool_calls: list[ToolCall] = field(default_factory=list)

    def usage(self) -> TokenUsage:
        """The tokens of the prompt, the text and the tool calls."""
        called = (f"{call.function.name} {call.function.arguments}" for call in self.tool_calls)
        completion = tokens(self.text) + sum(map(tokens, called))
        return TokenUsage(self.prompt_tokens, completion, self.prompt_tokens + completion)


def tokens(text: str) -> int:
    """The number of tokens: four characters of a word make one, so that a longer text never has fewer."""
    return sum(-(-len(word) // 4) for word in text.split())


def sample(schema: Any) -> Any:
    """A smallest value for a JSON Schema of a tool's parameter, null where it tells nothing."""
    if not isinstance(schema, Mapping):
        return None
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return sample_object(schema)
    plain: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}
    return plain.get(str(schema.get("type")))


def sample_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object with the required properties."""
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, Mapping) else {}
    names = required if isinstance(required, list) else ()
    return {name: sample(known.get(name)) for name in names if isinstance(name, str)}


def cut(text: str, stops: Iterable[str]) -> str:
    """`text` up to the first of `stops`."""
    return text[: min([len(text), *(text.index(stop) for stop in stops if stop in text)])]


class Backend:
    """A model server in memory: the same request always gets the same words."""

    def __init__(self, provider: Provider | None) -> None:
        self._provider = provider

    async def reach(self, op: str, ctx: OperationContext | None, **facts: int) -> None:
        """Go to the provider with the trace and the absolute deadline of the call.

        Raises:
            LLMAdapterError: whatever fails there, normalized.
        """
        if self._provider is None:
            return
        headers = {"traceparent": ctx.traceparent, "deadline_ms": ctx.deadline_ms} if ctx else {}
        try:
            await self._provider.reached(op, **headers, **facts)
        except Exception as fault:
            raise normalized(fault) from None

    def reply(self, turn: Turn) -> Reply:
        """Answer in up to 24 words, or with a call of the tool that is required.

        Raises:
            PromptTooLong: nothing of the context window is left.
        """
        prompt_tokens = tokens(turn.prompt)
        if prompt_tokens > CONTEXT_WINDOW:
            raise PromptTooLong(
                "the prompt does not fit into the context window",
                code=code_of(PromptTooLong),
                details={
                    "max_context_length": CONTEXT_WINDOW,
                    "provided_tokens": prompt_tokens,
                    "model": turn.model,
                },
            )
        room = CONTEXT_WINDOW - prompt_tokens
        limit = room if turn.max_tokens is None else min(turn.max_tokens, room)
        digest = hashlib.sha256(f"{turn.model}\n{turn.prompt}".encode("utf-8", "surrogatepass")).digest()
        if turn.function is not None:
            return self._tool_call(turn.function, digest, prompt_tokens, limit)
        vocabulary = VOCABULARY.split()
        words = [vocabulary[byte % len(vocabulary)] for byte in digest[:24]]
        whole = " ".join(words[:limit])
        text = cut(whole, turn.stop_sequences)
        ended = len(text) < len(whole) or limit >= len(words)
        return Reply(text, "stop" if ended else "length", prompt_tokens)

    def _tool_call(self, function: Mapping[str, Any], digest: bytes, prompt_tokens: int, limit: int) -> Reply:
        arguments = json.dumps(sample_object(function.get("parameters") or {}))
        call = ToolCall(f"call_{digest.hex()[:16]}", "function", ToolCallFunction(function["name"], arguments))
        reply = Reply("", "tool_calls", prompt_tokens, [call])
        return reply if reply.usage().completion_tokens <= limit else Reply("", "length", prompt_tokens)


def chunks(turn: Turn, reply: Reply) -> Iterator[LLMChunk]:
    """The reply word by word; the tool calls and the end come with the last word."""
    words, sent = re.findall(r"\S+\s*", reply.text) or [""], ""
    for number, word in enumerate(words, 1):
        sent += word
        final = number == len(words)
        # Until the last word there is nothing but text to account for.
        usage = reply.usage() if final else Reply(sent, "", reply.prompt_tokens).usage()
        yield LLMChunk(word, final, turn.model, usage, reply.tool_calls if final else [])


# -- the adapter -----------------------------------------------------------------------------------------


class QuillAdapter(BaseLLMAdapter):
    """The hooks of the SDK's base adapter over `Backend`.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    A requested model is a caller's text and no metrics label.
    """

    def __init__(self, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(
            metrics=metrics,
            mode="thin",
            deadline_policy=SimpleDeadline(),
            tag_model_in_metrics=False,
        )
        self._backend = Backend(provider)

    async def _do_capabilities(self) -> LLMCapabilities:
        return LLMCapabilities(
            server=SERVER,
            version=VERSION,
            model_family=FAMILY,
            max_context_length=CONTEXT_WINDOW,
            supports_tools=True,
            supports_tool_choice=True,
            max_tool_calls_per_turn=1,
            supports_multi_tenant=True,
            supported_models=MODELS,
        )

    async def _do_complete(self, *, ctx: OperationContext | None = None, **request: Any) -> LLMCompletion:
        turn = parsed(request, ctx)
        reply = self._backend.reply(turn)
        await self._backend.reach("llm.complete", ctx)
        return LLMCompletion(reply.text, turn.model, FAMILY, reply.usage(), reply.finish_reason, reply.tool_calls)

    async def _do_stream(self, *, ctx: OperationContext | None = None, **request: Any) -> AsyncIterator[LLMChunk]:
        code = "CANCELLED"
        try:
            turn = parsed(request, ctx)
            reply = self._backend.reply(turn)
            await self._in_time("llm.stream", ctx)
            for number, chunk in enumerate(chunks(turn, reply)):
                await self._in_time("llm.stream", ctx, chunk=number)
                code = "OK" if chunk.is_final else code
                yield chunk
        except LLMAdapterError as error:
            code = error.code or "UNAVAILABLE"
            raise
        finally:
            outcome = {"op": "stream", "code": code}
            self._metrics.counter(component="llm", name="count_stream_final_outcome", value=1, extra=outcome)

    async def _do_count_tokens(
        self, text: str, *, model: str | None = None, ctx: OperationContext | None = None
    ) -> int:
        check_context(ctx)
        check_model(model)
        return tokens(text)

    async def _do_health(self, *, ctx: OperationContext | None = None) -> Mapping[str, Any]:
        check_context(ctx)
        await self._backend.reach("llm.health", ctx)
        return {"ok": True, "status": "ok", "server": SERVER, "version": VERSION}

    async def _in_time(self, op: str, ctx: OperationContext | None, **facts: int) -> None:
        """Reach the provider within the caller's budget: the SDK itself gives a stream no timeout."""
        self._preflight_deadline(ctx)
        await self._deadline.wrap(self._backend.reach(op, ctx, **facts), ctx)


def adapter(metrics: MetricsSink | None = None, provider: Provider | None = None) -> BaseLLMAdapter:
    """A fresh adapter."""
    return QuillAdapter(metrics, provider)


def wire(metrics: MetricsSink | None = None, provider: Provider | None = None) -> WireLLMHandler:
    """A fresh adapter behind the SDK's wire handler."""
    return WireLLMHandler(adapter(metrics, provider))
