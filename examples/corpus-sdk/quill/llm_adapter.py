"""An LLM adapter as a careful author builds it on the published SDK, over a service that speaks JSON.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from corpus_sdk.llm import llm_base as sdk

from .authoring import CheckedDeadline, Outcome, Provider, Taxonomy
from .service import Service

SERVER, VERSION, FAMILY = "quill", "1.4.0", "quill"
TAXONOMY = Taxonomy(sdk)


class QuillAdapter(sdk.BaseLLMAdapter):
    """The hooks of the SDK's base adapter over a service.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    A requested model is a caller's text and no metrics label.
    """

    def __init__(self, metrics: sdk.MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(
            metrics=metrics,
            mode="thin",
            deadline_policy=CheckedDeadline(sdk.SimpleDeadline(), TAXONOMY),
            tag_model_in_metrics=False,
        )
        self._service = Service("llm", TAXONOMY, provider)

    async def _do_capabilities(self) -> sdk.LLMCapabilities:
        stated = await self._service.ask("capabilities", {}, None)
        return sdk.LLMCapabilities(
            server=SERVER,
            version=VERSION,
            model_family=FAMILY,
            max_context_length=stated["limits"]["max_context_length"],
            supports_tools=True,
            supports_tool_choice=True,
            max_tool_calls_per_turn=1,
            supports_multi_tenant=True,
            supported_models=tuple(model["name"] for model in stated["models"]),
        )

    async def _do_health(self, *, ctx: sdk.OperationContext | None = None) -> Mapping[str, Any]:
        report = await self._service.ask("health", {}, ctx)
        if not report["ok"]:
            raise sdk.Unavailable("the service is down")
        return {**report, "server": SERVER, "version": VERSION}

    async def _do_complete(self, *, ctx: sdk.OperationContext | None = None, **request: Any) -> sdk.LLMCompletion:
        reply = await self._service.ask("complete", request, ctx)
        usage = sdk.TokenUsage(**reply["usage"])
        return sdk.LLMCompletion(reply["text"], reply["model"], FAMILY, usage, reply["finish_reason"], calls(reply))

    async def _do_stream(
        self, *, ctx: sdk.OperationContext | None = None, **request: Any
    ) -> AsyncIterator[sdk.LLMChunk]:
        with Outcome(self._metrics, "llm", "stream") as outcome:
            async for chunk in self._service.stream("stream", request, ctx):
                if chunk["is_final"]:
                    outcome.finish()
                usage = sdk.TokenUsage(**chunk["usage_so_far"]) if "usage_so_far" in chunk else None
                yield sdk.LLMChunk(chunk["text"], chunk["is_final"], chunk.get("model"), usage, calls(chunk))

    async def _do_count_tokens(
        self, text: str, *, model: str | None = None, ctx: sdk.OperationContext | None = None
    ) -> int:
        counted = await self._service.ask("count_tokens", {"text": text, "model": model}, ctx)
        return int(counted["tokens"])


def calls(reply: Mapping[str, Any]) -> list[sdk.ToolCall]:
    """The calls of tools in a reply."""
    return [
        sdk.ToolCall(each["id"], each["type"], sdk.ToolCallFunction(**each["function"]))
        for each in reply.get("tool_calls", ())
    ]
