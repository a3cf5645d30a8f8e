"""Legal adapters of providers that take less than the documents name, or count otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import ReferenceAdapter, digest
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector

UNSIGNED = ("top_p", "frequency_penalty", "presence_penalty")
"""Sampling parameters that are in no signature of `stream` (SPECIFICATION 8.3)."""


class Unstated(ReferenceLLM):
    """States no ranges of sampling parameters."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {key: value for key, value in (await super().capabilities(call)).items() if key != "sampling"}


class StopsRefused(ReferenceLLM):
    """Refuses stop sequences."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        if call.args.values.get("stop_sequences") is not None:
            raise call.args.invalid("stop_sequences", "NOT_TAKEN", "are not taken")
        return []


class StopsIgnored(ReferenceLLM):
    """Does not look at stop sequences, and gives the same answer with and without them."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        return []

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        key = super().cache_key(call, prompt)
        read = {name: value for name, value in call.args.values.items() if name != "stop_sequences"}
        return key and digest([call.tenant_hash, prompt.model, read])


class PlainStreams(ReferenceLLM):
    """Refuses `top_p`, penalties and stop sequences in a stream."""

    def read_sampling(self, call: Call) -> None:
        for name in (*UNSIGNED, "stop_sequences"):
            if call.streaming and call.args.values.get(name) is not None:
                raise call.args.invalid(name, "NOT_TAKEN", "is not taken by streams")
        super().read_sampling(call)


class PlainStreamsIgnored(ReferenceLLM):
    """Does not look at `top_p`, penalties and stop sequences in a stream, be they numbers or not."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        section = super().read_section(envelope, name)
        if envelope.get("op") != "llm.stream":
            return section
        read = {key: value for key, value in section.values.items() if key not in (*UNSIGNED, "stop_sequences")}
        return Fields(read, name)

    def check_number(self, value: float, path: str) -> None:
        if path.removeprefix("args.") not in UNSIGNED:
            super().check_number(value, path)


class PositivePenalties(Unstated):
    """Takes penalties from 0 to 1 only, and says NOT_SUPPORTED to others, as one vendor's adapter does."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        for name in ("frequency_penalty", "presence_penalty"):
            if not 0 <= (call.args.number(name) or 0) <= 1:
                raise AdapterError("NotSupported", "The provider takes penalties from 0 to 1")


class CoolOnly(Unstated):
    """Takes temperatures above 0 and up to 1 only, and refuses others as bad requests."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        if not 0 < (call.args.number("temperature") or 0.5) <= 1 or call.args.values.get("temperature") == 0:
            raise call.args.invalid("temperature", "NOT_TAKEN", "must lie between 0 and 1")


class CoolAndStated(ReferenceLLM):
    """States the temperatures and the `top_p` that it takes, and takes no others."""

    ranges: Mapping[str, tuple[float, float]] = {**ReferenceLLM.ranges, "temperature": (0.25, 1), "top_p": (0.5, 0.75)}


class NoTemperatureInStreams(Unstated):
    """Refuses a temperature of a stream."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        if call.streaming and call.args.values.get("temperature") is not None:
            raise AdapterError("NotSupported", "Streams have no temperature")


class OneOfTwo(ReferenceLLM):
    """Takes a temperature or a `top_p`, and not both."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        if None not in (call.args.number("temperature"), call.args.number("top_p")):
            raise call.args.invalid("top_p", "NOT_TAKEN", "must not come with a temperature")


class LongAnswers(ReferenceLLM):
    """Refuses a `max_tokens` below 16."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = super().read_max_tokens(call)
        if limit is not None and limit < 16:
            raise call.args.invalid("max_tokens", "OUT_OF_RANGE", "must be at least 16")
        return limit


class ChoiceRefused(ReferenceLLM):
    """Has tools, does not claim a `tool_choice`, and refuses any."""

    features: Mapping[str, bool] = {
        name: value for name, value in ReferenceLLM.features.items() if name != "supports_tool_choice"
    }

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        if call.args.values.get("tool_choice") is not None:
            raise call.args.invalid("tool_choice", "NOT_TAKEN", "is not taken")
        return None


