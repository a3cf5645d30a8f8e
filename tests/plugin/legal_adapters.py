"""Legal adapters of another shape than the reference: each changes one thing that no document forbids."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

Envelope = Mapping[str, Any]

OPTIONAL = (
    "model",
    "max_tokens",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop_sequences",
    "system_message",
    "tool_choice",
)


class NoModelList(ReferenceLLM):
    """Lists no models: any name will do."""

    def model_facts(self, model: str) -> dict[str, Any]:
        return {}

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {key: value for key, value in stated.items() if key not in ("models", "limits")}

    def read_model(self, call: Call) -> str:
        return call.args.text("model") or "whatever"


class NoStreaming(ReferenceLLM):
    """Offers no streams and says so, at the entry point that it has all the same."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_streaming": False}


class NoCounting(ReferenceLLM):
    """Counts no tokens and says so."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_count_tokens": False}


class NoTools(ReferenceLLM):
    """Calls no tools and says so."""

    features: Mapping[str, bool] = {
        **ReferenceLLM.features,
        "supports_tools": False,
        "supports_tool_choice": False,
        "supports_parallel_tool_calls": False,
    }


class NothingOptional(ReferenceLLM):
    """Denies everything that can be denied."""

    features: Mapping[str, bool] = dict.fromkeys(ReferenceLLM.features, False)


class Minimal(ReferenceLLM):
    """Capabilities of three words; everything else is to be found out."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {key: stated[key] for key in ("server", "version", "protocol")}


class MinimalWithoutOptions(Minimal):
    """Says three words and does nothing optional: unclaimed and NOT_SUPPORTED."""

    features: Mapping[str, bool] = {
        **ReferenceLLM.features,
        "supports_streaming": False,
        "supports_count_tokens": False,
        "supports_tools": False,
        "supports_tool_choice": False,
        "supports_caching": False,
    }


class NestedCapabilities(ReferenceLLM):
    """States flags under `features` and `supported_models` as plain names."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        named = {key: stated[key] for key in ("server", "version", "protocol", "limits")}
        flags = {key: value for key, value in stated.items() if isinstance(value, bool)}
        return {**named, "features": flags, "supported_models": list(self.models)}


class NullCapabilities(ReferenceLLM):
    """States null for what it does not know."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        unknown = ("extensions", "sampling", "max_tool_calls_per_turn", "concurrency", "rate_limit_qps")
        return {**stated, **dict.fromkeys(unknown)}


class HealthIsAnError(ReferenceLLM):
    """Answers `health` with an error envelope while its backend is down."""

    async def health(self, call: Call) -> dict[str, Any]:
        report = await super().health(call)
        if not report["ok"]:
            raise AdapterError("Unavailable", "The backend is down", retry_after_ms=1000)
        return report


class BareHealth(ReferenceLLM):
    """Reports nothing but `ok`, and something of its own."""

    async def health(self, call: Call) -> dict[str, Any]:
        return {"ok": (await super().health(call))["ok"], "region": "eu", "models": {}}


class OneFrame(ReferenceLLM):
    """Streams everything in one frame."""

    tokens_in_chunk = 10_000


class KeepAlive(ReferenceLLM):
    """Sends chunks without text between the others."""

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        async for chunk in super().stream(call):
            yield {"text": "", "is_final": False}
            yield {"text": "", "is_final": False}
            yield chunk


class EmptyLastChunk(ReferenceLLM):
    """Ends a stream with a chunk without text."""

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        async for chunk in super().stream(call):
            yield {**chunk, "is_final": False}
        yield {"text": "", "is_final": True}


class BareChunks(ReferenceLLM):
    """Chunks of the two required keys."""

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        async for chunk in super().stream(call):
            yield {key: chunk[key] for key in ("text", "is_final", "tool_calls") if key in chunk}


class TinyWindow(ReferenceLLM):
    """A model that reads 16 tokens."""

    context_window = 16


class SmallWindow(ReferenceLLM):
    """A model that reads 64 tokens."""

    context_window = 64


class HugeWindow(ReferenceLLM):
    """A model whose window no test overruns."""

    context_window = 10_000_000


class OneModel(ReferenceLLM):
    """A single model of an unusual name."""

    models = ("vendor/the-model:7b@2024",)


class ManyModels(ReferenceLLM):
    """A long catalogue."""

    models = tuple(f"model-{number}" for number in range(100))


def counting(shape: Callable[[int], Any]) -> type[ReferenceLLM]:
    """An adapter that gives a token count the given shape."""

    class Counting(ReferenceLLM):
        async def count_tokens(self, call: Call) -> Any:
            return shape((await super().count_tokens(call))["tokens"])

    return Counting


