"""The base of all reference adapters: one entry point, one envelope, one observation per call.

A component derives from `ReferenceAdapter` and states its facts as class attributes. Each operation is a method with
the bare operation name: a coroutine that returns `result`, or an async generator of `chunk` objects. Every decision is
a separate method or attribute, so a variant overrides only that one.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol, TypeVar

from pytest_corpus.reference.errors import AdapterError, FaultMapping, invalid
from pytest_corpus.reference.load import Load
from pytest_corpus.reference.request import Admission, Call, Fields, copy_json
from pytest_corpus.reference.telemetry import MetricsSink, Telemetry
from pytest_corpus.spec.operations import protocol_of

T = TypeVar("T")
Chunk = dict[str, Any]


class Provider(Protocol):
    """The provider of a real adapter, or a stand-in; it may raise, sleep or hang."""

    async def reached(self, op: str, **facts: Any) -> object: ...


def digest(value: object) -> str:
    """Return SHA-256 of the canonical JSON of a value; caches keep only this digest (SPECIFICATION 11.6)."""
    try:
        return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    except RecursionError:
        raise invalid("args", "TOO_DEEP", "must not be nested so deeply") from None


async def remember(memory: dict[str, T], key: str | None, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the entry of `memory` under `key`, made by `work` if it is missing; if `key` is None, only call `work`."""
    if key is None:
        return await work()
    if key not in memory:
        memory[key] = await work()
    found: T = copy_json(memory[key])
    return found


class ReferenceAdapter(Admission, FaultMapping, Telemetry):
    """A wire handler for one component, in memory and without network.

    Keywords: `metrics` receives telemetry; `provider` is awaited when a real adapter would call its provider.
    """

    server = "pytest-corpus-reference"
    version = "1.0.0"
    replayable: frozenset[str] = frozenset()
    concurrency, rate_limit_qps = 1_024, 100_000

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        self.metrics = metrics
        self.provider = provider
        self.replays: dict[str, Any] = {}
        self.load = Load()
        self.turns: dict[str, asyncio.Lock] = {}
        self.cache: dict[str, dict[str, Any]] = {}

    # The wire (SPECIFICATION 4.2)

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a unary request with a success or an error envelope. Nothing but a cancellation is raised."""
        call = Call(streaming=False)
        try:
            self.admit(call, envelope)
            return self.success(call, await self.within_budget(call, self.perform(call)))
        except Exception as fault:  # noqa: BLE001 - the boundary: every fault becomes an envelope
            return self.failure(call, fault)
        finally:
            self.report_end(call, "Unavailable")  # for a call that was abandoned; all others are settled by now
            self.load.release(call)

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the frames of a stream. The last one is a final chunk or an error envelope."""
        call = Call(streaming=True)
        try:
            self.admit(call, envelope)
            async with aclosing(getattr(self, call.op)(call)) as chunks:
                while chunk := await self.within_budget(call, self.next_chunk(chunks)):
                    yield self.frame(call, chunk)
        except Exception as fault:  # noqa: BLE001 - the boundary: every fault becomes the terminal frame
            yield self.failure(call, fault)
        finally:
            self.report_end(call, "Unavailable")
            self.load.release(call)

    def admit(self, call: Call, envelope: Mapping[str, Any]) -> None:
        """Check the members that all requests share: `ctx` first, so that the metrics of a refusal have its labels."""
        if not isinstance(envelope, Mapping):
            raise invalid("request", "WRONG_TYPE", "must be an object")
        call.operation = self.find_operation(envelope.get("op"))
        self.read_context(call, self.read_section(envelope, "ctx"))
        call.labels.update(self.context_labels(call))
        self.load.admit_call(call, self.concurrency, self.rate_limit_qps)
        call.args = self.read_section(envelope, "args")
        Fields(envelope, "request").required_text("op")
        self.route(call)

    def success(self, call: Call, result: Any) -> dict[str, Any]:
        self.report_end(call, "OK")
        return {"ok": True, "code": "OK", "ms": call.ms, "result": result}

    def frame(self, call: Call, chunk: Chunk) -> dict[str, Any]:
        if chunk["is_final"]:  # before the frame is out: a consumer need not come back for more
            self.report_end(call, "OK")
        return {"ok": True, "code": "STREAMING", "ms": call.ms, "chunk": chunk}

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = fault if isinstance(fault, AdapterError) else self.map_fault(fault)
        self.report_end(call, error.kind.name)
        return {
            "ok": False,
            "code": error.kind.code,
            "error": error.kind.name,
            "message": str(error),
            "retry_after_ms": error.retry_after_ms,
            "details": self.details(error, call.tenant_hash),
            "ms": call.ms,
        }

    # Deadlines (SPECIFICATION 6.1)

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` until the deadline at most. If the deadline has passed, `work` is not started."""
        try:
            return await asyncio.wait_for(work, self.seconds_left(call))
        except TimeoutError:
            raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent") from None

    def seconds_left(self, call: Call) -> float | None:
        """Return the seconds until the deadline; None if there is no limit, or the outcome was already reported."""
        exempt = call.operation is not None and call.operation.deadline_exempt
        return None if exempt or call.settled else call.seconds_left

    # Operations, replays and the provider

    async def perform(self, call: Call) -> Any:
        """Run a unary operation. A repeated idempotency key gets the first answer (SPECIFICATION 6.1).

        A repetition that arrives during the first call waits for it.
        """
        key, work = self.replay_key(call), partial(getattr(self, call.op), call)
        if key is None:
            return await work()
        async with self.turns.setdefault(key, asyncio.Lock()):
            return await remember(self.replays, key, work)

    def replay_key(self, call: Call) -> str | None:
        """Return the key under which the answer of a call is stored for replays; None if the answer is not stored."""
        if call.idempotency_key is None or call.op not in self.replayable:
            return None
        return digest([call.tenant_hash, call.op, call.args.values, call.idempotency_key])

    async def next_chunk(self, chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
        return await anext(chunks, None)

    async def reach(self, call: Call, **facts: Any) -> None:
        """Call the provider, and convert its exceptions to errors of the taxonomy."""
        if self.provider is None or call.operation is None:
            return
        try:
            await self.provider.reached(call.operation.op, **self.forwarded_context(call), **facts)
        except Exception as fault:  # noqa: BLE001 - a provider may raise anything
            raise self.map_fault(fault) from None

    def forwarded_context(self, call: Call) -> dict[str, Any]:
        """Return the part of the context that the provider gets: trace and deadline (SPECIFICATION 6.1, 11.3)."""
        given = {"traceparent": call.traceparent, "deadline_ms": call.deadline_ms}
        return {name: value for name, value in given.items() if value is not None}

    async def capabilities(self, call: Call) -> dict[str, Any]:  # noqa: ARG002 - has the shape of all operations
        """Return the facts that every component states (SPECIFICATION 6.2); components add their facts."""
        return {
            "server": self.server,
            "version": self.version,
            "protocol": protocol_of(self.component),
            "limits": {"concurrency": self.concurrency, "rate_limit_qps": self.rate_limit_qps},
            **self.features,
            "extensions": {"reference:deterministic": True},
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """Return the health report. A failing provider is part of the report, not an error (SPECIFICATION 7.6)."""
        report = {"ok": True, "status": "ok", "server": self.server, "version": self.version}
        try:
            await self.reach(call)
        except AdapterError as error:
            report.update(ok=False, status="down", reason=error.kind.code)
        return report