class ToolsUnclaimed(ReferenceLLM):
    """Claims no tools, takes them in a completion, and neither their results nor a stream with them."""

    features: Mapping[str, bool] = {
        name: value for name, value in ReferenceLLM.features.items() if not name.startswith("supports_tool")
    }

    def model_facts(self, model: str) -> dict[str, Any]:
        return {"name": model, "family": "reference", "context_window": self.context_window}

    def read_tools(self, call: Call) -> list[str]:
        if call.streaming and call.args.values.get("tools"):
            raise call.args.invalid("tools", "NOT_TAKEN", "are not taken by streams")
        return super().read_tools(call)

    def read_message(self, message: Fields) -> list[str]:
        if message.values.get("role") == "tool":
            raise message.invalid("role", "NOT_TAKEN", "must be system, user or assistant")
        return super().read_message(message)


class StrictTools(ReferenceLLM):
    """Refuses keys that it does not know in a tool, its function and their parameters, and in earlier calls."""

    def read_tool(self, tool: Fields) -> str:
        name = super().read_tool(tool)
        parameters = tool.values["function"].get("parameters", {})
        self.known(tool, {"type", "function"})
        self.known(tool.member("function"), {"name", "description", "parameters"})
        for value in parameters.get("properties", {}).values():
            self.known(Fields(value, tool.path), {"type", "description"})
        return name

    def read_tool_call(self, tool_call: Fields) -> str:
        text = super().read_tool_call(tool_call)
        self.known(tool_call, {"id", "type", "function"})
        return text

    def known(self, fields: Fields, keys: set[str]) -> None:
        if set(fields.values) - keys:
            raise AdapterError("NotSupported", "The provider does not know these keys")


class ModelUnavailable(ReferenceLLM):
    """Calls a model that it does not list unavailable."""

    def unknown_model(self, model: str) -> AdapterError:
        return AdapterError("Unavailable", "The model is not loaded")


class ModelNotSupported(ReferenceLLM):
    """Does not support a model that it does not list."""

    def unknown_model(self, model: str) -> AdapterError:
        return AdapterError("NotSupported", "The model is not offered")


class EmbeddingModelUnavailable(ReferenceEmbedding):
    """Calls a model that it does not list unavailable."""

    def unknown_model(self, model: str) -> AdapterError:
        return AdapterError("Unavailable", "The model is not loaded")

    def read_model(self, call: Call) -> str:
        if call.args.values.get("model") == "":
            raise self.unknown_model("")
        return super().read_model(call)


class EmbeddingModelNotSupported(ReferenceEmbedding):
    """Does not support a model that it does not list."""

    def unknown_model(self, model: str) -> AdapterError:
        return AdapterError("NotSupported", "The model is not offered")


