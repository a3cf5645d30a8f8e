"""Mistakes in what components share (COM-CAP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Envelope


@catches("COM-CAP-1")
class CapabilitiesAreAList(ReferenceLLM):
    """It gives its capabilities as a list of features."""

    async def capabilities(self, call: Call) -> Any:
        return sorted(await super().capabilities(call))


@catches("COM-CAP-1")
class CapabilitiesOnce(ReferenceLLM):
    """It answers `capabilities` once and asks whoever comes again to come later."""

    told = False

    async def capabilities(self, call: Call) -> Envelope:
        if self.told:
            raise AdapterError("Unavailable", "Capabilities do not change: keep them")
        self.told = True
        return await super().capabilities(call)


@catches("COM-CAP-2")
class VersionIsMissing(ReferenceLLM):
    """It does not state its version."""

    async def capabilities(self, call: Call) -> Envelope:
        facts = await super().capabilities(call)
        del facts["version"]
        return facts


@catches("COM-CAP-3")
class ProtocolWithoutMinor(ReferenceLLM):
    """It states its protocol without the minor version."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "protocol": "llm/v1"}


@catches("COM-CAP-3")
class ProtocolOfTheFamily(ReferenceLLM):
    """It states the family of protocols instead of the component's."""

    asked_for_by_name = True

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "protocol": "corpus/v1.0"}


@catches("COM-CAP-4")
class LimitIsAText(ReferenceLLM):
    """It writes a limit with its unit."""

    async def capabilities(self, call: Call) -> Envelope:
        limits = {"max_context_length": f"{self.context_window} tokens"}
        return {**await super().capabilities(call), "limits": limits}


@catches("COM-CAP-4")
class ModelsInOneText(ReferenceLLM):
    """It lists its models in one string."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "supported_models": ", ".join(self.models)}


@catches("COM-CAP-5")
class BareExtension(ReferenceLLM):
    """It adds an extension without a namespace."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "extensions": {"deterministic": True}}


@catches("COM-CAP-6")
class ClaimedCountMissing(ReferenceLLM):
    """It claims to count tokens and does not."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        raise AdapterError("NotSupported", "Token counts are not offered yet")


@catches("COM-CAP-6")
class ClaimedStreamFails(ReferenceLLM):
    """It claims to stream and fails."""

    def read_messages(self, call: Call) -> list[str]:
        if call.streaming:
            raise AdapterError("Unavailable", "Streams are not offered yet")
        return super().read_messages(call)


class WithoutStreams(ReferenceLLM):
    """A legal adapter that denies streaming."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_streaming": False}


class WithoutCounts(ReferenceLLM):
    """A legal adapter that denies token counts."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_count_tokens": False}


@catches("COM-CAP-7", control=WithoutStreams)
class DeniedStreamFails(WithoutStreams):
    """It fails with UNAVAILABLE where it denies to stream."""

    def require(self, feature: str) -> None:
        if feature == "supports_streaming":
            raise AdapterError("Unavailable", "Streams are not offered")
        super().require(feature)


@catches("COM-CAP-7", control=WithoutCounts)
class DeniedCountIsBadRequest(WithoutCounts):
    """It calls a request for a token count bad where it denies to count."""

    def require(self, feature: str) -> None:
        if feature == "supports_count_tokens":
            raise AdapterError("BadRequest", "Token counts are not offered")
        super().require(feature)


@catches("COM-CAP-8", control=WithoutStreams)
class DeniedStreamWorks(WithoutStreams):
    """It streams although it denies it."""

    def require(self, feature: str) -> None:
        if feature != "supports_streaming":
            super().require(feature)


@catches("COM-CAP-9")
class NoStreamingDoor(ReferenceLLM):
    """It claims to stream and has no `handle_stream`."""

    handle_stream = None  # type: ignore[assignment]


@catches("COM-CAP-10")
class KeyOfItsOwn(ReferenceLLM):
    """It states the region of its provider among the features."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "features": {"region": "eu-west-1"}}


@catches("COM-CAP-10")
class KeyAtTheTop(ReferenceLLM):
    """It states at the top whether it reasons."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "supports_reasoning": True}


@catches("COM-CAP-11")
class RateIsNotTold(ReferenceLLM):
    """It does not say how many calls it takes in a second."""

    async def capabilities(self, call: Call) -> Envelope:
        facts = await super().capabilities(call)
        limits = {name: limit for name, limit in facts["limits"].items() if name != "rate_limit_qps"}
        return {**facts, "limits": limits}
