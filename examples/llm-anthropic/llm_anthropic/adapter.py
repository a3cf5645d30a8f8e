"""The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, `provider.py` asks Anthropic."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Prompt, Provider, Reply
from .wire import Call, Metrics, WireHandler

ROLES = ("system", "user", "assistant", "tool")
SAMPLING = (("temperature", 0, 2), ("top_p", 0, 1), ("frequency_penalty", -2, 2), ("presence_penalty", -2, 2))
ONE_CALL = {"disable_parallel_tool_use": True}
CHOICES = {"auto": {"type": "auto", **ONE_CALL}, "required": {"type": "any", **ONE_CALL}, "none": {"type": "none"}}


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "llm"
    unary = ("capabilities", "complete", "count_tokens", "health")
    streams = ("stream",)
    kinds: Mapping[str, str] = {"content_filtered": "ContentFiltered", "overloaded_error": "ModelOverloaded"}

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def aclose(self) -> None:
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "llm-anthropic",
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
        report = {"server": "llm-anthropic", "version": "0.1.0"}
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
        self.check_sampling(args)
        system = [args.optional_text("system_message") or ""]
        messages: list[dict[str, Any]] = []
        for message in args.objects("messages", required=True):
            read = self.message(message)
            if read["role"] == "system":
                system.append(read["content"])
            else:
                messages.append(read)
        options = {
            "max_tokens": args.integer("max_tokens", 1) or self.provider.usual_max_tokens,
            "stop_sequences": self.stops(args) or None,
            "system": "\n\n".join(filter(None, system)) or None,
            **self.tools(args),
        }
        given = {name: value for name, value in options.items() if value is not None}
        prompt = Prompt(self.model(args), messages, given)
        await self.check_length(args, prompt)
        return prompt

    def check_sampling(self, args: Arguments) -> None:
        """Anthropic's models have no such parameters any more: what is valid is not supported."""
        for name, low, high in SAMPLING:
            value = args.number(name, low, high)
            if name == "top_p" and value == 0:
                raise args.invalid(name, "must be above 0")
            if value is not None:
                raise WireError("NotSupported", f"args.{name} is not supported")

    async def check_length(self, args: Arguments, prompt: Prompt) -> None:
        """Count only what may be too long: a token has at least one byte."""
        texts = [prompt.options.get("system", ""), *(text_of(message["content"]) for message in prompt.messages)]
        text, most = "\n".join(texts), self.provider.context_length
        if len(text.encode("utf-8", "replace")) <= most:
            return
        tokens = await self.provider.count_tokens(prompt.model, text)
        if tokens > most:
            limits = {"max_context_length": most, "provided_tokens": tokens}
            rule = "exceed the context length"
            raise args.invalid("messages", rule, error="PromptTooLong", model=prompt.model, **limits)

    def stops(self, args: Arguments) -> list[str]:
        stops = [stop for stop in args.list_of("a string", "stop_sequences") if stop]
        if not all(map(str.strip, stops)):
            raise args.invalid("stop_sequences", "must not be white space alone")
        return stops

    def message(self, message: Arguments) -> dict[str, Any]:
        """A message as Anthropic takes it: the answer of a tool is a block of the user's, a call one of the assistant's."""
        role, text = message.text("role"), message.text("content")
        message.optional_text("name")
        answers, calls = message.optional_text("tool_call_id"), message.objects("tool_calls")
        blocks = [self.tool_call(each) for each in calls]
        if role not in ROLES:
            raise message.invalid("role", f"must be one of {', '.join(ROLES)}")
        if role == "tool":
            block = {"type": "tool_result", "tool_use_id": answers or "", "content": text}
            return {"role": "user", "content": [block]}
        if blocks:
            return {"role": role, "content": [*([{"type": "text", "text": text}] if text else []), *blocks]}
        return {"role": role, "content": text}

    def tool_call(self, call: Arguments) -> dict[str, Any]:
        function = self.function(call)
        try:
            given = json.loads(function.text("arguments"))
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise function.invalid("arguments", "must be the text of a JSON object")
        return {"type": "tool_use", "id": call.filled("id"), "name": function.filled("name"), "input": given}

    def tools(self, args: Arguments) -> dict[str, Any]:
        """The tools and the choice between them, in Anthropic's words."""
        tools = [self.tool(tool) for tool in args.objects("tools")]
        choice = args.values.get("tool_choice") or "auto"
        if not tools:
            if choice not in ("auto", "none"):
                raise args.invalid("tool_choice", "must be auto or none where no tools are given")
            return {}
        if isinstance(choice, Mapping):
            name = self.function(Arguments(choice, "args.tool_choice")).filled("name")
            if name not in [tool["name"] for tool in tools]:
                raise args.invalid("tool_choice", "must name one of the tools")
            return {"tools": tools, "tool_choice": {"type": "tool", "name": name, **ONE_CALL}}
        if not isinstance(choice, str) or choice not in CHOICES:
            raise args.invalid("tool_choice", "must be auto, none, required or an object")
        return {"tools": tools, "tool_choice": CHOICES[choice]}

    def tool(self, tool: Arguments) -> dict[str, Any]:
        function = self.function(tool)
        described = {"name": function.filled("name"), "description": function.optional_text("description")}
        given = {name: value for name, value in described.items() if value is not None}
        return {**given, "input_schema": {"type": "object", **function.object("parameters")}}

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


def text_of(content: Any) -> str:
    """The words in the content of a message."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or block.get("content") or block.get("input")) for block in content)
