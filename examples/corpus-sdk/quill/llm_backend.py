"""A small LLM backend in memory: its models, its failures as the SDK's exceptions, and its replies.

It takes the part of a model server; the adapter in `llm_adapter` puts the SDK around it.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus_sdk.llm import llm_base
from corpus_sdk.llm.llm_base import (
    BadRequest,
    LLMChunk,
    ModelOverloaded,
    ResourceExhausted,
    TokenUsage,
    ToolCall,
    ToolCallFunction,
)

from .authoring import Taxonomy, subtype

MODELS = ("quill-small", "quill-large")
CONTEXT_WINDOW = 4096
VOCABULARY = (
    "amid arch bark bell calm clay dawn dew echo elm fern fog gold hail iris jade "
    "kelp lark leaf mist moss oak owl pine rain reed rust sand snow tide vale wind"
)
"""32 words of one token each."""


# -- errors ----------------------------------------------------------------------------------------------


ContentFiltered = subtype(BadRequest, "ContentFiltered")
PromptTooLong = subtype(BadRequest, "PromptTooLong")
ProviderQuotaExceeded = subtype(ResourceExhausted, "ProviderQuotaExceeded")
TAXONOMY = Taxonomy(
    llm_base,
    {"content_filtered": ContentFiltered, "overloaded": ModelOverloaded, "quota_exhausted": ProviderQuotaExceeded},
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


@dataclass(frozen=True)
class Reply:
    """The answer of a model."""

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
    """A smallest value for a JSON Schema of a tool's parameter, null if it has no type."""
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

    def reply(self, turn: Turn) -> Reply:
        """Answer in up to 24 words, or with a call of the tool that is required.

        Raises:
            PromptTooLong: nothing of the context window is left.
        """
        prompt_tokens = tokens(turn.prompt)
        if prompt_tokens > CONTEXT_WINDOW:
            raise PromptTooLong(
                "the prompt does not fit into the context window",
                details={"max_context_length": CONTEXT_WINDOW, "provided_tokens": prompt_tokens, "model": turn.model},
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
