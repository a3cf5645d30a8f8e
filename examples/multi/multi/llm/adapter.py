"""The operations of `llm` (SPECIFICATION 8): arguments are read and checked here, `provider.py` does the work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..arguments import Arguments
from ..errors import WireError
from ..wire import Call, Metrics, WireHandler
from .provider import Prompt, Provider

ROLES = ("system", "user", "assistant", "tool")


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "llm"
    unary = ("capabilities", "complete", "count_tokens", "health")
    streams = ("stream",)
    kinds: Mapping[str, str] = {"content_filtered": "ContentFiltered", "overloaded": "ModelOverloaded"}

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def aclose(self) -> None:
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """EDIT: what you offer. What is claimed is tested, and what is denied is not applicable."""
        return {
            "server": "multi-llm",
            "version": "0.1.0",
            "protocol": "llm/v1.0",
            "supported_models": list(self.provider.models),
            "max_context_length": self.provider.context_length,
            "supports_streaming": True,
            "supports_roles": True,
            "supports_system_message": True,
            "supports_count_tokens": True,
            "concurrency": 64,  # EDIT: how many calls your provider takes at once, and in a second
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

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "multi-llm", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    async def complete(self, call: Call) -> dict[str, Any]:
        prompt = self.prompt(call.args)
        reply = await self.provider.complete(prompt)
        return {
            "text": reply.text,
            "model": prompt.model,
            "usage": self.usage(prompt, reply.text),
            "finish_reason": reply.finish_reason,
        }

    async def stream(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        prompt = self.prompt(call.args)
        text = ""
        async for piece in self.provider.stream(prompt):
            text += piece
            yield {"text": piece, "is_final": False, "model": prompt.model}
        yield {"text": "", "is_final": True, "model": prompt.model, "usage_so_far": self.usage(prompt, text)}

    async def count_tokens(self, call: Call) -> dict[str, int]:
        self.model(call.args)
        return {"tokens": self.provider.count_tokens(call.args.text("text"))}

    def prompt(self, args: Arguments) -> Prompt:
        """The arguments of `complete` and `stream`."""
        for name in ("tools", "tool_choice"):
            if args.values.get(name) not in (None, [], "auto", "none"):
                raise WireError("NotSupported", f"args.{name} is not supported")
        system = args.optional_text("system_message")
        messages = [] if system is None else [{"role": "system", "content": system}]
        messages += [self.message(message) for message in args.objects("messages", required=True)]
        prompt = Prompt(
            model=self.model(args),
            messages=messages,
            max_tokens=args.integer("max_tokens", 0),
            stop_sequences=args.list_of("a string", "stop_sequences"),
            sampling={
                "temperature": args.number("temperature", 0, 2),
                "top_p": args.number("top_p", 0, 1),
                "frequency_penalty": args.number("frequency_penalty", -2, 2),
                "presence_penalty": args.number("presence_penalty", -2, 2),
            },
        )
        if prompt.sampling["top_p"] == 0:
            raise args.invalid("top_p", "must be above 0")
        limits = {"max_context_length": self.provider.context_length, "provided_tokens": self.prompt_tokens(prompt)}
        if limits["provided_tokens"] > limits["max_context_length"]:
            rule = "exceed the context length"
            raise args.invalid("messages", rule, error="PromptTooLong", model=prompt.model, **limits)
        return prompt

    def message(self, message: Arguments) -> dict[str, str]:
        role = message.text("role")
        if role not in ROLES:
            raise message.invalid("role", f"must be one of {', '.join(ROLES)}")
        message.optional_text("name")
        message.optional_text("tool_call_id")
        message.list_of("an object", "tool_calls")
        return {"role": role, "content": message.text("content")}

    def model(self, args: Arguments) -> str:
        """The model that was asked for, or the first one."""
        model = args.optional_text("model") or self.provider.models[0]
        if model not in self.provider.models:
            raise args.invalid("model", "is not available", error="ModelNotAvailable", model=model)
        return model

    def prompt_tokens(self, prompt: Prompt) -> int:
        return sum(self.provider.count_tokens(message["content"]) for message in prompt.messages)

    def usage(self, prompt: Prompt, text: str) -> dict[str, int]:
        """EDIT: what your provider says it used, if it says so."""
        used, made = self.prompt_tokens(prompt), self.provider.count_tokens(text)
        return {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made}
