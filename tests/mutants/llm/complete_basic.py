"""Mistakes that llm/test_complete_basic.py finds (LLM-CACHE, LLM-COMPLETE, LLM-CONTEXT, LLM-MODEL)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import OpenModels, Result


@catches("LLM-COMPLETE-1")
class CompletionIsAText(ReferenceLLM):
    """It gives the text of a completion as the result."""

    def completion(self, prompt: Prompt, reply: Reply) -> Any:
        return super().completion(prompt, reply)["text"]


@catches("LLM-COMPLETE-1")
class ProvidersCompletion(ReferenceLLM):
    """It passes the provider's list of choices on beside the text."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        return {**super().completion(prompt, reply), "choices": [{"index": 0, "text": reply.text}]}


@catches("LLM-COMPLETE-1")
class CutCompletionHasNoReason(ReferenceLLM):
    """It gives no reason where `max_tokens` cut a completion short."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        result = super().completion(prompt, reply)
        return {**result, "finish_reason": None} if reply.finish_reason == "length" else result


@catches("LLM-COMPLETE-2")
class ProvidersReasonWhereCut(ReferenceLLM):
    """It maps every reason of the provider but the one for a cut completion."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        result = super().completion(prompt, reply)
        return {**result, "finish_reason": "max_tokens"} if reply.finish_reason == "length" else result


@catches("LLM-COMPLETE-3")
class TotalOfTheUncutText(ReferenceLLM):
    """It counts the tokens that `max_tokens` cut away in the total."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        result = super().completion(prompt, reply)
        cut = int(reply.finish_reason == "length")
        return {**result, "usage": {**result["usage"], "total_tokens": result["usage"]["total_tokens"] + cut}}


@catches("LLM-COMPLETE-4")
class OneTokenMore(ReferenceLLM):
    """It takes `max_tokens` for the last index and completes one token more."""

    async def answer(self, call: Call, prompt: Prompt) -> Result:
        return await super().answer(call, replace(prompt, limit=prompt.limit + 1))


@catches("LLM-COMPLETE-4")
class LimitOnlyInTheUsage(ReferenceLLM):
    """It cuts the usage at `max_tokens` and not the text."""

    async def answer(self, call: Call, prompt: Prompt) -> Result:
        uncut = await super().answer(call, replace(prompt, limit=self.context_window))
        spent = min(prompt.limit, uncut["usage"]["completion_tokens"])
        return {**uncut, "usage": self.usage(prompt, spent)}


@catches("LLM-COMPLETE-5")
class AlwaysTheFirstModel(ReferenceLLM):
    """It names its default model, whichever it was asked for."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        return {**super().completion(prompt, reply), "model": self.models[0]}


@catches("LLM-COMPLETE-6")
class SystemMessageRefused(ReferenceLLM):
    """It claims system messages and does not take one with a completion."""

    def read_system_message(self, call: Call) -> str:
        text = super().read_system_message(call)
        if text and not call.streaming:
            raise AdapterError("NotSupported", "System messages are not offered")
        return text


