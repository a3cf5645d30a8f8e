"""The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, the provider does the work."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from .arguments import Arguments
from .errors import WireError
from .provider import Provider
from .wire import Call, WireHandler

ROLES = ("system", "user", "assistant", "tool")
SAMPLING = {"temperature": (0, 2), "top_p": (0, 1), "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}


@dataclass(frozen=True)
class Prompt:
    """A request that was read and checked; messages, tools and the choice of one have the shape of the protocol.

    Attributes:
        messages: a system message comes first.
        sampling: only the parameters that the request gives.
        tool_choice: auto, none, required, or the name of a function in `forced_tool`.
    """

    model: str
    messages: list[dict[str, Any]]
    max_tokens: int | None = None
    stop_sequences: list[str] = field(default_factory=list)
    sampling: dict[str, float] = field(default_factory=dict)
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: str | None = None
    forced_tool: str | None = None


@dataclass
class Reply:
    """An answer, or a part of it in a stream: only the last part has more than `text`.

    `finish_reason` is stop, length, tool_calls or content_filter.
    """

    text: str = ""
    finish_reason: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    usage: Mapping[str, int] = field(default_factory=dict)


class Address(Protocol):
    """The argument `provider` of a factory in a conformance run: a stand-in for the vendor listens at `url`."""

    @property
    def url(self) -> str: ...


class LLMProvider(Provider, ABC):
    """The models and their limits.

    Attributes:
        least_tokens: the least `max_tokens` of a request.
        most_stops: the most stop sequences of a request.
        sampling: the range of each parameter that is supported.
    """

    component = "llm"
    models: tuple[str, ...] = ()
    context_length = 0
    least_tokens = 0
    most_stops: int | None = None
    sampling: Mapping[str, tuple[float, float]] = SAMPLING

    @abstractmethod
    async def complete(self, prompt: Prompt) -> Reply:
        """Return the whole answer."""

    @abstractmethod
    def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        """Yield the answer in parts; the last part has a `finish_reason`."""

    @abstractmethod
    async def count_tokens(self, model: str, text: str) -> int:
        """Count the tokens of a text."""


class LLMAdapter(WireHandler[LLMProvider]):
    """The wire handler of `llm`."""

    component = "llm"
    unary: tuple[str, ...] = ("capabilities", "complete", "count_tokens", "health")
    streams = ("stream",)
    claims: Mapping[str, Any] = {
        "supports_streaming": True,
        "supports_roles": True,
        "supports_system_message": True,
        "supports_count_tokens": True,
        "concurrency": 64,
        "rate_limit_qps": 100,
        "supports_deadline": True,
        "supports_json_output": False,
        "supports_tools": False,
        "supports_parallel_tool_calls": False,
        "supports_tool_choice": False,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    def limits(self) -> dict[str, Any]:
        """The models, the length of their context, and the ranges of the parameters that they take."""
        return {
            "supported_models": list(self.provider.models),
            "max_context_length": self.provider.context_length,
            "sampling": {f"{name}_range": list(ends) for name, ends in self.provider.sampling.items()},
        }

    async def complete(self, call: Call) -> dict[str, Any]:
        """Answer a prompt."""
        prompt = await self.prompt(call.args)
        reply = await self.provider.complete(prompt)
        answer = {"text": reply.text, "model": prompt.model, "usage": reply.usage, "finish_reason": reply.finish_reason}
        return {**answer, **tool_calls(reply)}

    async def stream(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        """Answer a prompt in chunks."""
        prompt = await self.prompt(call.args)
        async with aclosing(self.provider.stream(prompt)) as parts:
            async for part in parts:
                chunk = {"text": part.text, "is_final": part.finish_reason is not None, "model": prompt.model}
                usage = {"usage_so_far": part.usage} if part.usage else {}
                yield {**chunk, **usage, **tool_calls(part)}

    async def count_tokens(self, call: Call) -> dict[str, int]:
        """Count the tokens of a text."""
        return {"tokens": await self.provider.count_tokens(self.model(call.args), call.args.text("text"))}

    # Arguments

    async def prompt(self, args: Arguments) -> Prompt:
        """Read the arguments of `complete` and `stream`."""
        system = args.optional_text("system_message")
        messages = [] if system is None else [{"role": "system", "content": system}]
        messages += [read_message(message) for message in args.objects("messages", required=True)]
        stops = [stop for stop in args.list_of("a string", "stop_sequences") if stop]
        if self.provider.most_stops is not None and len(stops) > self.provider.most_stops:
            raise args.invalid("stop_sequences", f"must be at most {self.provider.most_stops}")
        limit, sampling = args.integer("max_tokens", self.provider.least_tokens), self.sampling(args)
        prompt = Prompt(self.model(args), messages, limit, stops, sampling, *self.tools(args))
        await self.check_length(args, prompt)
        return prompt

    def model(self, args: Arguments) -> str:
        """Return the model of the request; the first one is the default."""
        model = args.optional_text("model") or self.provider.models[0]
        if model not in self.provider.models:
            raise args.invalid("model", "is not available", error="ModelNotAvailable", model=model)
        return model

    def sampling(self, args: Arguments) -> dict[str, float]:
        """Read the sampling parameters; a valid value that the provider does not take is not supported."""
        given: dict[str, float] = {}
        for name, legal in SAMPLING.items():
            value = args.number(name, *legal)
            if name == "top_p" and value == 0:
                raise args.invalid(name, "must be above 0")
            if value is None:
                continue
            if name not in self.provider.sampling:
                raise WireError("NotSupported", f"args.{name} is not supported")
            low, high = self.provider.sampling[name]
            if not low <= value <= high:
                raise WireError("NotSupported", f"args.{name} is supported from {low:g} to {high:g} only")
            given[name] = value
        return given

    def tools(self, args: Arguments) -> tuple[list[dict[str, Any]], str | None, str | None]:
        """Read the tools, the choice between them, and the name of the tool that must be called."""
        choice = args.values.get("tool_choice")
        if not self.claims["supports_tools"]:
            for name in ("tools", "tool_choice"):
                if args.values.get(name) not in (None, [], "auto", "none"):
                    raise WireError("NotSupported", f"args.{name} is not supported")
        tools = [read_tool(tool) for tool in args.objects("tools")]
        if not tools:
            if choice not in (None, "auto", "none"):
                raise args.invalid("tool_choice", "must be auto or none if no tools are given")
            return [], None, None
        if isinstance(choice, Mapping):
            name = read_function(Arguments(choice, "args.tool_choice")).filled("name")
            if name not in [tool["function"]["name"] for tool in tools]:
                raise args.invalid("tool_choice", "must name one of the tools")
            return tools, None, name
        if choice not in (None, "auto", "none", "required"):
            raise args.invalid("tool_choice", "must be auto, none, required or an object")
        return tools, choice, None

    async def check_length(self, args: Arguments, prompt: Prompt) -> None:
        """Refuse a prompt that is too long. A token has at least one byte, so short prompts need no count."""
        text, most = "\n".join(message["content"] for message in prompt.messages), self.provider.context_length
        if len(text.encode("utf-8", "replace")) <= most:
            return
        tokens = await self.provider.count_tokens(prompt.model, text)
        if tokens > most:
            limits = {"max_context_length": most, "provided_tokens": tokens}
            rule = "exceed the context length"
            raise args.invalid("messages", rule, error="PromptTooLong", model=prompt.model, **limits)


def tool_calls(reply: Reply) -> dict[str, Any]:
    """The member `tool_calls` of an answer, if there is any call."""
    return {"tool_calls": reply.tool_calls} if reply.tool_calls else {}


def read_message(message: Arguments) -> dict[str, Any]:
    """Read a message; absent members are left out."""
    role = message.text("role")
    if role not in ROLES:
        raise message.invalid("role", f"must be one of {', '.join(ROLES)}")
    optional = {
        "name": message.optional_text("name"),
        "tool_call_id": message.optional_text("tool_call_id"),
        "tool_calls": [read_tool_call(each) for each in message.objects("tool_calls")] or None,
    }
    return {"role": role, "content": message.text("content"), **present(optional)}


def read_tool_call(call: Arguments) -> dict[str, Any]:
    """Read a call of a tool in a message of the assistant."""
    function = read_function(call)
    called = {"name": function.filled("name"), "arguments": function.text("arguments")}
    return {"id": call.filled("id"), "type": "function", "function": called}


def read_tool(tool: Arguments) -> dict[str, Any]:
    """Read the definition of a tool."""
    function = read_function(tool)
    described = {"name": function.filled("name"), "description": function.optional_text("description")}
    parameters = dict(function.object("parameters"))
    return {"type": "function", "function": {**present(described), "parameters": parameters}}


def read_function(holder: Arguments) -> Arguments:
    """Read the member `function` of a tool, of a call, or of a choice."""
    if holder.text("type") != "function":
        raise holder.invalid("type", "must be function")
    return Arguments(holder.object("function", required=True), f"{holder.path}.function")


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
