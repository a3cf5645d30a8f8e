"""The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, `provider.py` asks Cohere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Prompt, Provider, Reply
from .wire import Call, Metrics, WireHandler

ROLES = ("system", "user", "assistant", "tool")
CHOICES = {"required": "REQUIRED", "none": "NONE"}


@dataclass(frozen=True)
class Sampling:
    """A parameter: its name at Cohere, the range of the protocol, and the narrower one of Cohere."""

    name: str
    legal: tuple[float, float]
    offered: tuple[float, float]


SAMPLING = {
    "temperature": Sampling("temperature", (0, 2), (0, 1)),
    "top_p": Sampling("p", (0, 1), (0.01, 0.99)),
    "frequency_penalty": Sampling("frequency_penalty", (-2, 2), (0, 1)),
    "presence_penalty": Sampling("presence_penalty", (-2, 2), (0, 1)),
}


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "llm"
    unary = ("capabilities", "complete", "count_tokens", "health")
    streams = ("stream",)
    kinds: Mapping[str, str] = {"blocked": "ContentFiltered", "overloaded": "ModelOverloaded"}

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "llm-cohere",
            "version": "0.1.0",
            "protocol": "llm/v1.0",
            "supported_models": list(self.provider.models),
            "max_context_length": self.provider.context_length,
            "supports_streaming": True,
            "supports_roles": True,
            "supports_system_message": True,
            "supports_count_tokens": True,
            "concurrency": 64,
            "rate_limit_qps": 100,
            "supports_deadline": True,
            "supports_json_output": False,
            "supports_tools": True,
            "supports_parallel_tool_calls": True,
            "supports_tool_choice": True,
            "supports_multi_tenant": False,
            "supports_caching": False,
            "idempotent_writes": False,
            "sampling": {f"{name}_range": list(each.offered) for name, each in SAMPLING.items()},
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "llm-cohere", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    async def complete(self, call: Call) -> dict[str, Any]:
        prompt = await self.prompt(call.args)
        reply = await self.provider.complete(prompt)
        return {
            "text": reply.text,
            "model": prompt.model,
            "usage": reply.usage,
            "finish_reason": reply.finish_reason,
            **self.called(reply),
        }

    async def stream(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        prompt = await self.prompt(call.args)
        async with aclosing(self.provider.stream(prompt)) as parts:
            async for part in parts:
                chunk = {"text": part.text, "is_final": part.finish_reason is not None, "model": prompt.model}
                usage = {"usage_so_far": part.usage} if part.usage else {}
                yield {**chunk, **usage, **self.called(part)}

    async def count_tokens(self, call: Call) -> dict[str, int]:
        return {"tokens": await self.provider.count_tokens(self.model(call.args), call.args.text("text"))}

    def called(self, reply: Reply) -> dict[str, Any]:
        """The calls of tools, where there are any."""
        return {"tool_calls": reply.tool_calls} if reply.tool_calls else {}

    # Reading arguments

    async def prompt(self, args: Arguments) -> Prompt:
        """The arguments of `complete` and `stream`."""
        system = args.optional_text("system_message")
        messages = [] if system is None else [{"role": "system", "content": system}]
        messages += [self.message(message) for message in args.objects("messages", required=True)]
        options = {
            "max_tokens": args.integer("max_tokens", 1),
            "stop_sequences": self.stops(args),
            **{each.name: self.sampling(args, name, each) for name, each in SAMPLING.items()},
            **self.tools(args),
        }
        given = {name: value for name, value in options.items() if value is not None}
        prompt = Prompt(self.model(args), messages, given)
        await self.check_length(args, prompt)
        return prompt

    def sampling(self, args: Arguments, name: str, given: Sampling) -> float | None:
        """What the protocol allows and Cohere does not have is not supported."""
        value = args.number(name, *given.legal)
        if name == "top_p" and value == 0:
            raise args.invalid(name, "must be above 0")
        if value is not None and not given.offered[0] <= value <= given.offered[1]:
            low, high = given.offered
            raise WireError("NotSupported", f"args.{name} is supported from {low:g} to {high:g} only")
        return value

    async def check_length(self, args: Arguments, prompt: Prompt) -> None:
        """Count only what may be too long: a token has at least one byte."""
        text, most = "\n".join(message["content"] for message in prompt.messages), self.provider.context_length
        if len(text.encode("utf-8", "replace")) <= most:
            return
        tokens = await self.provider.count_tokens(prompt.model, text)
        if tokens > most:
            limits = {"max_context_length": most, "provided_tokens": tokens}
            rule = "exceed the context length"
            raise args.invalid("messages", rule, error="PromptTooLong", model=prompt.model, **limits)

    def stops(self, args: Arguments) -> list[str] | None:
        stops = [stop for stop in args.list_of("a string", "stop_sequences") if stop]
        if len(stops) > self.provider.most_stops:
            raise args.invalid("stop_sequences", f"must be at most {self.provider.most_stops}")
        return stops or None

    def message(self, message: Arguments) -> dict[str, Any]:
        """A message as Cohere takes it: it knows no names of speakers."""
        role = message.text("role")
        if role not in ROLES:
            raise message.invalid("role", f"must be one of {', '.join(ROLES)}")
        message.optional_text("name")
        optional = {
            "tool_call_id": message.optional_text("tool_call_id"),
            "tool_calls": [self.tool_call(each) for each in message.objects("tool_calls")] or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"role": role, "content": message.text("content"), **given}

    def tool_call(self, call: Arguments) -> dict[str, Any]:
        function = self.function(call)
        called = {"name": function.filled("name"), "arguments": function.text("arguments")}
        return {"id": call.filled("id"), "type": "function", "function": called}

    def tools(self, args: Arguments) -> dict[str, Any]:
        """The tools and the choice between them. Cohere takes no name: then only that tool is offered, and required."""
        tools = [self.tool(tool) for tool in args.objects("tools")]
        choice = args.values.get("tool_choice")
        if not tools:
            if choice not in (None, "auto", "none"):
                raise args.invalid("tool_choice", "must be auto or none where no tools are given")
            return {}
        if isinstance(choice, Mapping):
            name = self.function(Arguments(choice, "args.tool_choice")).filled("name")
            tools = [tool for tool in tools if tool["function"]["name"] == name]
            if not tools:
                raise args.invalid("tool_choice", "must name one of the tools")
            choice = "required"
        elif choice not in (None, "auto", *CHOICES):
            raise args.invalid("tool_choice", "must be auto, none, required or an object")
        return {"tools": tools, "tool_choice": CHOICES.get(choice)}

    def tool(self, tool: Arguments) -> dict[str, Any]:
        function = self.function(tool)
        described = {"name": function.filled("name"), "description": function.optional_text("description")}
        given = {name: value for name, value in described.items() if value is not None}
        return {"type": "function", "function": {**given, "parameters": dict(function.object("parameters"))}}

    def function(self, holder: Arguments) -> Arguments:
        """The member `function` of a tool, a call of one, or a choice."""
        if holder.text("type") != "function":
            raise holder.invalid("type", "must be function")
        return Arguments(holder.object("function", required=True), f"{holder.path}.function")

    def model(self, args: Arguments) -> str:
        """The model that was asked for, or the first one."""
        model = args.optional_text("model") or self.provider.models[0]
        if model not in self.provider.models:
            raise args.invalid("model", "is not available", error="ModelNotAvailable", model=model)
        return model
