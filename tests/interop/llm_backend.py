"""A small LLM backend in memory: its models, its failures as the SDK's exceptions, and its replies.

It stands where an author calls a model server; the adapter in `llm_adapter` puts the SDK around it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from corpus_sdk.llm.llm_base import (
    AuthError,
    BadRequest,
    LLMAdapterError,
    LLMChunk,
    ModelOverloaded,
    OperationContext,
    ResourceExhausted,
    TokenUsage,
    ToolCall,
    ToolCallFunction,
    TransientNetwork,
    Unavailable,
)

MODELS = ("quill-small", "quill-large")
CONTEXT_WINDOW = 4096
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


# -- replies ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """A request that was found sound; `function` is the definition of the tool that has to be called."""

    model: str
    prompt: str
    max_tokens: int | None
    stop_sequences: tuple[str, ...]
    function: Mapping[str, Any] | None


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
