"""Mistakes in what components share (COM-ENV, COM-WIRE)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime, timezone
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider, ReferenceAdapter
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.spec.operations import Operation

from .. import catches
from .shared import op_of


class WrongClass(ReferenceAdapter):
    """Answers every bad request with UNAVAILABLE."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        if isinstance(fault, AdapterError) and fault.kind.family == "BadRequest":
            fault = AdapterError("Unavailable", "The service is temporarily unavailable")
        return super().failure(call, fault)


@catches("COM-WIRE-7")
class WrongClassLLM(WrongClass, ReferenceLLM):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class WrongClassVector(WrongClass, ReferenceVector):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class WrongClassEmbedding(WrongClass, ReferenceEmbedding):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class WrongClassGraph(WrongClass, ReferenceGraph):
    """It answers every bad request with UNAVAILABLE."""


Envelope = dict[str, Any]


@catches("COM-WIRE-1")
class ExceptionEscapes(ReferenceLLM):
    """It maps the exceptions that it knows and lets all others out."""

    def classify(self, fault: Exception) -> str:
        if getattr(fault, "http_status", None) is None:
            raise fault
        return super().classify(fault)


@catches("COM-WIRE-1")
class OpReadUnchecked(ReferenceLLM):
    """It reads `op` before it has looked at the request, and raises KeyError or TypeError."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        assert "op" in envelope
        return await super().handle(envelope)


@catches("COM-WIRE-1")
class StreamRaisesInTheMiddle(ReferenceLLM):
    """It lets a failure after the first frame out of the iterator instead of turning it into a frame."""

    begun: Call | None = None

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        self.begun = call
        return super().frame(call, chunk)

    def failure(self, call: Call, fault: Exception) -> Envelope:
        if call is self.begun:
            raise fault
        return super().failure(call, fault)


@catches("COM-WIRE-2")
class HealthHangs(ReferenceLLM):
    """It waits in `health` for an event that nobody sets."""

    async def health(self, call: Call) -> Envelope:
        await asyncio.Event().wait()
        return await super().health(call)


@catches("COM-WIRE-2")
class LockNotReleased(ReferenceLLM):
    """It does not release its lock where counting fails, so that the next count waits for ever."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.lock = asyncio.Lock()

    async def count_tokens(self, call: Call) -> dict[str, int]:
        await self.lock.acquire()
        counted = await super().count_tokens(call)
        self.lock.release()
        return counted


@catches("COM-WIRE-2")
class StreamStaysOpen(ReferenceLLM):
    """It does not end the iterator after the final frame."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            yield frame
            if frame["ok"] and frame["chunk"]["is_final"]:
                await asyncio.Event().wait()


@catches("COM-WIRE-3")
class ReportIsNoJson(ReferenceLLM):
    """It puts a `datetime` object into the health report."""

    async def health(self, call: Call) -> Envelope:
        return {**await super().health(call), "checked_at": datetime.now(timezone.utc)}


@catches("COM-WIRE-3")
class BareResult(ReferenceLLM):
    """It answers `health` with the report itself instead of an envelope."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        answer = await super().handle(envelope)
        healthy = answer["ok"] and op_of(envelope) == "llm.health" and answer["result"]["ok"]
        bare: Envelope = answer["result"] if healthy else answer
        return bare


@catches("COM-WIRE-3")
class FramesAsPairs(ReferenceLLM):
    """It yields each frame as a list of an index and the frame."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        async for frame in super().handle_stream(envelope):
            yield [0, frame] if frame["ok"] else frame


@catches("COM-WIRE-4")
class NoObjectIsAPing(ReferenceLLM):
    """It takes a request that is not an object for a health check."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        ping = {"op": "llm.health", "ctx": {}, "args": {}}
        return await super().handle(envelope if isinstance(envelope, Mapping) else ping)


