"""Mistakes with sampling parameters and messages (LLM-SAMPLING, LLM-MSG)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm_adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from . import catches

SAMPLING = ("temperature", "top_p", "frequency_penalty", "presence_penalty")


@catches("LLM-SAMPLING-1")
class ColderThanZero(ReferenceLLM):
    """It accepts temperatures just below 0, as if they were rounding errors."""

    def in_range(self, name: str, value: float) -> bool:
        return super().in_range(name, 0 if name == "temperature" and -0.1 < value < 0 else value)


@catches("LLM-SAMPLING-1")
class VeryHot(ReferenceLLM):
    """It accepts temperatures between 2.5 and 50, for another provider's scale."""

    def in_range(self, name: str, value: float) -> bool:
        return super().in_range(name, value) or (name == "temperature" and 2.5 < value < 50)


@catches("LLM-SAMPLING-2")
class TopPOfZero(ReferenceLLM):
    """It accepts a `top_p` of 0."""

    def in_range(self, name: str, value: float) -> bool:
        return (name == "top_p" and value == 0) or super().in_range(name, value)


@catches("LLM-SAMPLING-3")
class PenaltyChecked(ReferenceLLM):
    """It checks the frequency penalty at its upper end alone."""

    def in_range(self, name: str, value: float) -> bool:
        return value <= 2 if name == "frequency_penalty" else super().in_range(name, value)


@catches("LLM-SAMPLING-4")
class AnyPresencePenalty(ReferenceLLM):
    """It does not check the presence penalty."""

    def in_range(self, name: str, value: float) -> bool:
        return name == "presence_penalty" or super().in_range(name, value)


@catches("LLM-SAMPLING-4")
class PresencePenaltyUnavailable(ReferenceLLM):
    """It lets the provider fail on a presence penalty that is too large."""

    def in_range(self, name: str, value: float) -> bool:
        if name == "presence_penalty" and not super().in_range(name, value):
            raise AdapterError("Unavailable", "The provider failed")
        return super().in_range(name, value)


@catches("LLM-SAMPLING-5")
class NegativeMaxTokensIsNone(ReferenceLLM):
    """It takes a negative `max_tokens` for no limit."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = call.args.integer("max_tokens", at_least=-(2**63))
        return None if limit is not None and limit < 0 and not call.streaming else super().read_max_tokens(call)


@catches("LLM-SAMPLING-5")
class MaxTokensRounded(ReferenceLLM):
    """It rounds a fractional `max_tokens`."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = call.args.number("max_tokens")
        return super().read_max_tokens(call) if limit is None or limit < 0 else int(limit)


@catches("LLM-SAMPLING-6")
class UpperEndExcluded(ReferenceLLM):
    """It excludes the upper ends of the ranges."""

    def in_range(self, name: str, value: float) -> bool:
        return super().in_range(name, value) and value < self.ranges[name][1]


@catches("LLM-SAMPLING-6")
class ZeroTemperatureRefused(ReferenceLLM):
    """It refuses a temperature of 0 that is given as a float, and negative penalties."""

    def in_range(self, name: str, value: float) -> bool:
        return super().in_range(name, value) and value >= 0


@catches("LLM-SAMPLING-7")
class WordsAreAValueError(ReferenceLLM):
    """It turns sampling parameters into floats unchecked, which makes words UNAVAILABLE."""

    def read_sampling(self, call: Call) -> None:
        for name in SAMPLING:
            if call.args.values.get(name) is not None:
                float(call.args.values[name])
        super().read_sampling(call)


@catches("LLM-SAMPLING-7")
class ListOfLimits(ReferenceLLM):
    """It takes the first of a list of limits."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = call.args.values.get("max_tokens")
        return int(limit[0]) if isinstance(limit, list) else super().read_max_tokens(call)


@catches("LLM-SAMPLING-8")
class StreamSamplingUnchecked(ReferenceLLM):
    """It does not check the sampling parameters of a stream."""

    def read_sampling(self, call: Call) -> None:
        if not call.streaming or not all(self.is_number(call.args.values.get(name)) for name in SAMPLING):
            super().read_sampling(call)

    def is_number(self, value: object) -> bool:
        return value is None or isinstance(value, (int, float))


@catches("LLM-SAMPLING-8")
class NegativeStreamLimit(ReferenceLLM):
    """It takes a negative `max_tokens` of a stream for no limit."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = call.args.values.get("max_tokens")
        return None if call.streaming and limit == -1 else super().read_max_tokens(call)


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
    """It skips what is no message in a list."""

    def shaped(self, messages: Any) -> Any:
        return [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else messages


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
    """It does not look at tool calls that are no list."""

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
class StopsUnchecked(ReferenceLLM):
    """It writes stop sequences of other types as strings."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        stops = call.args.values.get("stop_sequences")
        return list(map(str, stops)) if isinstance(stops, list) else super().read_stop_sequences(call)


@catches("LLM-MSG-10")
class SystemMessageUnchecked(ReferenceLLM):
    """It writes a system message of another type as a string."""

    def read_system_message(self, call: Call) -> str:
        return str(call.args.values.get("system_message") or "")


@catches("LLM-SAMPLING-1")
class RangesOfTheFirstModel(ReferenceLLM):
    """It checks sampling parameters for the first model only."""

    def read_sampling(self, call: Call) -> None:
        if call.args.values.get("model") in (None, self.models[0]):
            super().read_sampling(call)
