"""An LLM adapter as a careful author builds it on the published SDK, over the backend of `llm_backend`.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from corpus_sdk.llm.llm_base import (
    BaseLLMAdapter,
    LLMCapabilities,
    LLMChunk,
    LLMCompletion,
    MetricsSink,
    OperationContext,
    SimpleDeadline,
)

from .authoring import CheckedDeadline, Gateway, Outcome, Provider, finite, text_or_none
from .llm_backend import CONTEXT_WINDOW, MODELS, TAXONOMY, Backend, Turn, chunks, tokens

SERVER, VERSION, FAMILY = "quill", "1.4.0", "quill"
ROLES = ("system", "user", "assistant", "tool")
require = TAXONOMY.require


# -- requests --------------------------------------------------------------------------------------------


def check_model(model: Any) -> str:
    """The model to use: the first one where none is asked for."""
    require(model is None or model in MODELS, "model", "is not served")
    return model or MODELS[0]


def is_function(value: Any, key: str, kind: type | tuple[type, ...]) -> bool:
    """Tell if `value` is ``{"type": "function", "function": {"name": str, key: kind}}``."""
    if not isinstance(value, Mapping) or value.get("type") != "function":
        return False
    function = value.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return False
    return isinstance(function.get(key), kind)


def check_message(message: Mapping[str, Any]) -> None:
    """Refuse what the SDK lets pass in a message: unknown roles and malformed optional fields."""
    require(message["role"] in ROLES, "messages[].role", f"must be one of {', '.join(ROLES)}")
    for name in ("name", "tool_call_id"):
        require(text_or_none(message.get(name)), f"messages[].{name}", "must be a string")
    calls = message.get("tool_calls")
    require(calls is None or isinstance(calls, list), "messages[].tool_calls", "must be a list")
    for call in calls or ():
        sound = is_function(call, "arguments", str) and isinstance(call.get("id"), str)
        require(sound, "messages[].tool_calls[]", "must have an id, a type and a function")


def required_function(tools: Any, tool_choice: Any) -> Mapping[str, Any] | None:
    """The function that `tool_choice` demands a call of, if it demands one."""
    for tool in tools or ():
        sound = is_function(tool, "parameters", (Mapping, type(None)))
        require(sound, "tools[]", "must be a function with a name and an object of parameters")
    functions: dict[str, Mapping[str, Any]] = {tool["function"]["name"]: tool["function"] for tool in tools or ()}
    if tool_choice == "required":
        require(functions, "tool_choice", "requires a tool, but there are no tools")
        return next(iter(functions.values()))
    if not isinstance(tool_choice, Mapping):
        return None
    require(is_function(tool_choice, "name", str), "tool_choice", "must name a function")
    chosen = functions.get(tool_choice["function"]["name"])
    require(chosen is not None, "tool_choice", "names a function that is not among the tools")
    return chosen


def parsed(request: Mapping[str, Any], ctx: OperationContext | None) -> Turn:
    """The request, after the checks that the SDK leaves to its authors."""
    TAXONOMY.check_context(ctx)
    messages, system, limit = request["messages"], request.get("system_message"), request.get("max_tokens")
    require(finite(request), "args", "must hold finite numbers only")
    for message in messages:
        check_message(message)
    require(text_or_none(system), "system_message", "must be a string")
    whole = limit is None or (isinstance(limit, (int, float)) and limit == int(limit))
    require(whole, "max_tokens", "must be an integer")
    lines = [f"system:{system}"] if system else []
    lines += [f"{message['role']}:{message['content']}" for message in messages]
    return Turn(
        check_model(request.get("model")),
        "\n".join(lines),
        None if limit is None else int(limit),
        tuple(stop for stop in request.get("stop_sequences") or () if stop),
        required_function(request.get("tools"), request.get("tool_choice")),
    )


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
            deadline_policy=CheckedDeadline(SimpleDeadline(), TAXONOMY),
            tag_model_in_metrics=False,
        )
        self._backend, self._gateway = Backend(), Gateway(provider, TAXONOMY)

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
        await self._gateway.reach("llm.complete", ctx)
        return LLMCompletion(reply.text, turn.model, FAMILY, reply.usage(), reply.finish_reason, reply.tool_calls)

    async def _do_stream(self, *, ctx: OperationContext | None = None, **request: Any) -> AsyncIterator[LLMChunk]:
        with Outcome(self._metrics, "llm", "stream") as outcome:
            turn = parsed(request, ctx)
            reply = self._backend.reply(turn)
            await self._in_time("llm.stream", ctx)
            for number, chunk in enumerate(chunks(turn, reply)):
                await self._in_time("llm.stream", ctx, chunk=number)
                if chunk.is_final:
                    outcome.finish()
                yield chunk

    async def _do_count_tokens(
        self, text: str, *, model: str | None = None, ctx: OperationContext | None = None
    ) -> int:
        TAXONOMY.check_context(ctx)
        check_model(model)
        return tokens(text)

    async def _do_health(self, *, ctx: OperationContext | None = None) -> Mapping[str, Any]:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("llm.health", ctx)
        return {"ok": True, "status": "ok", "server": SERVER, "version": VERSION}

    async def _in_time(self, op: str, ctx: OperationContext | None, **facts: int) -> None:
        """Reach the provider within the caller's budget: the SDK itself gives a stream no timeout."""
        self._preflight_deadline(ctx)
        await self._deadline.wrap(self._gateway.reach(op, ctx, **facts), ctx)
