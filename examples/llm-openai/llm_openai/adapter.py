"""The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, `provider.py` asks OpenAI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from .arguments import Arguments
from .provider import Prompt, Provider, Reply
from .wire import Call, Metrics, WireHandler

ROLES = ("system", "user", "assistant", "tool")


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "llm"
    unary = ("capabilities", "complete", "count_tokens", "health")
    streams = ("stream",)
    kinds: Mapping[str, str] = {"content_filter": "ContentFiltered", "server_is_overloaded": "ModelOverloaded"}

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def aclose(self) -> None:
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "llm-openai",
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
            "supports_parallel_tool_calls": False,
            "supports_tool_choice": True,
            "supports_multi_tenant": False,
            "supports_caching": False,
            "idempotent_writes": False,
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "llm-openai", "version": "0.1.0"}
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
            "max_completion_tokens": args.integer("max_tokens", 1),
            "stop": self.stops(args),
            "temperature": args.number("temperature", 0, 2),
            "top_p": args.number("top_p", 0, 1),
            "frequency_penalty": args.number("frequency_penalty", -2, 2),
            "presence_penalty": args.number("presence_penalty", -2, 2),
            **self.tools(args),
        }
        if options["top_p"] == 0:
            raise args.invalid("top_p", "must be above 0")
        given = {name: value for name, value in options.items() if value is not None}
        prompt = Prompt(self.model(args), messages, given)
        await self.check_length(args, prompt)
        return prompt

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
        role = message.text("role")
        if role not in ROLES:
            raise message.invalid("role", f"must be one of {', '.join(ROLES)}")
        optional = {
            "name": None if role == "tool" else message.optional_text("name"),
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
        """The tools and the choice between them, as OpenAI takes them: as the protocol has them."""
        tools = [self.tool(tool) for tool in args.objects("tools")]
        choice = args.values.get("tool_choice")
        if not tools:
            if choice not in (None, "auto", "none"):
                raise args.invalid("tool_choice", "must be auto or none where no tools are given")
            return {}
        if isinstance(choice, Mapping):
            name = self.function(Arguments(choice, "args.tool_choice")).filled("name")
            if name not in [tool["function"]["name"] for tool in tools]:
                raise args.invalid("tool_choice", "must name one of the tools")
            choice = {"type": "function", "function": {"name": name}}
        elif choice not in (None, "auto", "none", "required"):
            raise args.invalid("tool_choice", "must be auto, none, required or an object")
        return {"tools": tools, "tool_choice": choice, "parallel_tool_calls": False}

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