@catches("COM-WIRE-5")
class NoObjectStreamsNothing(ReferenceLLM):
    """It answers a stream request that is not an object with an empty final chunk."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        if not isinstance(envelope, Mapping):
            yield {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"text": "", "is_final": True}}
            return
        async for frame in super().handle_stream(envelope):
            yield frame


@catches("COM-WIRE-6")
class SectionsOptional(ReferenceLLM):
    """It takes a missing `ctx` or `args` for an empty one."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        return super().read_section({name: {}, **envelope}, name)


@catches("COM-WIRE-6")
class MissingOpIsUnknown(ReferenceLLM):
    """It says NOT_SUPPORTED where `op` is missing, as for an unknown operation."""

    def admit(self, call: Call, envelope: Mapping[str, Any]) -> None:
        if isinstance(envelope, Mapping) and "op" not in envelope:
            raise AdapterError("NotSupported", "The operation is not known")
        super().admit(call, envelope)


@catches("COM-WIRE-7")
class WrongContextIgnored(ReferenceLLM):
    """It takes a `ctx` that is not an object for an empty one."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        wrong = name == "ctx" and name in envelope and not isinstance(envelope[name], Mapping)
        return super().read_section({**envelope, name: {}} if wrong else envelope, name)


@catches("COM-WIRE-7")
class WrongArgsAreATypeError(ReferenceLLM):
    """It turns `args` into a dict unchecked, which makes a list of them UNAVAILABLE."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if envelope.get(name):
            dict(envelope[name])
        return super().read_section(envelope, name)


@catches("COM-WIRE-7")
class WrongOpIsUnknown(ReferenceLLM):
    """It looks an `op` that is not a string up like any other and says NOT_SUPPORTED."""

    def find_operation(self, op: object) -> Operation | None:
        if op is not None and not isinstance(op, str):
            raise AdapterError("NotSupported", "The operation is not known")
        return super().find_operation(op)


@catches("COM-WIRE-8")
class UnknownOpIsBadRequest(ReferenceLLM):
    """It says BAD_REQUEST for an operation that it does not know."""

    def route(self, call: Call) -> None:
        if call.operation is None:
            raise AdapterError("BadRequest", "The operation is not known")
        super().route(call)


@catches("COM-WIRE-9")
class OpInAnyCase(ReferenceLLM):
    """It compares operation names without regard to case and spaces."""

    def find_operation(self, op: object) -> Operation | None:
        return super().find_operation(op.strip().lower() if isinstance(op, str) else op)


@catches("COM-WIRE-10")
class StreamsCollected(ReferenceLLM):
    """It carries out `stream` at the unary entry point and gives the chunks as one text."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        if op_of(envelope) != "llm.stream":
            return await super().handle(envelope)
        frames = [frame async for frame in self.handle_stream(envelope)]
        if not frames[-1]["ok"]:
            return frames[-1]
        text = "".join(frame["chunk"]["text"] for frame in frames)
        return {"ok": True, "code": "OK", "ms": frames[-1]["ms"], "result": {"text": text}}


@catches("COM-WIRE-11")
class CompletionsStreamed(ReferenceLLM):
    """It carries out `complete` at the streaming entry point, as if it were `stream`."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        if op_of(envelope) == "llm.complete":
            answer = await self.handle(envelope)
            chunk = {"text": "", "is_final": True}
            yield {"ok": True, "code": "STREAMING", "ms": answer["ms"], "chunk": chunk} if answer["ok"] else answer
            return
        async for frame in super().handle_stream(envelope):
            yield frame


@catches("COM-WIRE-12")
class UnknownKeyIsATypeError(ReferenceLLM):
    """It passes the request on as keyword arguments, which makes an unknown key UNAVAILABLE."""

    def admit(self, call: Call, envelope: Mapping[str, Any]) -> None:
        if isinstance(envelope, Mapping) and not set(envelope) <= {"op", "ctx", "args"}:
            raise TypeError("unexpected keyword argument")
        super().admit(call, envelope)


@catches("COM-WIRE-13")
class UnknownArgumentIsATypeError(ReferenceLLM):
    """It passes `args` on as keyword arguments, which makes an unknown one UNAVAILABLE."""

    def read_model(self, call: Call) -> str:
        if "vendor_hint" in call.args.values:
            raise TypeError("unexpected keyword argument")
        return super().read_model(call)


