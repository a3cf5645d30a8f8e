"""Mistakes with tools (LLM-TOOLS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm_adapter import Prompt, ReferenceLLM, Reply
from pytest_corpus.reference.request import Call, Fields

from . import catches


@catches("LLM-TOOLS-1")
class RequiredToolNotCalled(ReferenceLLM):
    """It leaves it to the model whether a required tool is called."""

    def read_tool_choice(self, call: Call, tools: list[str]) -> str | None:
        name = super().read_tool_choice(call, tools)
        return None if call.args.values.get("tool_choice") == "required" else name


@catches("LLM-TOOLS-2")
class ArgumentsAreAnObject(ReferenceLLM):
    """It gives the arguments of a tool call as a text that is no JSON."""

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
