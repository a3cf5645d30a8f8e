"""Mistakes that llm/test_sampling_params_validation.py finds (LLM-SAMPLING)."""

from __future__ import annotations

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches

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


@catches("LLM-SAMPLING-1")
class RangesOfTheFirstModel(ReferenceLLM):
    """It checks sampling parameters for the first model only."""

    def read_sampling(self, call: Call) -> None:
        if call.args.values.get("model") in (None, self.models[0]):
            super().read_sampling(call)


@catches("LLM-SAMPLING-10")
class StopsOrLimit(ReferenceLLM):
    """It refuses a completion with both stop sequences and a limit."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        stops = super().read_stop_sequences(call)
        if stops and call.args.values.get("max_tokens") is not None and not call.streaming:
            raise call.args.invalid("stop_sequences", "NOT_ALLOWED", "must not come with a limit")
        return stops


@catches("LLM-SAMPLING-10")
class StreamStopsRefused(ReferenceLLM):
    """It takes the stop sequences of a completion and refuses those of a stream."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        stops = super().read_stop_sequences(call)
        if stops and call.streaming:
            raise AdapterError("NotSupported", "Streams have no stop sequences")
        return stops


@catches("LLM-SAMPLING-11")
class StopsUnchecked(ReferenceLLM):
    """It writes stop sequences of other types as strings."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        stops = call.args.values.get("stop_sequences")
        return list(map(str, stops)) if isinstance(stops, list) else super().read_stop_sequences(call)


@catches("LLM-SAMPLING-11")
class StreamPenaltiesUnchecked(ReferenceLLM):
    """It does not look at the penalties of a stream."""

    def in_range(self, name: str, value: float) -> bool:
        return (self.streams and name.endswith("penalty")) or super().in_range(name, value)

    def read_sampling(self, call: Call) -> None:
        self.streams = call.streaming
        super().read_sampling(call)


@catches("LLM-SAMPLING-9")
class StopSequencesIgnored(ReferenceLLM):
    """It goes on where it is told to stop."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        super().read_stop_sequences(call)
        return []
