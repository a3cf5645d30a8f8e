"""Messages and tool calling (SPECIFICATION 8.3; SCHEMA 4.1.2, 4.1.3; ERRORS 6.1)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("llm",))

REQUIREMENTS = (
    R(
        "LLM-MSG-1",
        "MUST",
        "A role other than system, user, assistant and tool is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2", "ERRORS 6.1"),
        hint="check that the role of every message is a string and exactly one of the four",
    ),
    R(
        "LLM-MSG-2",
        "MUST",
        "A message without `role` or without `content` is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "ERRORS 6.1"),
        hint="refuse a message that lacks `role` or `content`; fill in no default",
    ),
    R(
        "LLM-MSG-3",
        "MUST",
        "`content` that is not a string is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
        hint="check that `content` is a string; do not join a list of parts",
    ),
    R(
        "LLM-MSG-4",
        "MUST",
        "`messages` that is not a list of objects is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
        hint="check that `messages` is a list and each entry an object; neither wrap a text nor skip an entry",
    ),
    R(
        "LLM-MSG-5",
        "MUST",
        "A request without `messages` is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
        hint="refuse a request without `messages`; do not take it for an empty conversation",
    ),
    R(
        "LLM-MSG-6",
        "MUST",
        "`name`, `tool_call_id` or `tool_calls` of the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
        hint="check the optional keys too: `name` and `tool_call_id` are strings, `tool_calls` is a list",
    ),
    R(
        "LLM-MSG-7",
        "MUST",
        "System, user and assistant messages are accepted.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2"),
        needs=("supports_roles",),
        hint="accept messages of these roles in turn, any number of them, or deny supports_roles",
    ),
    R(
        "LLM-MSG-8",
        "MUST",
        "`stream` refuses the messages that `complete` refuses.",
        ("ERRORS 6.1",),
        needs=("supports_streaming",),
        hint="check the messages of `stream` with the function that `complete` uses, before the first frame",
    ),
    R(
        "LLM-MSG-9",
        "MUST",
        "An unknown key in a message is ignored or refused with BAD_REQUEST.",
        ("SCHEMA 4.1.2", "R8"),
        hint="read the keys that you know by name; do not spread a message into keyword arguments",
    ),
    R(
        "LLM-MSG-10",
        "MUST",
        "An optional argument of the wrong type is refused with BAD_REQUEST.",
        ("SPECIFICATION 8.3", "R8"),
        hint="check that stop_sequences is a list of strings and system_message a string; convert nothing",
    ),
    R(
        "LLM-TOOLS-1",
        "MUST",
        'With `tool_choice` "required" a tool is called.',
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23", "R72"),
        needs=("supports_tools", "supports_tool_choice"),
        hint="pass `tool_choice` on to the provider, and return the `tool_calls` that come back",
    ),
    R(
        "LLM-TOOLS-2",
        "MUST",
        "A tool call names one of the given tools, and its arguments are a JSON text.",
        ("SCHEMA 4.1.2",),
        needs=("supports_tools", "supports_tool_choice"),
        hint="write `function.arguments` as the JSON text of an object, and take the name from the given tools",
    ),
    R(
        "LLM-TOOLS-3",
        "MUST",
        "A malformed tool definition is refused with BAD_REQUEST.",
        ("SCHEMA 4.1.3", "ERRORS 6.1", "R8"),
        needs=("supports_tools",),
        hint="check that each tool is an object with a `function` that has a `name`; do not drop a bad one",
    ),
    R(
        "LLM-TOOLS-4",
        "MUST",
        "A malformed `tool_choice` is refused with BAD_REQUEST.",
        ("ERRORS 6.1", "R8", "R72"),
        needs=("supports_tools", "supports_tool_choice"),
        hint='accept "auto", "none", "required" or an object, and refuse all else before you read from it',
    ),
    R(
        "LLM-TOOLS-5",
        "MUST",
        "Where tools are denied, a request with tools is answered or refused with NOT_SUPPORTED.",
        ("ERRORS 6", "R23"),
        hint="answer NOT_SUPPORTED to `tools` that you deny, or leave them unused, before anything reads them",
    ),
    R(
        "LLM-TOOLS-6",
        "MUST",
        "The result of a tool call is accepted as a message of role tool.",
        ("SPECIFICATION 8.3", "SCHEMA 4.1.2"),
        needs=("supports_tools", "supports_roles"),
        hint="accept role tool with `tool_call_id`, and read the name of an earlier call from its `function`",
    ),
    R(
        "LLM-TOOLS-7",
        "SHOULD",
        'With `tool_choice` "none" no tool is called.',
        ("BEHAVIORAL_CONFORMANCE 5.3", "R72"),
        needs=("supports_tools", "supports_tool_choice"),
        hint='leave the tools out of the provider\'s request where `tool_choice` is "none"',
    ),
    R(
        "LLM-TOOLS-8",
        "MUST",
        "No more tools are called at once than capabilities state.",
        ("BEHAVIORAL_CONFORMANCE 6.7", "R23"),
        needs=("supports_tools", "supports_tool_choice"),
        hint="cut the calls to max_tool_calls_per_turn, and to one where supports_parallel_tool_calls is false",
    ),
    R(
        "LLM-TOOLS-10",
        "SHOULD",
        "With a `tool_choice` that names a tool, that one is called.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23", "R72"),
        needs=("supports_tools", "supports_tool_choice"),
        hint="pass the object in tool_choice on to the provider, or offer it only the tool that is named",
    ),
    R(
        "LLM-TOOLS-9",
        "SHOULD",
        'With `tool_choice` "required" a stream tells of a tool call.',
        ("ERRORS 6.1", "R23", "R72"),
        needs=("supports_tools", "supports_tool_choice", "supports_streaming"),
        hint="send `tool_calls` in a chunk of the stream (edition 1.1.0), as in a completion",
    ),
)
