"""Mistakes that llm/test_message_validation.py finds (LLM-MSG, LLM-TOOLS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Chunking


@catches("LLM-MSG-1")
class AnyRole(ReferenceLLM):
    """It passes any role on in a completion."""

    def read_messages(self, call: Call) -> list[str]:
        if call.streaming:
            return super().read_messages(call)
        messages = self.formatted(call).objects("messages", required=True)
        given = [message.required_text("role") for message in messages]
        self.roles = (*type(self).roles, *given)
        try:
            return super().read_messages(call)
        finally:
            self.roles = type(self).roles


@catches("LLM-MSG-1")
class RolesInAnyCase(ReferenceLLM):
    """It compares roles without regard to case and spaces."""

    def read_message(self, message: Fields) -> list[str]:
        role = message.values.get("role")
        plain = role.strip().lower() if isinstance(role, str) else role
        return super().read_message(replace(message, values={**message.values, "role": plain}))


@catches("LLM-MSG-1")
class FirstRoleOnly(ReferenceLLM):
    """It checks the role of the first message alone."""

    def read_message(self, message: Fields) -> list[str]:
        first = message.path.endswith("[0]")
        role = "user" if not first and isinstance(message.values.get("role"), str) else message.values.get("role")
        return super().read_message(replace(message, values={**message.values, "role": role}))


@catches("LLM-MSG-1")
class RoleIsHashed(ReferenceLLM):
    """It looks a role up in a set, which makes a list UNAVAILABLE."""

    def read_message(self, message: Fields) -> list[str]:
        hash(message.values.get("role"))
        return super().read_message(message)


@catches("LLM-MSG-2")
class UserByDefault(ReferenceLLM):
    """It takes a message without a role for one of the user."""

    def read_message(self, message: Fields) -> list[str]:
        return super().read_message(replace(message, values={"role": "user", **message.values}))


@catches("LLM-MSG-2")
class EmptyByDefault(ReferenceLLM):
    """It takes a message without content for an empty one."""

    def read_message(self, message: Fields) -> list[str]:
        return super().read_message(replace(message, values={"content": "", **message.values}))


@catches("LLM-MSG-3")
class ContentParts(ReferenceLLM):
    """It accepts content as a list of parts."""

    def read_message(self, message: Fields) -> list[str]:
        content = message.values.get("content")
        joined = " ".join(map(str, content)) if isinstance(content, list) else content
        return super().read_message(replace(message, values={**message.values, "content": joined}))


class Messages(ReferenceLLM):
    """The reference with one place for messages of another shape."""

    def formatted(self, call: Call) -> Fields:
        args = super().formatted(call)
        if "messages" not in args.values:
            return args
        return replace(args, values={**args.values, "messages": self.shaped(args.values["messages"])})

    def shaped(self, messages: Any) -> Any:
        """The messages as a list of objects."""
        return messages


@catches("LLM-MSG-4")
class OneTextIsAMessage(Messages):
    """It takes a text for the one message of a user."""

    def shaped(self, messages: Any) -> Any:
        return [{"role": "user", "content": messages}] if isinstance(messages, str) else messages


@catches("LLM-MSG-4")
class OthersSkipped(Messages):
    """It skips what is not a message in a list."""

    def shaped(self, messages: Any) -> Any:
        return [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else messages


@catches("LLM-MSG-4")
class NullMessagesAreAnError(Messages):
    """It does not expect null among the messages, which makes it UNAVAILABLE."""

    def shaped(self, messages: Any) -> Any:
        if isinstance(messages, list) and None in messages:
            raise TypeError("messages")
        return messages


@catches("LLM-MSG-5")
class NoMessagesIsNone(ReferenceLLM):
    """It completes an empty conversation where the messages are missing."""

    def read_messages(self, call: Call) -> list[str]:
        return super().read_messages(call) if "messages" in call.args.values else []


@catches("LLM-MSG-6")
class NameUnchecked(ReferenceLLM):
    """It does not look at the name in a message."""

    def read_message(self, message: Fields) -> list[str]:
        return super().read_message(replace(message, values={**message.values, "name": None}))


@catches("LLM-MSG-6")
class OneToolCallIsAList(ReferenceLLM):
    """It does not look at tool calls that are not a list."""

    def read_message(self, message: Fields) -> list[str]:
        calls = message.values.get("tool_calls")
        kept = calls if isinstance(calls, list) else None
        return super().read_message(replace(message, values={**message.values, "tool_calls": kept}))


@catches("LLM-MSG-7")
class NoSystemRole(ReferenceLLM):
    """It claims roles and does not take a system message among the messages."""

    roles = ("user", "assistant", "tool")


@catches("LLM-MSG-7")
class UserSpeaksLast(ReferenceLLM):
    """It refuses a conversation of more than three messages."""

    def read_messages(self, call: Call) -> list[str]:
        texts = super().read_messages(call)
        if len(texts) > 3:
            raise call.args.invalid("messages", "TOO_MANY", "must be at most three")
        return texts


@catches("LLM-MSG-8")
class StreamRolesUnchecked(ReferenceLLM):
    """It passes any role on in a stream."""

    def read_messages(self, call: Call) -> list[str]:
        self.roles = (*type(self).roles, "human") if call.streaming else type(self).roles
        return super().read_messages(call)


@catches("LLM-MSG-8")
class StreamContentUnchecked(ReferenceLLM):
    """It streams an answer to a message without content."""

    def formatted(self, call: Call) -> Fields:
        args = super().formatted(call)
        given = args.values.get("messages")
        if not call.streaming or not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
            return args
        return replace(args, values={**args.values, "messages": [{"content": "", **each} for each in given]})


@catches("LLM-MSG-9")
class UnknownMessageKeyIsATypeError(ReferenceLLM):
    """It passes messages on as keyword arguments, which makes an unknown key UNAVAILABLE."""

    def read_message(self, message: Fields) -> list[str]:
        if "mood" in message.values:
            raise TypeError("unexpected keyword argument")
        return super().read_message(message)


@catches("LLM-MSG-10")
class StopsAreIterated(ReferenceLLM):
    """It goes through stop sequences unchecked, which makes a number UNAVAILABLE."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        for _ in call.args.values.get("stop_sequences") or ():
            pass
        return super().read_stop_sequences(call)