class LimitOfTokens(ReferenceEmbedding):
    """Counts `max_text_length` in tokens."""

    max_text_length = 64

    def cut(self, text: str) -> str:
        return "".join(self.split(text)[: self.max_text_length])

    def too_long(self, length: int, path: str) -> AdapterError:
        return super().too_long(max(self.max_text_length + 1, length // 4), path)


class Sent(str):
    """A text that was cut, and the one that was sent."""

    def __new__(cls, text: str, sent: str) -> Sent:
        made = super().__new__(cls, text)
        made.sent = sent
        return made

    sent: str


class LimitOfTokensUntold(LimitOfTokens):
    """Counts `max_text_length` in tokens, and gives back the text that was sent."""

    def job(self, text: str, path: str, options: Options) -> Job:
        job = super().job(text, path, options)
        return replace(job, text=Sent(job.text, text))

    def result(self, job: Job, embedding: dict[str, Any]) -> dict[str, Any]:
        return {**super().result(job, embedding), "text": getattr(job.text, "sent", job.text)}

    def embedding(self, job: Job) -> dict[str, Any]:
        return {**super().embedding(job), "text": getattr(job.text, "sent", job.text)}

    def cache_key(self, call: Call, job: Job) -> str | None:
        key = super().cache_key(call, job)
        return key and digest([key, getattr(job.text, "sent", job.text)])


class LimitOfTokensDenied(LimitOfTokens):
    """Counts `max_text_length` in tokens, and cuts nothing."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_truncation": False}


class LimitOfBytes(ReferenceEmbedding):
    """Counts `max_text_length` in bytes."""

    max_text_length = 64

    def cut(self, text: str) -> str:
        return text.encode()[: self.max_text_length].decode(errors="ignore")


class UsageLeftOut(ReferenceLLM):
    """Counts no tokens, says so of `count_tokens`, and leaves `usage` out of completions, which is not legal."""

    features: Mapping[str, bool] = {
        name: value for name, value in ReferenceLLM.features.items() if name != "supports_count_tokens"
    }

    async def count_tokens(self, call: Call) -> dict[str, int]:
        raise AdapterError("NotSupported", "Tokens are not counted")

    def completion(self, prompt: Prompt, reply: Reply) -> dict[str, Any]:
        return {key: value for key, value in super().completion(prompt, reply).items() if key != "usage"}


class ClosedContext(ReferenceAdapter):
    """Refuses unknown keys in `ctx`, as the schemas of edition 1.0.0 do."""

    known = ("request_id", "idempotency_key", "deadline_ms", "traceparent", "tenant", "attrs")

    def read_context(self, call: Call, ctx: Fields) -> None:
        if unknown := set(ctx.values) - set(self.known):
            raise ctx.invalid(min(map(str, unknown)), "UNKNOWN", "is not a key of a context")
        super().read_context(call, ctx)


class ClosedLLM(ClosedContext, ReferenceLLM):
    """An LLM with a closed context."""


class ClosedEmbedding(ClosedContext, ReferenceEmbedding):
    """Embeddings with a closed context."""


class ClosedVector(ClosedContext, ReferenceVector):
    """A vector store with a closed context."""


class ClosedGraph(ClosedContext, ReferenceGraph):
    """A graph with a closed context."""


CLOSED: tuple[Callable[..., Any], ...] = (ClosedLLM, ClosedEmbedding, ClosedVector, ClosedGraph)
"""Adapters that are legal in a run that is pinned to edition 1.0.0 (R134)."""

SCOPES: dict[Callable[..., Any], str] = {
    StopsRefused: "LLM-*,COM-NUM-*,COM-LEAK-*",
    StopsIgnored: "LLM-*",
    PlainStreams: "LLM-*,COM-NUM-*,COM-LEAK-*",
    PlainStreamsIgnored: "LLM-*,COM-NUM-*",
    PositivePenalties: "LLM-*,COM-NUM-*",
    CoolOnly: "LLM-*,COM-NUM-*,COM-CACHE-*",
    CoolAndStated: "LLM-*,COM-NUM-*,COM-CACHE-*",
    NoTemperatureInStreams: "LLM-*,COM-NUM-*,COM-CACHE-*",
    OneOfTwo: "LLM-*",
    LongAnswers: "LLM-*,COM-IDEM-*,COM-NUM-*",
    ChoiceRefused: "LLM-TOOLS-*,LLM-CACHE-*",
    ToolsUnclaimed: "LLM-TOOLS-*,LLM-MSG-*,COM-NUM-*,COM-LEAK-*",
    StrictTools: "LLM-TOOLS-*,COM-NUM-*",
    ModelUnavailable: "LLM-*,COM-OBS-13,COM-LEAK-*",
    ModelNotSupported: "LLM-*",
    EmbeddingModelUnavailable: "EMB-MODEL-*,EMB-ARGS-*,EMB-TOKENS-*,EMB-BATCH-*,COM-OBS-13",
    EmbeddingModelNotSupported: "EMB-MODEL-*,EMB-ARGS-*,EMB-TOKENS-*",
    LimitOfTokens: "EMB-*,COM-LEAK-*",
    LimitOfTokensUntold: "EMB-TRUNC-*,EMB-BATCH-*,EMB-CACHE-*",
    LimitOfTokensDenied: "EMB-*",
    LimitOfBytes: "EMB-*",
}
"""What the difference of each adapter bears on."""