@catches("LLM-COMPLETE-6")
class TwoPenaltiesFail(ReferenceLLM):
    """It fails on a completion with both penalties, which makes it UNAVAILABLE."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        if {"frequency_penalty", "presence_penalty"} <= call.args.values.keys() and not call.streaming:
            raise TypeError("one penalty was expected")


@catches("LLM-COMPLETE-7")
class ModelRequired(ReferenceLLM):
    """It has no default model for a completion."""

    def read_model(self, call: Call) -> str:
        if call.op == "complete":
            call.args.required_text("model")
        return super().read_model(call)


@catches("LLM-MODEL-1", others=6)
class SecondModelStreamsOnly(ReferenceLLM):
    """It lists a model that streams and does not complete."""

    def read_model(self, call: Call) -> str:
        model = super().read_model(call)
        if model == self.models[1] and call.op == "complete":
            raise AdapterError("NotSupported", "The model streams only")
        return model


@catches("LLM-MODEL-2")
class UnknownModelReplaced(OpenModels):
    """It completes with its default model where it does not know the one it is asked for."""


@catches("LLM-MODEL-2")
class UnknownModelIsANetworkFailure(OpenModels):
    """It takes a model that it does not know for one that the network does not reach."""

    def unlisted(self) -> str:
        raise AdapterError("TransientNetwork", "The model was not reached")


@catches("LLM-MODEL-3")
class UnknownModelStreams(OpenModels):
    """It streams with its default model where it does not know the one it is asked for."""

    def concerns(self, call: Call) -> bool:
        return call.streaming


@catches("LLM-MODEL-3")
class UnknownModelOverloaded(OpenModels):
    """It asks to stream again later where it does not know the model."""

    def concerns(self, call: Call) -> bool:
        return call.streaming

    def unlisted(self) -> str:
        raise AdapterError("ResourceExhausted", "There is no instance of the model", retry_after_ms=5000)


@catches("LLM-CONTEXT-1")
class LongPromptUnavailable(ReferenceLLM):
    """It lets the provider fail on a prompt that is too long and calls it UNAVAILABLE."""

    def check_context(self, model: str, tokens: int) -> None:
        if tokens > self.context_window:
            raise AdapterError("Unavailable", "The provider failed")


@catches("LLM-CONTEXT-1")
class LongPromptCut(ReferenceLLM):
    """It cuts a prompt that is too long without a word."""

    def check_context(self, model: str, tokens: int) -> None:
        return


@catches("LLM-CONTEXT-4")
class HalfTheWindow(ReferenceLLM):
    """It refuses prompts of a fifth of the window that it states."""

    def check_context(self, model: str, tokens: int) -> None:
        super().check_context(model, 5 * tokens)


@catches("LLM-CONTEXT-2")
class LongPromptStreams(ReferenceLLM):
    """It does not check how long a prompt is where it streams."""

    def read_prompt(self, call: Call) -> Prompt:
        self.checked = not call.streaming
        return super().read_prompt(call)

    def check_context(self, model: str, tokens: int) -> None:
        if self.checked:
            super().check_context(model, tokens)


@catches("LLM-CONTEXT-2")
class LongStreamUnavailable(ReferenceLLM):
    """It calls a prompt that is too long to stream UNAVAILABLE."""

    def read_prompt(self, call: Call) -> Prompt:
        try:
            return super().read_prompt(call)
        except AdapterError as error:
            if call.streaming and error.kind.name == "PromptTooLong":
                raise AdapterError("Unavailable", "The provider failed") from None
            raise


@catches("LLM-CONTEXT-3")
class LongPromptIsAnyBadRequest(ReferenceLLM):
    """It does not tell a prompt that is too long from other bad requests."""

    def check_context(self, model: str, tokens: int) -> None:
        if tokens > self.context_window:
            raise AdapterError("BadRequest", "The messages are too long")


class Cached(ReferenceLLM):
    """The reference with the parts of its cache key listed, so that a mutant leaves one out."""

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        key = super().cache_key(call, prompt)
        args = {**call.args.values, "model": prompt.model}
        return key and digest([call.tenant_hash, self.cached_by(args)])

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        """What the key holds of the arguments."""
        return args


@catches("LLM-CACHE-1")
class CacheByTheLastMessage(Cached):
    """It takes the last message alone into the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {**args, "messages": args["messages"][-1]}


@catches("LLM-CACHE-1")
class CacheInAnyOrder(Cached):
    """It sorts the messages for the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {**args, "messages": sorted(map(repr, args["messages"]))}


@catches("LLM-CACHE-1")
class CacheByTexts(Cached):
    """It takes the texts of the messages into the key of its cache, but not their roles."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {**args, "messages": [message["content"] for message in args["messages"]]}


@catches("LLM-CACHE-2")
class CacheOfAnyModel(Cached):
    """It leaves the model out of the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {key: value for key, value in args.items() if key != "model"}


@catches("LLM-CACHE-2")
class CacheOfAnyLimit(Cached):
    """It leaves `max_tokens` out of the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {key: value for key, value in args.items() if key != "max_tokens"}