@catches("LLM-MSG-10")
class SystemMessageUnchecked(ReferenceLLM):
    """It writes a system message of another type as a string."""

    def read_system_message(self, call: Call) -> str:
        return str(call.args.values.get("system_message") or "")


@catches("LLM-TOOLS-9")
class StreamedToolLost(Chunking):
    """It streams the words of an answer and loses its tool calls."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        return {key: value for key, value in chunk.items() if key != "tool_calls"}


@catches("LLM-TOOLS-21")
class AutoIsNoChoice(ReferenceLLM):
    """It takes `auto` for the name of a tool."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        if call.args.values.get("tool_choice") == "auto":
            raise self.formatted(call).invalid("tool_choice", "NOT_ALLOWED", "must name one of the given tools")
        return super().read_tool_choice(call, tools)


@catches("LLM-TOOLS-1")
class RequiredToolNotCalled(ReferenceLLM):
    """It leaves it to the model whether a required tool is called."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        name = super().read_tool_choice(call, tools)
        return None if call.args.values.get("tool_choice") == "required" else name


@catches("LLM-TOOLS-2")
class ArgumentsAreAnObject(ReferenceLLM):
    """It gives the arguments of a tool call as a text that is not JSON."""

    def tool_use(self, prompt: Prompt, name: str) -> Reply:
        reply = super().tool_use(prompt, name)
        reply.tool_calls[0]["function"]["arguments"] = "place=Oslo"
        return reply


@catches("LLM-TOOLS-2")
class ArgumentsAreAList(ReferenceLLM):
    """It gives the arguments of a tool call as the text of a list."""

    def tool_use(self, prompt: Prompt, name: str) -> Reply:
        reply = super().tool_use(prompt, name)
        reply.tool_calls[0]["function"]["arguments"] = "[]"
        return reply


@catches("LLM-TOOLS-3")
class ToolsUnchecked(ReferenceLLM):
    """It drops tools that it cannot read."""

    def read_tools(self, call: Call) -> list[str]:
        try:
            return super().read_tools(call)
        except AdapterError as error:
            if error.kind.family == "BadRequest":
                return []
            raise


@catches("LLM-TOOLS-3")
class NamelessTool(ReferenceLLM):
    """It does not miss the name of a function."""

    def read_tool(self, tool: Fields) -> str:
        function = tool.values.get("function")
        nameless = isinstance(function, Mapping) and "name" not in function
        return "" if nameless else super().read_tool(tool)


@catches("LLM-TOOLS-3")
class ToolIsAKeyError(ReferenceLLM):
    """It reads the function of a tool unchecked, which makes a missing one UNAVAILABLE."""

    def read_tool(self, tool: Fields) -> str:
        tool.values["function"]
        return super().read_tool(tool)


@catches("LLM-TOOLS-4")
class UnknownChoiceIsAuto(ReferenceLLM):
    """It takes a word that it does not know for auto."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        choice = call.args.values.get("tool_choice")
        unknown = isinstance(choice, str) and choice != "required"
        return None if unknown else super().read_tool_choice(call, tools)


@catches("LLM-TOOLS-4")
class ChoiceIsSubscripted(ReferenceLLM):
    """It reads the function of a choice unchecked, which makes a number UNAVAILABLE."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        choice = call.args.values.get("tool_choice")
        if choice is not None and not isinstance(choice, str):
            choice["function"]
        return super().read_tool_choice(call, tools)


class WithoutTools(ReferenceLLM):
    """A legal adapter that denies tools."""

    features: Mapping[str, bool] = {
        **ReferenceLLM.features,
        "supports_tools": False,
        "supports_tool_choice": False,
    }


@catches("LLM-TOOLS-5", control=WithoutTools)
class DeniedToolsUnavailable(WithoutTools):
    """It fails with UNAVAILABLE on the tools that it denies."""

    def require(self, feature: str) -> None:
        if feature == "supports_tools":
            raise AdapterError("Unavailable", "The provider failed")
        super().require(feature)


@catches("LLM-TOOLS-6")
class NoToolRole(ReferenceLLM):
    """It claims tools and does not take their results."""

    roles = ("system", "user", "assistant")


@catches("LLM-TOOLS-6")
class ToolResultIsAKeyError(ReferenceLLM):
    """It expects an earlier tool call to be flat, which makes a nested one UNAVAILABLE."""

    def read_tool_call(self, tool_call: Fields) -> str:
        tool_call.values["arguments"]
        return super().read_tool_call(tool_call)


@catches("LLM-TOOLS-7")
class NoneCallsATool(ReferenceLLM):
    """It calls a tool whenever there is one."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        name = super().read_tool_choice(call, tools)
        return tools[0] if tools and call.args.values.get("tool_choice") == "none" else name


@catches("LLM-TOOLS-8")
class TwoToolsAtOnce(ReferenceLLM):
    """It calls two tools at once although it states one."""

    def tool_use(self, prompt: Prompt, name: str) -> Reply:
        reply = super().tool_use(prompt, name)
        return replace(reply, tool_calls=reply.tool_calls * 2)


@catches("LLM-TOOLS-10")
class FirstToolIsCalled(ReferenceLLM):
    """It calls the first tool, whichever is named."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        return super().read_tool_choice(call, tools) and tools[0]