BareCount = counting(int)
CountAsCount = counting(lambda number: {"count": number, "model": "x"})
CountAsTotal = counting(lambda number: {"total_tokens": number})
CountAsFloat = counting(float)


class NullsInErrors(ReferenceLLM):
    """Says null where an error has nothing to say."""

    async def handle(self, envelope: Envelope) -> dict[str, Any]:
        answer = await super().handle(envelope)
        return answer if answer["ok"] else {**answer, "details": answer["details"] or None}


class ParentClasses(ReferenceLLM):
    """Knows the classes of the taxonomy and none of its subtypes; unknown models are NOT_SUPPORTED."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        answer = super().failure(call, fault)
        error = fault if isinstance(fault, AdapterError) else self.map_fault(fault)
        return {**answer, "error": error.kind.family, "code": _upper(error.kind.family)}


class TerseErrors(ReferenceLLM):
    """Errors without details and without advice."""

    def details(self, error: AdapterError, tenant_hash: str | None) -> dict[str, Any]:
        return {}


class WholeMilliseconds(ReferenceLLM):
    """Measures in whole milliseconds."""

    async def handle(self, envelope: Envelope) -> dict[str, Any]:
        answer = await super().handle(envelope)
        return {**answer, "ms": int(answer["ms"])}


class StrictArguments(ReferenceLLM):
    """Refuses unknown keys in `args` and at the top, as closed schemas may."""

    known = frozenset({"messages", "text", "tools", *OPTIONAL})

    def admit(self, call: Call, envelope: Envelope) -> None:
        super().admit(call, envelope)
        if set(envelope) - {"op", "ctx", "args"} or set(call.args.values) - self.known:
            raise AdapterError("BadRequest", "The request has unknown fields")


class PlainIterator(ReferenceLLM):
    """Streams through an object that has nothing but `__anext__`."""

    def handle_stream(self, envelope: Envelope) -> AsyncIterator[dict[str, Any]]:  # type: ignore[override]
        return _Bare(super().handle_stream(envelope))


class _Bare:
    def __init__(self, frames: AsyncIterator[dict[str, Any]]) -> None:
        self.frames = frames

    def __aiter__(self) -> _Bare:
        return self

    async def __anext__(self) -> dict[str, Any]:
        return await self.frames.__anext__()


class OtherLabels(ReferenceLLM):
    """Names operations with their component, and outcomes by wire code."""

    def observe(self, call: Call, outcome: str) -> None:
        if self.metrics is not None:
            code = outcome if outcome == "OK" else _upper(outcome)
            op = call.operation.op if call.operation else call.op
            self.metrics.observe(
                component=self.component, op=op, ms=call.ms, ok=outcome == "OK", code=code, extra=call.labels
            )


class NullOptionals(ReferenceLLM):
    """Null for the optional keys of a completion and a chunk."""

    def completion(self, prompt: Any, reply: Any) -> dict[str, Any]:
        return {"tool_calls": [], **super().completion(prompt, reply)}

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        async for chunk in super().stream(call):
            yield {**chunk, "usage_so_far": None} if not chunk["is_final"] else chunk


def _upper(name: str) -> str:
    return "".join(f"_{char}" if char.isupper() else char.upper() for char in name).lstrip("_")


class OpenSet(NoModelList, OneFrame, BareCount, BareHealth, WholeMilliseconds):
    """Lists no models, streams one frame, counts as a bare integer."""


class Unary(NoStreaming, NullCapabilities, NullsInErrors):
    """No streams, and nulls wherever they may stand."""


class Chatty(NoCounting, SmallWindow, KeepAlive, StrictArguments):
    """No token counts, a small window, keep-alive frames, closed arguments."""


class Wordy(NoTools, EmptyLastChunk, OneModel, CountAsCount, TerseErrors):
    """No tools, an empty last chunk, one oddly named model, errors without details."""


class Silent(Minimal, HealthIsAnError, BareChunks, CountAsTotal):
    """Says next to nothing of itself, and can do everything."""


class Cramped(TinyWindow, OneFrame):
    """Reads 16 tokens and answers in one frame."""


class Nested(NestedCapabilities, PlainIterator, CountAsFloat, OtherLabels, HugeWindow):
    """Capabilities nested, streams without `aclose`, labels in the other documented spelling."""


class Coarse(ManyModels, ParentClasses, NullOptionals):
    """A long catalogue of models, and no subtypes on the wire."""


LEGAL = (OpenSet, Unary, Chatty, Wordy, NothingOptional, Silent, MinimalWithoutOptions, Cramped, Nested, Coarse)
