"""Mistakes in what components share (COM-STREAM)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches

Envelope = dict[str, Any]
EMPTY = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"text": "", "is_final": False}}
FINAL = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"text": "", "is_final": True}}


@catches("COM-STREAM-1")
class UsageBesideTheLastChunk(ReferenceLLM):
    """It adds the usage to the last frame, beside the chunk."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        more = {"usage": chunk["usage_so_far"]} if chunk["is_final"] else {}
        return {**super().frame(call, chunk), **more}


@catches("COM-STREAM-1")
class EventFrames(ReferenceLLM):
    """It emits the frames of a gateway."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        frame = super().frame(call, chunk)
        return {"event": "end" if chunk["is_final"] else "data", "data": frame}


@catches("COM-STREAM-2")
class LastFrameOkIsOne(ReferenceLLM):
    """It writes `ok` as a number in the last frame."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        return {**super().frame(call, chunk), "ok": 1 if chunk["is_final"] else True}


@catches("COM-STREAM-3")
class LastFrameSaysOk(ReferenceLLM):
    """It gives the last frame the code of a unary success."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        return {**super().frame(call, chunk), "code": "OK" if chunk["is_final"] else "STREAMING"}


@catches("COM-STREAM-4")
class LastFrameMsIsNegative(ReferenceLLM):
    """It gives the last frame -1 milliseconds."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        return {**super().frame(call, chunk), "ms": -1 if chunk["is_final"] else call.ms}


@catches("COM-STREAM-5")
class SizeCountedInCharacters(ReferenceLLM):
    """It fills the last frame of a longer stream with a million characters of two bytes each."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        long = chunk["is_final"] and len(str(call.args.values.get("messages"))) > 80
        return super().frame(call, {**chunk, "text": "ü" * 600_000} if long else chunk)


@catches("COM-STREAM-6")
class LimitedStreamHasNoEnd(ReferenceLLM):
    """It ends a stream without a final chunk where `max_tokens` cuts it short."""

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        open_end = chunk["is_final"] and call.args.values.get("max_tokens") is None
        return {**super().frame(call, chunk), "chunk": {**chunk, "is_final": open_end}}


@catches("COM-STREAM-6")
class BrokenStreamJustEnds(ReferenceLLM):
    """It ends a stream without a word where the provider fails on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            if not begun or frame.get("error") != "Unavailable":
                yield frame
            begun = True


@catches("COM-STREAM-7")
class TwoFinalFrames(ReferenceLLM):
    """It sends the final frame of a cut stream twice."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            yield frame
            if frame["ok"] and frame["chunk"]["is_final"] and "max_tokens" in str(envelope):
                yield FINAL


@catches("COM-STREAM-7")
class ErrorThenFinal(ReferenceLLM):
    """It sends a final frame after the error that ended the stream."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            yield frame
            if begun and not frame["ok"]:
                yield FINAL
            begun = True


@catches("COM-STREAM-8")
class RefusedStreamSpeaks(ReferenceLLM):
    """It sends a first word before it checks the arguments."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if not frame["ok"] and "validation_errors" in frame["details"]:
                yield {**EMPTY, "chunk": {"text": "Well", "is_final": False}}
            yield frame


@catches("COM-STREAM-9")
class BrokenStreamEndsWell(ReferenceLLM):
    """It ends a stream as if it were complete where the provider fails on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            broken = begun and frame.get("error") == "Unavailable"
            yield FINAL if broken else frame
            begun = True


@catches("COM-STREAM-9")
class BrokenStreamIsBadRequest(ReferenceLLM):
    """It loses the class of a failure between two chunks."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError:
            if facts.get("chunk"):
                raise AdapterError("BadRequest", "The stream broke off") from None
            raise