@catches("COM-WIRE-13")
class UnknownStreamArgumentIsNotSupported(ReferenceLLM):
    """It refuses an unknown argument of a stream with NOT_SUPPORTED."""

    def read_model(self, call: Call) -> str:
        if call.streaming and "vendor_hint" in call.args.values:
            raise AdapterError("NotSupported", "The argument is not known")
        return super().read_model(call)


@catches("COM-ENV-1")
class CountHasRequestId(ReferenceLLM):
    """It adds a request id to the envelope of `count_tokens` alone."""

    def success(self, call: Call, result: Any) -> Envelope:
        more = {"request_id": "r1"} if call.op == "count_tokens" else {}
        return {**super().success(call, result), **more}


@catches("COM-ENV-2")
class HealthyCode(ReferenceLLM):
    """It answers `health` with a code of its own."""

    def success(self, call: Call, result: Any) -> Envelope:
        code = "HEALTHY" if call.op == "health" else "OK"
        return {**super().success(call, result), "code": code}


@catches("COM-ENV-3")
class MsIsAText(ReferenceLLM):
    """It writes `ms` as a string."""

    def success(self, call: Call, result: Any) -> Envelope:
        return {**super().success(call, result), "ms": f"{call.ms:.1f}"}


@catches("COM-ENV-3")
class HealthEndsBeforeItBegins(ReferenceLLM):
    """It subtracts the times of `health` the wrong way round."""

    def success(self, call: Call, result: Any) -> Envelope:
        sign = -1 if call.op == "health" else 1
        return {**super().success(call, result), "ms": sign * call.ms}


@catches("COM-ENV-4")
class SuccessIsAccepted(ReferenceLLM):
    """It says ACCEPTED where the work is done."""

    def success(self, call: Call, result: Any) -> Envelope:
        return {**super().success(call, result), "code": "ACCEPTED"}


@catches("COM-ENV-5")
class OkIsOne(ReferenceLLM):
    """It writes `ok` as a number."""

    def success(self, call: Call, result: Any) -> Envelope:
        return {**super().success(call, result), "ok": 1}


@catches("COM-WIRE-4")
class ListsAreAnOutage(ReferenceLLM):
    """It answers a list in a request's place with UNAVAILABLE."""

    def admit(self, call: Call, envelope: Mapping[str, Any]) -> None:
        if isinstance(envelope, list):
            raise AdapterError("Unavailable", "The service is temporarily unavailable")
        super().admit(call, envelope)


@catches("COM-WIRE-11")
class UnknownStreamIsABadRequest(ReferenceLLM):
    """It refuses an unknown operation at the streaming entry point as a bad request."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if frame.get("error") == "NotSupported" and op_of(envelope) == "llm.no_such_operation":
                yield {**frame, "error": "BadRequest", "code": "BAD_REQUEST"}
            else:
                yield frame


class FourAtOnce(ReferenceLLM):
    """The reference, which carries out four calls at once and puts off the fifth, as its capabilities say."""

    concurrency = 4

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = super().failure(call, fault)
        return self.put_off(error) if "at once" in error["message"] else error

    def put_off(self, error: dict[str, Any]) -> dict[str, Any]:
        """What the fifth call gets."""
        return error


@catches("COM-CONC-2", control=FourAtOnce)
class FifthCallIsBad(FourAtOnce):
    """It calls the fifth of five calls at once a bad request."""

    def put_off(self, error: dict[str, Any]) -> dict[str, Any]:
        return {**error, "error": "BadRequest", "code": "BAD_REQUEST", "retry_after_ms": None}


@catches("COM-CONC-2", control=FourAtOnce)
class FifthCallIsNotToldWhen(FourAtOnce):
    """It does not say when to come again where too many calls come at once."""

    def put_off(self, error: dict[str, Any]) -> dict[str, Any]:
        return {**error, "retry_after_ms": None}
