"""Messages and tool calling (SPECIFICATION 8.3; SCHEMA 4.1.2, 4.1.3; ERRORS 6.1)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.kit.vocabulary import texts
from pytest_corpus.spec.errors import FILTERED, PERMANENT
from pytest_corpus.suites.llm.support.capabilities import NO_STOPS, UNSIGNED
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.requests import CALL, CLOCK, WEATHER, user_message

OPERATIONS = ("complete", "stream")

ROWS = Path(__file__).with_name("malformed_messages.txt").read_text("utf-8").splitlines()
MALFORMED = [row.split(" ", 2) for row in ROWS if row and row[0] != "#"]
"""Messages that must be refused: the requirement that they break, their name, and the messages as JSON."""

STREAMED = (
    "role='human'",
    "no_content",
    "parts_as_content",
    "list_of_strings",
    "one_is_not_an_object",
    "tool_calls='call'",
)
"""The malformed messages that are also sent to `stream`."""


@pytest.mark.core
@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(json.loads(messages), marks=pytest.mark.requirement(rule), id=name)
        for rule, name, messages in MALFORMED
    ],
)
def test_malformed_messages_are_refused(llm: LLM, messages: Any) -> None:
    """Messages are refused if one is not an object, has no text or no known role, or has a field of the wrong type."""
    llm.require("complete")
    expect_messages_refused(llm, messages)


@pytest.mark.requirement("LLM-MSG-5")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_missing_messages_are_refused(llm: LLM, operation: str) -> None:
    """A request without `messages` is refused."""
    llm.require(operation)
    args = llm.requests.args()
    del args["messages"]
    expect.refusal(llm.invoke(operation, args), "BadRequest")


@core("LLM-MSG-7")
@pytest.mark.parametrize(
    "roles", [("system", "user"), ("user", "assistant", "user"), ("system", "user", "assistant", "user")], ids=str
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_roles_of_a_conversation_are_accepted(llm: LLM, operation: str, roles: tuple[str, ...]) -> None:
    """Messages of system, user and assistant may follow each other."""
    llm.require(operation)
    if "system" in roles and llm.capabilities.flag("supports_system_message") is False:
        raise NotApplicable("capabilities deny supports_system_message")
    flags = ["supports_roles", *(["supports_system_message"] if "system" in roles else [])]
    reply = llm.ask(operation, messages=[{"role": role, "content": "hi"} for role in roles])
    if reply.is_a("NotSupported") and any(llm.capabilities.flag(flag) is None for flag in flags):
        raise NotApplicable("these roles are not claimed, and the adapter answers NOT_SUPPORTED")
    llm.require_fit(reply)
    expect.works(reply, f"{' '.join(roles)} to be accepted")


@pytest.mark.requirement("LLM-MSG-8")
@pytest.mark.parametrize("kind", STREAMED)
def test_a_stream_refuses_what_a_completion_refuses(llm: LLM, kind: str) -> None:
    """`stream` refuses the messages that `complete` refuses."""
    llm.require("stream", "complete")
    messages = next(json.loads(messages) for _, name, messages in MALFORMED if name == kind)
    if not llm.ask_once("complete", messages=messages).is_a("BadRequest"):
        raise NotApplicable("another test reports that complete does not refuse these messages")
    expect_messages_refused(llm, messages, operation="stream")


@pytest.mark.requirement("LLM-MSG-9")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_unknown_key_in_a_message_does_no_harm(llm: LLM, operation: str) -> None:
    """An undocumented key in a message is ignored or refused."""
    llm.require(operation)
    expect.either(llm.ask(operation, messages=[{**user_message("hi"), "mood": "sunny"}]), "BadRequest")


@pytest.mark.requirement("LLM-MSG-10")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("key", "value"),
    [("model", 7), ("model", ["m"]), *(("stop_sequences", value) for value in NO_STOPS), ("system_message", ["s"])],
    ids=str,
)
def test_an_optional_argument_of_the_wrong_type_is_refused(llm: LLM, operation: str, key: str, value: Any) -> None:
    """`model` and `system_message` must be strings; a malformed `stop_sequences` may be ignored (R117)."""
    llm.require(operation)
    if key in UNSIGNED:
        expect.either(llm.ask_once(operation, **{key: value}), *PERMANENT)
    else:
        llm.expect_refused(operation, **{key: value})


@pytest.mark.requirement("LLM-MSG-10")
def test_a_model_of_the_wrong_type_does_not_count(llm: LLM) -> None:
    """The `model` of `count_tokens` must be a string."""
    llm.require("count_tokens")
    expect.refusal(llm.call("count_tokens", {"text": "hi", "model": ["m"]}), "BadRequest")


@rules("called LLM-TOOLS-1, one_of_the_tools LLM-TOOLS-2, ids LLM-TOOLS-22, reason LLM-COMPLETE-12")
def test_a_required_tool_is_called(llm: LLM, requirement: str) -> None:
    """With `tool_choice` "required", the model calls an offered tool; the arguments are a string with a JSON object.

    Ids of tool calls are not empty, and differ within an answer. The finish reason announces the call.
    """
    if requirement == "LLM-TOOLS-1":
        expect.check(tool_calls_of(llm), "at least one tool call", "no tool call", "result.tool_calls")
        return
    calls = require_tool_calls(llm)
    if requirement in ("LLM-TOOLS-22", "LLM-COMPLETE-12"):
        expect_audited(requirement, llm.complete_once(**tool_arguments(llm, tool_choice="required")), llm)
        return
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        expect.check(name == "get_weather", "the name of the tool", "another name", "result.tool_calls[].function.name")
        text = function.get("arguments") if isinstance(function, Mapping) else None
        expect.check(is_object_text(text), "a string with a JSON object", "another string, or no string", "arguments")
    for names, parts in streamed_calls(llm):
        named = "get_weather" in (names[-1], "".join(names))
        expect.check(named, "the name of the tool", "another name", "chunk.tool_calls[].function.name")
        whole = is_object_text("".join(parts)) or is_object_text(parts[-1])
        expect.check(
            whole,
            "a string with a JSON object",
            "another string, or no string",
            "chunk.tool_calls[].function.arguments",
        )


@pytest.mark.requirement("LLM-TOOLS-10")
@pytest.mark.parametrize("chosen", [0, 1], ids=["first", "last"])
def test_a_named_tool_is_called(llm: LLM, chosen: int) -> None:
    """A call names the tool in `tool_choice`, not the other offered tool with a similar name."""
    require_tools(llm)
    expect.applicable(llm.settings.edition != "1.0.0", "edition 1.0.0 has no place for tool calls in a completion")
    for names in (["get_weather", "get-weather"], ["get_weather", "get_time"]):
        tools = [{**WEATHER, "function": {**WEATHER["function"], "name": name}} for name in names]
        given = {"tools": tools, "tool_choice": {"type": "function", "function": {"name": names[chosen]}}}
        if llm.accepts("complete", **tool_arguments(llm, **given)):
            break
    calls = tool_calls_of(llm, asked=True, **given)
    if not calls:
        require_tool_calls(llm)
    found = [call["function"].get("name") for call in calls if isinstance(call.get("function"), Mapping)]
    expect.check(set(found) == {names[chosen]}, "the tool that was named", "another tool", "result.tool_calls")


@pytest.mark.requirement("LLM-TOOLS-3")
@pytest.mark.parametrize(
    ("tools", "operation"),
    [
        ("get_weather", "complete"),
        ({"name": "get_weather"}, "complete"),
        (["get_weather"], "complete"),
        ([{"type": "function"}], "complete"),
        ([WEATHER, {"type": "function", "function": {}}], "complete"),
        ([{"type": "function", "function": {}}], "stream"),
    ],
    ids=["string", "object", "list_of_strings", "no_function", "no_name", "no_name-stream"],
)
def test_a_malformed_tool_is_refused(llm: LLM, operation: str, tools: Any) -> None:
    """A tool must be an object with a function that has a name."""
    require_tool_use(llm, llm.offers_tools)
    require_tools_of(llm, operation)
    llm.expect_refused(operation, **tool_arguments(llm, tools=tools))


@pytest.mark.requirement("LLM-TOOLS-4")
@pytest.mark.parametrize(
    ("choice", "operation"),
    [(7, "complete"), ("sometimes", "complete"), ("AUTO", "complete"), (["auto"], "complete"), ("sometimes", "stream")],
    ids=str,
)
def test_a_malformed_tool_choice_is_refused(llm: LLM, operation: str, choice: Any) -> None:
    """`tool_choice` must be auto, none, required or an object."""
    expect.applicable(llm.capabilities.flag("supports_tool_choice") is True, "tool_choice is not claimed (R72)")
    require_tools(llm)
    require_tools_of(llm, operation)
    llm.expect_refused(operation, **tool_arguments(llm, tool_choice=choice))


@pytest.mark.requirement("LLM-TOOLS-5")
def test_tools_that_are_denied_do_no_harm(llm: LLM) -> None:
    """If capabilities deny tools, a request with tools is answered or refused permanently."""
    llm.require("complete")
    expect.applicable(llm.capabilities.flag("supports_tools") is False, "tools are not denied")
    expect.either(llm.complete(tools=[WEATHER]), "NotSupported", "BadRequest")


@pytest.mark.requirement("LLM-TOOLS-6")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_result_of_a_tool_is_accepted(llm: LLM, operation: str) -> None:
    """A conversation may contain a tool call of the assistant and the tool's answer.

    If a content filter refuses unusual words in the conversation, ordinary words are sent.
    """
    require_tools(llm)
    require_tools_of(llm, operation)
    words = ["Oslo", "rain"] if llm.has_small_limit else texts(2, "w", ["double_quote"])
    reply = llm.ask(operation, **tool_arguments(llm, messages=tool_conversation(llm, *words)))
    if reply.is_a(*FILTERED):
        reply = llm.ask(operation, **tool_arguments(llm, messages=tool_conversation(llm, "Oslo", "rain")))
    unclaimed = "BadRequest" if llm.offers_tools is None else "NotSupported"
    if reply.is_a("NotSupported", unclaimed) and None in (llm.offers_tools, llm.capabilities.flag("supports_roles")):
        raise NotApplicable("the roles of tool calling are not claimed, and the adapter refuses them permanently")
    llm.require_fit(reply)
    expect.works(reply, "the result of a tool to be accepted")


@pytest.mark.requirement("LLM-TOOLS-7")
def test_no_tool_is_called_where_none_is_wanted(llm: LLM) -> None:
    """`tool_choice` "none" makes the model answer without a tool call."""
    expect.check(
        not tool_calls_of(llm, asked=True, tool_choice="none"), "no tool call", "a tool call", "result.tool_calls"
    )


@pytest.mark.requirement("LLM-TOOLS-21")
def test_the_model_may_choose(llm: LLM) -> None:
    """With `tool_choice` "auto" a request is answered, with text or with a tool call."""
    expect.applicable(llm.capabilities.flag("supports_tool_choice") is True, "tool_choice is not claimed")
    tool_calls_of(llm, tool_choice="auto")


@pytest.mark.requirement("LLM-TOOLS-8")
def test_no_more_tools_are_called_than_stated(llm: LLM) -> None:
    """An answer has at most `max_tool_calls_per_turn` tool calls, or one if parallel calls are denied."""
    parallel = llm.capabilities.flag("supports_parallel_tool_calls")
    limit = 1 if parallel is False else llm.capabilities.limit("max_tool_calls_per_turn")
    most = expect.applicable(limit, "no limit of tool calls is stated")
    calls = tool_calls_of(llm, tools=[WEATHER, CLOCK])
    expect.check(len(calls) <= most, f"at most {most} tool calls", f"{len(calls)}", "result.tool_calls")


@pytest.mark.requirement("LLM-TOOLS-9")
def test_a_stream_tells_of_a_required_tool(llm: LLM) -> None:
    """A stream reports the tool call that a completion reports."""
    require_tool_calls(llm)
    llm.require("stream")
    stream = expect.finished(stream_with_tools(llm), "a stream with a tool call")
    expect.check(
        any(chunk.get("tool_calls") for chunk in stream.chunks), "a tool call", "no tool call", "chunk.tool_calls"
    )


def tool_conversation(llm: LLM, place: str, weather: str) -> list[dict[str, Any]]:
    """Return a question, the assistant's call of a tool for this place, and the tool's answer."""
    call = {**CALL, "function": {"name": "get_weather", "arguments": json.dumps({"place": place})}}
    return [
        user_message("hi" if llm.has_small_limit else "The weather in Oslo?"),
        {"role": "assistant", "content": "yes", "tool_calls": [call]},
        {"role": "tool", "content": weather, "tool_call_id": "call_1", "name": "get_weather"},
    ]


def expect_messages_refused(llm: LLM, messages: Any, operation: str = "complete") -> None:
    """Check that messages are refused. NOT_SUPPORTED is also right if their roles or tools are not offered."""
    listed = messages if isinstance(messages, list) else []
    keys = {key for message in listed if isinstance(message, dict) for key in message}
    tools = bool(keys & {"tool_calls", "tool_call_id"})
    denied = llm.capabilities.flag("supports_roles") is False or (tools and llm.offers_tools is not True)
    expect.refusal(llm.ask_once(operation, messages=messages), "BadRequest", *(["NotSupported"] if denied else []))


def tool_arguments(llm: LLM, **changed: Any) -> dict[str, Any]:
    """Return arguments with a tool, and with a model that offers tools; `changed` replaces some of the arguments."""
    able = llm.models_with("supports_tools")
    model = {"model": able[0]} if able and llm.model not in able else {}
    return {
        "messages": [user_message("The weather in Oslo?" if not llm.has_small_limit else "hi")],
        "tools": [WEATHER],
        **model,
        **changed,
    }


def require_tools(llm: LLM) -> None:
    """Check that tools are claimed, or that a plain request with tools is accepted."""
    llm.require("complete")
    expect.applicable(llm.offers_tools is not False, "no listed model has tools")
    if llm.offers_tools is None and not llm.accepts("complete", **tool_arguments(llm)):
        raise NotApplicable("tools are not claimed, and the adapter refuses them permanently")


def require_tools_of(llm: LLM, operation: str) -> None:
    """Check that an operation accepts tools. No document offers tools for streams (SPECIFICATION 8.3)."""
    llm.require(operation)
    if operation == "stream" and not llm.accepts(operation, **tool_arguments(llm)):
        raise NotApplicable("a stream with tools is refused permanently")


def require_tool_use(llm: LLM, claimed: bool | None) -> None:
    """Raise NotApplicable if no tools are claimed and none is called. An adapter may ignore an unknown argument."""
    require_tools(llm)
    expect.applicable(claimed is not None or tool_calls_of(llm), "tools are not claimed, and the model calls no tool")


def tool_calls_of(llm: LLM, *, asked: bool = False, **changed: Any) -> list[Any]:
    """Return the tool calls in the answer to a request that requires a tool call.

    Args:
        asked: True for a SHOULD, which demands that `tool_choice` is obeyed even if it is not claimed (R72).
    """
    require_tools(llm)
    expect.applicable(llm.settings.edition != "1.0.0", "edition 1.0.0 has no place for tool calls in a completion")
    denied = llm.capabilities.flag("supports_tool_choice") is False
    expect.applicable(not denied or asked, "capabilities deny tool_choice")
    reply = llm.complete_once(**tool_arguments(llm, **{"tool_choice": "required", **changed}))
    llm.require_fit(reply)
    claimed = llm.offers_tools and llm.capabilities.flag("supports_tool_choice")
    if claimed is None and reply.is_a("NotSupported", *([] if asked else ["BadRequest"])):
        raise NotApplicable("tool_choice is not claimed, and the adapter refuses it permanently")
    result = expect.success(reply, "a completion with a tool call")
    calls = result.get("tool_calls") if isinstance(result, Mapping) else None
    expect.applicable(claimed is not None or calls, "tool_choice is not claimed, and the adapter ignores it")
    return calls if isinstance(calls, list) else []


def require_tool_calls(llm: LLM) -> list[Any]:
    """Return the tool calls in an answer; if there are none, another requirement reports the failure."""
    with expect.resting_on("LLM-TOOLS-1"):
        calls = tool_calls_of(llm)
        expect.check(calls, "at least one tool call", "no tool call", "result.tool_calls")
    return calls


@remembered
def stream_with_tools(llm: LLM) -> StreamReply:
    """Stream a request that requires a tool call."""
    return llm.open_stream(**tool_arguments(llm, tool_choice="required"))


def streamed_calls(llm: LLM) -> list[tuple[list[str], list[str]]]:
    """Return the parts of the name and of the arguments of each tool call in a stream; each chunk adds a part.

    Empty if streams accept no tools, fail, or report no calls: no document offers tools for streams.
    """
    if not llm.works("stream") or not (stream := stream_with_tools(llm)).is_finished:
        return []
    parts: dict[str, tuple[list[str], list[str]]] = {}
    for chunk in stream.chunks:
        calls = chunk.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                names, texts = parts.setdefault(str(call.get("id") or next(reversed(parts), "")), ([], []))
                names.append(str(function.get("name") or ""))
                texts.append(str(function.get("arguments") or ""))
    return [*parts.values()]


def is_object_text(text: Any) -> bool:
    """True if a string is the JSON text of an object."""
    try:
        return isinstance(json.loads(text), dict) if isinstance(text, str) else False
    except ValueError:
        return False
