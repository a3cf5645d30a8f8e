"""Messages and tool calling (SPECIFICATION 8.3; SCHEMA 4.1.2, 4.1.3; ERRORS 6.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.suites import expect
from pytest_corpus.suites.llm.probe import CLOCK, LLM, WEATHER, llm, user
from pytest_corpus.suites.outcomes import Blocked, NotApplicable

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'},
}

ROLES = ("USER", "User", "human", "bot", "function", "", " user")

WRONG = {
    "unknown_role": [{"role": "human", "content": "hi"}],
    "no_role": [{"content": "hi"}],
    "no_content": [{"role": "user"}],
    "number_content": [{"role": "user", "content": 7}],
    "no_list": "hi",
    "no_object": ["hi"],
}
"""Messages that no adapter may accept."""


@pytest.mark.core
@pytest.mark.requirement("LLM-MSG-1")
@pytest.mark.parametrize("role", ROLES, ids=repr)
def test_an_unknown_role_is_refused(llm: LLM, role: str) -> None:
    """Any role but the four, in any case but theirs, is BAD_REQUEST."""
    llm.require("complete")
    llm.refuses("complete", messages=[{"role": role, "content": "hi"}])


@pytest.mark.requirement("LLM-MSG-1")
def test_an_unknown_role_is_refused_anywhere(llm: LLM) -> None:
    """A wrong role is found in the last message as in the first."""
    llm.require("complete")
    llm.refuses("complete", messages=[user("hi"), {"role": "human", "content": "hi"}])


@pytest.mark.requirement("LLM-MSG-1")
@pytest.mark.parametrize("role", [7, None, ["user"]], ids=["number", "null", "list"])
def test_a_role_that_is_no_string_is_refused(llm: LLM, role: Any) -> None:
    """`role` is one of four strings."""
    llm.require("complete")
    llm.refuses("complete", messages=[{"role": role, "content": "hi"}])


@pytest.mark.core
@pytest.mark.requirement("LLM-MSG-2")
@pytest.mark.parametrize("message", [{"content": "hi"}, {"role": "user"}, {}], ids=["no_role", "no_content", "empty"])
def test_an_incomplete_message_is_refused(llm: LLM, message: dict[str, Any]) -> None:
    """`role` and `content` are required."""
    llm.require("complete")
    llm.refuses("complete", messages=[message])


@pytest.mark.requirement("LLM-MSG-3")
@pytest.mark.parametrize("content", [7, None, {"text": "hi"}, ["hi"]], ids=["number", "null", "object", "list"])
def test_content_that_is_no_string_is_refused(llm: LLM, content: Any) -> None:
    """`content` of a user is a string."""
    llm.require("complete")
    llm.refuses("complete", messages=[{"role": "user", "content": content}])


@pytest.mark.requirement("LLM-MSG-4")
@pytest.mark.parametrize("messages", ["hi", 7, {"role": "user", "content": "hi"}, ["hi"], [7], [["hi"]]], ids=str)
def test_messages_that_are_no_list_of_objects_are_refused(llm: LLM, messages: Any) -> None:
    """`messages` is a list, and each item an object."""
    llm.require("complete")
    llm.refuses("complete", messages=messages)


@pytest.mark.requirement("LLM-MSG-5")
def test_missing_messages_are_refused(llm: LLM) -> None:
    """`messages` is required."""
    llm.require("complete")
    args = llm.args()
    del args["messages"]
    expect.refusal(llm.call("complete", args), "BadRequest")


@pytest.mark.requirement("LLM-MSG-6")
@pytest.mark.parametrize(
    ("key", "value"),
    [("name", 7), ("name", ["a"]), ("tool_call_id", 7), ("tool_calls", "call"), ("tool_calls", {"id": "1"})],
    ids=str,
)
def test_an_optional_message_field_of_the_wrong_type_is_refused(llm: LLM, key: str, value: Any) -> None:
    """`name` and `tool_call_id` are strings, `tool_calls` is a list."""
    llm.require("complete")
    role = {"tool_call_id": "tool", "tool_calls": "assistant"}.get(key, "user")
    llm.refuses("complete", messages=[user("hi"), {"role": role, "content": "hi", key: value}])


@pytest.mark.core
@pytest.mark.requirement("LLM-MSG-7")
@pytest.mark.parametrize(
    "roles",
    [("system", "user"), ("user", "assistant", "user"), ("system", "user", "assistant", "user")],
    ids=str,
)
def test_the_roles_of_a_conversation_are_accepted(llm: LLM, roles: tuple[str, ...]) -> None:
    """System, user and assistant may speak in turn."""
    llm.require("complete")
    messages = [{"role": role, "content": "hi"} for role in roles]
    expect.success(llm.complete(messages=messages), f"{' '.join(roles)} to be accepted")


@pytest.mark.requirement("LLM-MSG-8")
@pytest.mark.parametrize("kind", list(WRONG))
def test_a_stream_refuses_what_a_completion_refuses(llm: LLM, kind: str) -> None:
    """What `complete` finds wrong with messages, `stream` does too."""
    llm.require("stream")
    llm.require("complete")
    if not llm.complete(messages=WRONG[kind]).is_error:
        raise NotApplicable("complete accepts it, which is a finding of its own")
    llm.refuses("stream", messages=WRONG[kind])


@pytest.mark.requirement("LLM-MSG-9")
def test_an_unknown_key_in_a_message_does_no_harm(llm: LLM) -> None:
    """A key that no document knows is ignored or refused."""
    llm.require("complete")
    expect.either(llm.complete(messages=[{**user("hi"), "mood": "sunny"}]), "BadRequest")


@pytest.mark.requirement("LLM-MSG-10")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", 7),
        ("model", ["m"]),
        ("stop_sequences", 7),
        ("stop_sequences", [7]),
        ("stop_sequences", {"a": 1}),
        ("system_message", 7),
        ("system_message", ["s"]),
    ],
    ids=str,
)
def test_an_optional_argument_of_the_wrong_type_is_refused(llm: LLM, key: str, value: Any) -> None:
    """`model` and `system_message` are strings, `stop_sequences` is a list of strings."""
    llm.require("complete")
    unsupported = key == "system_message" and llm.capabilities.flag("supports_system_message") is False
    expect.refusal(llm.complete(**{key: value}), "BadRequest", *(["NotSupported"] if unsupported else []))


@pytest.mark.requirement("LLM-TOOLS-1")
def test_a_required_tool_is_called(llm: LLM) -> None:
    """`tool_choice` "required" makes the model call a tool."""
    expect.that(called(llm), "at least one tool call", "none", "result.tool_calls")


@pytest.mark.requirement("LLM-TOOLS-2")
def test_a_tool_call_is_one_of_the_tools(llm: LLM) -> None:
    """The call names a given tool, and its arguments are the text of a JSON object."""
    calls = called(llm)
    if not calls:
        raise Blocked("LLM-TOOLS-1", "no tool was called")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        expect.that(name == "get_weather", "the name of the tool", "another", "result.tool_calls[].function.name")
        text = function.get("arguments") if isinstance(function, Mapping) else None
        expect.that(is_object_text(text), "the text of a JSON object", "something else", "arguments")


@pytest.mark.requirement("LLM-TOOLS-3")
@pytest.mark.parametrize(
    "tools",
    [
        "get_weather",
        {"name": "get_weather"},
        ["get_weather"],
        [{"type": "function"}],
        [{"type": "function", "function": {}}],
    ],
    ids=["string", "object", "list_of_strings", "no_function", "no_name"],
)
def test_a_malformed_tool_is_refused(llm: LLM, tools: Any) -> None:
    """A tool is an object with a function that has a name."""
    offered(llm)
    llm.refuses("complete", tools=tools)


@pytest.mark.requirement("LLM-TOOLS-4")
@pytest.mark.parametrize("choice", [7, "sometimes", ["auto"]], ids=str)
def test_a_malformed_tool_choice_is_refused(llm: LLM, choice: Any) -> None:
    """`tool_choice` is auto, none, required or an object."""
    offered(llm)
    llm.refuses("complete", tools=[WEATHER], tool_choice=choice)


@pytest.mark.requirement("LLM-TOOLS-5")
def test_tools_that_are_denied_do_no_harm(llm: LLM) -> None:
    """Where capabilities deny tools, a request with tools is answered or refused for good."""
    llm.require("complete")
    if llm.capabilities.flag("supports_tools") is not False:
        raise NotApplicable("tools are not denied")
    expect.either(llm.complete(tools=[WEATHER]), "NotSupported", "BadRequest")


@pytest.mark.requirement("LLM-TOOLS-6")
def test_the_result_of_a_tool_is_accepted(llm: LLM) -> None:
    """A conversation may go on with an assistant's tool call and the tool's answer."""
    offered(llm)
    messages = [
        user("The weather in Oslo?"),
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": "rain", "tool_call_id": "call_1", "name": "get_weather"},
    ]
    expect.success(llm.complete(messages=messages, tools=[WEATHER]), "the result of a tool to be accepted")


@pytest.mark.requirement("LLM-TOOLS-7")
def test_no_tool_is_called_where_none_is_wanted(llm: LLM) -> None:
    """`tool_choice` "none" makes the model answer in words."""
    expect.that(not called(llm, tool_choice="none"), "no tool call", "one", "result.tool_calls")


@pytest.mark.requirement("LLM-TOOLS-8")
def test_no_more_tools_are_called_than_stated(llm: LLM) -> None:
    """`max_tool_calls_per_turn`, or one where parallel calls are denied, is not exceeded."""
    parallel = llm.capabilities.flag("supports_parallel_tool_calls")
    most = 1 if parallel is False else llm.capabilities.limit("max_tool_calls_per_turn")
    if most is None:
        raise NotApplicable("no limit of tool calls is stated")
    calls = called(llm, tools=[WEATHER, CLOCK])
    expect.that(len(calls) <= most, f"at most {most} tool calls", f"{len(calls)}", "result.tool_calls")


def offered(llm: LLM) -> None:
    """Go on only where a plain request with tools is taken, or tools are claimed."""
    llm.require("complete")
    if llm.capabilities.flag("supports_tools") is None and llm.complete(tools=[WEATHER]).is_a("NotSupported"):
        raise NotApplicable("tools are not claimed, and answered with NOT_SUPPORTED")


def called(llm: LLM, **changed: Any) -> list[Any]:
    """The tool calls in the answer to a request that requires one."""
    offered(llm)
    if llm.settings.edition == "1.0.0":
        raise NotApplicable("edition 1.0.0 has no place for tool calls in a completion")
    asked = {
        "messages": [user("The weather in Oslo?")],
        "tools": [WEATHER],
        "tool_choice": "required",
        **changed,
    }
    reply = llm.complete(**asked)
    if llm.capabilities.flag("supports_tool_choice") is None and reply.is_a("NotSupported"):
        raise NotApplicable("tool_choice is not claimed, and answered with NOT_SUPPORTED")
    if llm.capabilities.flag("supports_tools") is None and reply.is_success and not reply.result.get("tool_calls"):
        raise NotApplicable("tools are not claimed, and not used")
    result = expect.success(reply, "a completion with a tool call")
    calls = result.get("tool_calls") if isinstance(result, Mapping) else None
    return calls if isinstance(calls, list) else []


def is_object_text(text: Any) -> bool:
    """Whether a string is the JSON text of an object."""
    try:
        return isinstance(json.loads(text), dict) if isinstance(text, str) else False
    except ValueError:
        return False