@catches("LLM-CACHE-2")
class CacheOfAnyStops(Cached):
    """It leaves the stop sequences, which it heeds, out of the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {key: value for key, value in args.items() if key != "stop_sequences"}


@catches("LLM-CACHE-2")
class CacheOfAnyTools(Cached):
    """It leaves the tools out of the key of its cache."""

    def cached_by(self, args: Mapping[str, Any]) -> Any:
        return {key: value for key, value in args.items() if not key.startswith("tool")}


@catches("LLM-CONTEXT-3")
class RoomIsCheckedFirst(ReferenceLLM):
    """It refuses a prompt that leaves no room for `max_tokens` without saying that it is too long."""

    def check_context(self, model: str, tokens: int) -> None:
        if self.asked and tokens > self.context_window:
            raise AdapterError("BadRequest", "args.max_tokens leave no room for the prompt")
        super().check_context(model, tokens)

    def read_max_tokens(self, call: Call) -> int | None:
        self.asked = call.args.values.get("max_tokens") is not None
        return super().read_max_tokens(call)


@catches("LLM-COMPLETE-3")
class TotalInFloatsIsWrong(ReferenceLLM):
    """It gives its usage as floats, and a total that is one more than its parts."""

    def completion(self, prompt: Prompt, reply: Reply) -> Result:
        result = super().completion(prompt, reply)
        usage = {key: float(count) for key, count in result["usage"].items()}
        return {**result, "usage": {**usage, "total_tokens": usage["total_tokens"] + 1}}


@catches("LLM-CACHE-3")
class SampledAnswersCached(ReferenceLLM):
    """It answers from its cache whatever the temperature."""

    def cache_key(self, call: Call, prompt: Prompt) -> str | None:
        return digest([call.tenant_hash, prompt.model, call.args.values])


class Numbered(ReferenceLLM):
    """A legal variant that numbers its answers, as a provider does."""

    number = 0

    async def answer(self, call: Call, prompt: Prompt) -> dict[str, Any]:
        completion = await super().answer(call, prompt)
        self.number += 1
        return {**completion, "provider_specific": {"answer": self.number}}


@catches("LLM-IDEM-1")
class ReplayCostsNothing(ReferenceLLM):
    """It counts no tokens of the prompt for a replay."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        if not known:
            return result
        usage = result["usage"]
        return {**result, "usage": {**usage, "prompt_tokens": 0, "total_tokens": usage["completion_tokens"]}}


@catches("LLM-IDEM-1", control=Numbered)
class ReplayAsksAgain(Numbered):
    """It claims replays and asks the model for each."""

    replayable = frozenset()


@catches("COM-IDEM-4", control=Numbered)
class FirstAnswersAreLookedForTooSoon(Numbered):
    """It looks for a first answer before the first call has come to one."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is None or key in self.replays:
            return await super().perform(call)
        self.replays[key] = await getattr(self, call.op)(call)
        return self.replays[key]


@catches("COM-IDEM-5")
class FailuresAreReplayed(ReferenceLLM):
    """It keeps a failure under its key, and answers with it again."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is not None and isinstance(failure := self.replays.get(key), AdapterError):
            raise failure
        try:
            return await super().perform(call)
        except AdapterError as failure:
            if key is not None:
                self.replays[key] = failure
            raise


@catches("LLM-CONTEXT-5")
class WhoseWindowIsNotTold(ReferenceLLM):
    """It does not say which model's window a prompt exceeds."""

    def check_context(self, model: str, tokens: int) -> None:
        try:
            super().check_context(model, tokens)
        except AdapterError as error:
            del error.details["model"]
            raise


@catches("LLM-MODEL-4")
class UnknownModelIsNotNamed(ReferenceLLM):
    """It does not say which model it does not know."""

    def unknown_model(self, model: str) -> AdapterError:
        error = super().unknown_model(model)
        del error.details["model"]
        return error
