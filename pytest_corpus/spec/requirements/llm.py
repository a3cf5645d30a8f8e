"""LLM (SPECIFICATION 8; SCHEMA 4.1; BEHAVIORAL_CONFORMANCE 5.3, 6; ERRORS 6.1)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("llm",))

_COMPLETE = (
    R(
        "LLM-COMPLETE-1",
        "MUST",
        "A plain request is answered with a completion of the schema: text, model, usage, finish_reason.",
        ("SCHEMA 4.1.2", "SPECIFICATION 8.2"),
        hint="compare the result with llm.types.completion",
    ),
    R(
        "LLM-COMPLETE-2",
        "MUST",
        "`finish_reason` is stop, length, tool_call, tool_calls or content_filter.",
        ("SPECIFICATION 8.2", "R29"),
        hint="map the provider's own reasons",
    ),
    R(
        "LLM-COMPLETE-3",
        "MUST",
        "`usage.total_tokens` is the sum of prompt and completion tokens.",
        ("SCHEMA 4.1.2", "SCHEMA 7.3", "R29"),
    ),
    R(
        "LLM-COMPLETE-4",
        "MUST",
        "A completion has no more tokens than `max_tokens`.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "SPECIFICATION 8.3"),
        hint="pass max_tokens on to the provider",
    ),
    R(
        "LLM-COMPLETE-5",
        "SHOULD",
        "`model` in the result is the model that was asked for.",
        ("SCHEMA 4.1.2",),
    ),
    R(
        "LLM-COMPLETE-6",
        "MUST",
        "Every documented optional argument is accepted with a valid value.",
        ("SPECIFICATION 8.3", "BEHAVIORAL_CONFORMANCE 5.3"),
    ),
    R("LLM-COMPLETE-7", "SHOULD", "`model` may be left out.", ("SPECIFICATION 8.3",)),
)

_MODELS = (
    R(
        "LLM-MODEL-1",
        "MUST",
        "Every model that capabilities list completes.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        hint="list only models that work",
    ),
    R(
        "LLM-MODEL-2",
        "MUST",
        "`complete` refuses an unknown model with a class that is not retryable.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R13"),
    ),
    R(
        "LLM-MODEL-3",
        "MUST",
        "`stream` refuses an unknown model with a class that is not retryable.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R13"),
        needs=("supports_streaming",),
    ),
)

_SAMPLING = (
    R(
        "LLM-SAMPLING-1",
        "MUST",
        "`temperature` outside [0, 2] is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.3"),
    ),
    R(
        "LLM-SAMPLING-2",
        "MUST",
        "`top_p` outside (0, 1] is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.3", "R37"),
    ),
    R(
        "LLM-SAMPLING-3",
        "MUST",
        "`frequency_penalty` outside [-2, 2] is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.3"),
    ),
    R(
        "LLM-SAMPLING-4",
        "MUST",
        "`presence_penalty` outside [-2, 2] is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.3"),
    ),
    R(
        "LLM-SAMPLING-5",
        "MUST",
        "`max_tokens` that is negative or no whole number is refused with BAD_REQUEST.",
        ("SPECIFICATION 17.2", "SPECIFICATION 4.1"),
    ),
    R(
        "LLM-SAMPLING-6",
        "MUST",
        "Values within the ranges, both ends included, are accepted.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.3"),
    ),
    R(
        "LLM-SAMPLING-7",
        "MUST",
        "A sampling parameter that is no number is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.3", "R8"),
    ),
    R(
        "LLM-SAMPLING-8",
        "MUST",
        "`stream` refuses the sampling parameters that `complete` refuses.",
        ("ERRORS 6.1", "SPECIFICATION 8.3"),
        needs=("supports_streaming",),
    ),
)

_MESSAGES = (
    R(
        "LLM-MSG-1",
        "MUST",
        "A role other than system, user, assistant and tool is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2", "ERRORS 6.1"),
    ),
    R(
        "LLM-MSG-2",
        "MUST",
        "A message without `role` or without `content` is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "ERRORS 6.1"),
    ),
    R(
        "LLM-MSG-3",
        "MUST",
        "`content` that is no string is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
    ),
    R(
        "LLM-MSG-4",
        "MUST",
        "`messages` that is no list of objects is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
    ),
    R(
        "LLM-MSG-5",
        "MUST",
        "A request without `messages` is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
    ),
    R(
        "LLM-MSG-6",
        "MUST",
        "`name`, `tool_call_id` or `tool_calls` of the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
    ),
    R(
        "LLM-MSG-7",
        "MUST",
        "System, user and assistant messages are accepted.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2"),
        needs=("supports_roles",),
    ),
    R(
        "LLM-MSG-8",
        "MUST",
        "`stream` refuses the messages that `complete` refuses.",
        ("ERRORS 6.1",),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-MSG-9",
        "MUST",
        "An unknown key in a message is ignored or refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
    ),
    R(
        "LLM-MSG-10",
        "MUST",
        "An optional argument of the wrong type is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
    ),
)

_TOOLS = (
    R(
        "LLM-TOOLS-1",
        "MUST",
        'With `tool_choice` "required" a tool is called.',
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-2",
        "MUST",
        "A tool call names one of the given tools, and its arguments are a JSON text.",
        ("SCHEMA 4.1.2",),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-3",
        "MUST",
        "A malformed tool definition is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.3", "ERRORS 6.1", "R8"),
        needs=("supports_tools",),
    ),
    R(
        "LLM-TOOLS-4",
        "MUST",
        "A malformed `tool_choice` is refused with BAD_REQUEST.",
        ("ERRORS 6.1", "R8"),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-5",
        "MUST",
        "Where tools are denied, a request with tools is answered or refused with NOT_SUPPORTED.",
        ("ERRORS 6", "R23"),
    ),
    R(
        "LLM-TOOLS-6",
        "MUST",
        "The result of a tool call is accepted as a message of role tool.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2"),
        needs=("supports_tools", "supports_roles"),
    ),
    R(
        "LLM-TOOLS-7",
        "SHOULD",
        'With `tool_choice` "none" no tool is called.',
        ("BEHAVIORAL_CONFORMANCE 5.3",),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-8",
        "MUST",
        "No more tools are called at once than capabilities state.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-10",
        "SHOULD",
        "With a `tool_choice` that names a tool, that one is called.",
        ("SCHEMA 4.1.3", "R23"),
        needs=("supports_tools", "supports_tool_choice"),
    ),
    R(
        "LLM-TOOLS-9",
        "SHOULD",
        'With `tool_choice` "required" a stream tells of a tool call.',
        ("ERRORS 6.1", "R23"),
        needs=("supports_tools", "supports_tool_choice", "supports_streaming"),
    ),
)

_CONTEXT = (
    R(
        "LLM-CONTEXT-1",
        "MUST",
        "A prompt beyond the stated context window is refused with BAD_REQUEST by `complete`.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R12"),
        hint="it is the caller's mistake: not retryable",
    ),
    R(
        "LLM-CONTEXT-2",
        "MUST",
        "A prompt beyond the stated context window is refused with BAD_REQUEST by `stream`.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "ERRORS 6.1", "R12"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-CONTEXT-3",
        "SHOULD",
        "It is reported as PromptTooLong with `max_context_length` and `provided_tokens`.",
        ("ERRORS 6.1",),
    ),
    R(
        "LLM-CONTEXT-4",
        "MUST",
        "A prompt well within the stated context window is accepted.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        hint="state the window that is enforced",
    ),
)

_TOKENS = (
    R(
        "LLM-TOKENS-1",
        "MUST",
        "`count_tokens` answers with a whole number that is not negative.",
        ("SPECIFICATION 8.3", "R10"),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-2",
        "MUST",
        "A text never has fewer tokens than a beginning of it.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-3",
        "MUST",
        "Combining marks and characters beyond the basic plane are counted safely.",
        ("BEHAVIORAL_CONFORMANCE 6.5",),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-4",
        "MUST",
        "`count_tokens` refuses an unknown model with a class that is not retryable.",
        ("BEHAVIORAL_CONFORMANCE 6.5", "R13"),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-5",
        "MUST",
        "`count_tokens` works for every model that capabilities list.",
        ("SPECIFICATION 4.2.6", "R23"),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-6",
        "MUST",
        "A missing `text` or one that is no string is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-7",
        "SHOULD",
        "The same text has the same number of tokens every time.",
        ("BEHAVIORAL_CONFORMANCE 5.3",),
        needs=("supports_count_tokens",),
    ),
    R(
        "LLM-TOKENS-8",
        "MUST",
        "A text of many words has more tokens than a single word of it.",
        ("SPECIFICATION 4.2.6",),
        needs=("supports_count_tokens",),
        hint="count the text, do not return a constant",
    ),
)

_STREAM = (
    R(
        "LLM-STREAM-1",
        "MUST",
        "Every chunk of a stream is of the schema: `text`, `is_final` and nothing undocumented.",
        ("SCHEMA 4.1.2", "SPECIFICATION 4.2.3.1", "R3"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-2",
        "MUST",
        "`usage_so_far.total_tokens` is the sum of prompt and completion tokens.",
        ("SCHEMA 4.1.2", "R29"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-3",
        "MUST",
        "A stream has no more tokens than `max_tokens`.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "SPECIFICATION 8.3"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-4",
        "SHOULD",
        "`usage_so_far` never decreases.",
        ("SPECIFICATION 8.2",),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-5",
        "MUST",
        "Every model that capabilities list streams.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-6",
        "MUST",
        "`stream` accepts every documented optional argument with a valid value.",
        ("SPECIFICATION 8.3", "ERRORS 6.1"),
        needs=("supports_streaming",),
    ),
    R(
        "LLM-STREAM-7",
        "SHOULD",
        "`model` of a chunk is the model that was asked for.",
        ("SCHEMA 4.1.2",),
        needs=("supports_streaming",),
    ),
)

_CAPABILITIES = (
    R(
        "LLM-CAP-1",
        "SHOULD",
        "Capabilities list the models and state the context length.",
        ("SPECIFICATION 8.4",),
    ),
    R(
        "LLM-CAP-2",
        "SHOULD",
        "The stated sampling ranges lie within the protocol's.",
        ("SPECIFICATION 8.4", "SPECIFICATION 8.3"),
    ),
)

_CACHE = (
    R(
        "LLM-CACHE-1",
        "MUST",
        "A cached answer is not given to other messages.",
        ("SPECIFICATION 11.6", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of all that was asked",
    ),
    R(
        "LLM-CACHE-2",
        "MUST",
        "A cached answer is not given where any other argument differs.",
        ("SPECIFICATION 11.6", "BEHAVIORAL_CONFORMANCE 6.6", "R27"),
        needs=("provider", "supports_caching"),
        hint="key the cache by a hash of all that was asked",
    ),
)

REQUIREMENTS = (
    *_COMPLETE,
    *_MODELS,
    *_SAMPLING,
    *_MESSAGES,
    *_TOOLS,
    *_CONTEXT,
    *_TOKENS,
    *_STREAM,
    *_CAPABILITIES,
    *_CACHE,
)
