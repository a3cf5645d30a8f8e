"""LLM: context, tokens, streams, claims, cache (SPECIFICATION 8, 11.6; SCHEMA 4.1; BEHAVIORAL_CONFORMANCE 6)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("llm",))

_CONTEXT = (
    R(
        "LLM-CONTEXT-1",
        "MUST",
        "A prompt beyond the stated context window is refused with BAD_REQUEST by `complete`.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R12"),
        hint="count all messages and refuse, or map the provider's refusal to BadRequest; do not cut",
    ),
    R(
        "LLM-CONTEXT-2",
        "MUST",
        "A prompt beyond the stated context window is refused with BAD_REQUEST by `stream`.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R12"),
        needs=("supports_streaming",),
        hint="count the prompt of `stream` too, before the first frame, with the check of `complete`",
    ),
    R(
        "LLM-CONTEXT-3",
        "SHOULD",
        "It is reported as PromptTooLong with `max_context_length` and `provided_tokens`.",
        ("ERRORS 6.1",),
        hint="raise PromptTooLong, with max_context_length and provided_tokens in `details`",
    ),
    R(
        "LLM-CONTEXT-4",
        "MUST",
        "A prompt well within the stated context window is accepted.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        hint="state as max_context_length, or context_window, the window that you enforce",
    ),
)

_TOKENS = (
    R(
        "LLM-TOKENS-1",
        "MUST",
        "`count_tokens` answers with a whole number that is not negative.",
        ("SPECIFICATION 8.3", "R10"),
        needs=("supports_count_tokens",),
        hint="round an estimate to an integer, and send no -1 for words that are not in the vocabulary",
    ),
    R(
        "LLM-TOKENS-2",
        "MUST",
        "A text never has fewer tokens than a beginning of it.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
        hint="let no added character lower the count, for example by counting characters or bytes",
    ),
    R(
        "LLM-TOKENS-3",
        "MUST",
        "Combining marks and characters beyond the basic plane are counted safely.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
        hint="count any Unicode text, a combining mark alone and characters beyond U+FFFF included",
    ),
    R(
        "LLM-TOKENS-4",
        "MUST",
        "`count_tokens` refuses an unknown model with a class that is not retryable.",
        ("BEHAVIORAL_CONFORMANCE 6.5", "R13"),
        needs=("supports_count_tokens",),
        hint="look the model up before you count; do not fall back to a default tokenizer",
    ),
    R(
        "LLM-TOKENS-5",
        "MUST",
        "`count_tokens` works for every model that capabilities list.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=("supports_count_tokens",),
        hint="give every model that you list a tokenizer, or an estimate",
    ),
    R(
        "LLM-TOKENS-6",
        "MUST",
        "A missing `text` or one that is no string is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
        needs=("supports_count_tokens",),
        hint="check that `text` is there and a string before you split it",
    ),
    R(
        "LLM-TOKENS-7",
        "SHOULD",
        "The same text has the same number of tokens every time.",
        ("BEHAVIORAL_CONFORMANCE 5.3",),
        needs=("supports_count_tokens",),
        hint="use one tokenizer for a model in every call and on every replica",
    ),
    R(
        "LLM-TOKENS-8",
        "MUST",
        "A text of many words has more tokens than a single word of it.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_count_tokens",),
        hint="count the whole text; return neither a constant nor a capped number",
    ),
)

_STREAM = (
    R(
        "LLM-STREAM-1",
        "MUST",
        "Every chunk of a stream is of the schema: `text`, `is_final` and nothing undocumented.",
        ("SCHEMA 4.1.2", "SPECIFICATION 4.2.3.1", "R3"),
        needs=("supports_streaming",),
        hint="give every chunk a string `text` and a boolean `is_final`, and no key that llm.types.chunk lacks",
    ),
    R(
        "LLM-STREAM-2",
        "MUST",
        "`usage_so_far.total_tokens` is the sum of prompt and completion tokens.",
        ("SCHEMA 4.1.2", "R29"),
        needs=("supports_streaming",),
        hint="set total_tokens of usage_so_far to prompt_tokens + completion_tokens in every chunk",
    ),
    R(
        "LLM-STREAM-3",
        "MUST",
        "A stream has no more tokens than `max_tokens`.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "SPECIFICATION 8.3"),
        needs=("supports_streaming",),
        hint="cut the last chunk at max_tokens; do not finish it first",
    ),
    R(
        "LLM-STREAM-4",
        "SHOULD",
        "`usage_so_far` never decreases.",
        ("SPECIFICATION 8.2",),
        needs=("supports_streaming",),
        hint="report in usage_so_far what was used since the beginning, not what is left",
    ),
    R(
        "LLM-STREAM-5",
        "MUST",
        "Every model that capabilities list streams.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        needs=("supports_streaming",),
        hint="list only models that stream, or say supports_streaming false in the entry of one that does not",
    ),
    R(
        "LLM-STREAM-6",
        "MUST",
        "`stream` accepts every documented optional argument with a valid value.",
        ("SPECIFICATION 8.3", "ERRORS 6.1"),
        needs=("supports_streaming",),
        hint="accept and pass on in `stream` every argument that `complete` takes",
    ),
    R(
        "LLM-STREAM-7",
        "SHOULD",
        "`model` of a chunk is the model that was asked for.",
        ("SCHEMA 4.1.2",),
        needs=("supports_streaming",),
        hint="name the model in chunks as the request does, not by its dated version",
    ),
)

_CAPABILITIES = (
    R(
        "LLM-CAP-1",
        "SHOULD",
        "Capabilities list the models and state the context length.",
        ("SPECIFICATION 8.4",),
        hint="state `models` (or `supported_models`) and max_context_length, or a context_window for each model",
    ),
    R(
        "LLM-CAP-2",
        "SHOULD",
        "The stated sampling ranges lie within the protocol's.",
        ("SPECIFICATION 8.4", "SPECIFICATION 8.3"),
        hint="cut the provider's ranges to the protocol's: temperature within [0, 2], top_p within [0, 1]",
    ),
)

_CACHE = (
    R(
        "LLM-CACHE-1",
        "MUST",
        "A cached answer is not given to other messages.",
        ("SPECIFICATION 11.6", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of all messages in their order, roles included",
    ),
    R(
        "LLM-CACHE-2",
        "MUST",
        "A cached answer is not given where any other argument differs.",
        ("SPECIFICATION 11.6", "BEHAVIORAL_CONFORMANCE 6.6", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of every argument, model, max_tokens and tools included",
    ),
)

REQUIREMENTS = (*_CONTEXT, *_TOKENS, *_STREAM, *_CAPABILITIES, *_CACHE)
