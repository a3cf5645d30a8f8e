"""What every embedded reference adapter shares: one way in, one envelope out, one observation a call.

A component derives from `ReferenceAdapter`, states its facts as class attributes and lists its operations in
`_unary` and `_streams`. Every decision is a method of its own, so that a variant overrides just that one.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import hmac
import json
import logging
import math
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakValueDictionary

from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP, Operation

T = TypeVar("T")
Chunk = dict[str, Any]
Unary = Callable[["Call"], Coroutine[Any, Any, Any]]
Stream = Callable[["Call"], AsyncGenerator[Chunk, None]]

LARGEST_INTEGER = 2**63 - 1
_JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "a string": str,
    "an array": list,
    "an object": Mapping,
    "a number": (int, float),
}
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_log = logging.getLogger(__name__)


class MetricsSink(Protocol):
    """Where telemetry goes (SPECIFICATION 6.4)."""

    def observe(
        self, *, component: str, op: str, ms: float, ok: bool, code: str, extra: Mapping[str, Any]
    ) -> None: ...

    def counter(self, *, component: str, name: str, value: int, extra: Mapping[str, Any]) -> None: ...


class Provider(Protocol):
    """What stands where a real adapter calls its provider; it may raise, sleep or hang."""

    async def reached(self, op: str, **facts: Any) -> object: ...


class AdapterError(Exception):
    """A failure of a class in the taxonomy; its message names fields and rules, never a value."""

    def __init__(
        self, name: str, message: str, *, retry_after_ms: float | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.kind = TAXONOMY[name]
        self.retry_after_ms = retry_after_ms
        self.details = details


def invalid(path: str, code: str, rule: str, *, error: str = "BadRequest") -> AdapterError:
    """A validation failure: `details.validation_errors` is `[{field, code}]` (BEHAVIORAL_CONFORMANCE 6.3)."""
    return AdapterError(error, f"{path} {rule}", validation_errors=[{"field": path, "code": code}])


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of a value: all that caches know of content (SPECIFICATION 11.6)."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Fields:
    """Typed access to the members of a request object; null counts as absent.

    Every reader raises a validation failure of class `error`.
    """

    values: Mapping[str, Any]
    path: str
    error: str = "BadRequest"

    def invalid(self, name: str, code: str, rule: str) -> AdapterError:
        return invalid(f"{self.path}.{name}", code, rule, error=self.error)

    def read(self, name: str, kind: str, *, required: bool = False) -> Any:
        value = self.values.get(name)
        if value is None and required:
            raise self.invalid(name, "REQUIRED", f"is required and must be {kind}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, _JSON_TYPES[kind])):
            raise self.invalid(name, "WRONG_TYPE", f"must be {kind}")
        return value

    def text(self, name: str, *, required: bool = False, longest: int | None = None) -> str | None:
        """A string; with `longest`, of 1 to `longest` characters."""
        value: str | None = self.read(name, "a string", required=required)
        if value is not None and longest is not None and not 1 <= len(value) <= longest:
            raise self.invalid(name, "OUT_OF_RANGE", f"must have 1 to {longest} characters")
        return value

    def number(self, name: str) -> float | None:
        value: float | None = self.read(name, "a number")
        return value

    def integer(self, name: str, *, at_least: int, required: bool = False) -> int | None:
        """An integer, which to JSON Schema 1.0 is too."""
        value = self.read(name, "a number", required=required)
        if value is None:
            return None
        if value != int(value):
            raise self.invalid(name, "WRONG_TYPE", "must be an integer")
        if not at_least <= value <= LARGEST_INTEGER:
            raise self.invalid(name, "OUT_OF_RANGE", f"must be at least {at_least} and fit 64 bits")
        return int(value)

    def member(self, name: str) -> Fields:
        """A required object."""
        return Fields(self.read(name, "an object", required=True), f"{self.path}.{name}", self.error)

    def items(self, name: str, kind: str, *, required: bool = False) -> list[Any]:
        """The elements of an array, all of one kind; none where it is absent."""
        values: list[Any] = self.read(name, "an array", required=required) or []
        elements = Fields({f"{name}[{i}]": value for i, value in enumerate(values)}, self.path, self.error)
        return [elements.read(element, kind, required=True) for element in elements.values]

    def objects(self, name: str, *, required: bool = False) -> list[Fields]:
        values = self.items(name, "an object", required=required)
        return [Fields(value, f"{self.path}.{name}[{i}]", self.error) for i, value in enumerate(values)]


@dataclass(frozen=True, slots=True)
class Context:
    """What is kept of `ctx`: of the tenant no more than its hash."""

    idempotency_key: str | None = None
    deadline_ms: float | None = None
    traceparent: str | None = None
    tenant_hash: str | None = None


NO_CONTEXT = Context()
NO_ARGS = Fields({}, "args")


@dataclass(slots=True)
class Call:
    """One call, filled in as its request is understood; telemetry reads it however the call ends."""

    streaming: bool
    started: float = field(default_factory=time.perf_counter)
    operation: Operation | None = None
    context: Context = NO_CONTEXT
    args: Fields = NO_ARGS
    labels: dict[str, Any] = field(default_factory=dict)
    settled: bool = False

    @property
    def ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000

    @property
    def op(self) -> str:
        """The bare operation name, or ``invalid``: no label holds what a client made up."""
        return self.operation.name if self.operation else "invalid"


class Store:
    """Results by key for a limited time; what goes in and comes out are copies."""

    def __init__(self, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        self._entries: dict[str, tuple[float, Any]] = {}

    def get(self, key: str) -> Any:
        """The result under `key`, or None."""
        expires, value = self._entries.get(key, (0.0, None))
        return copy.deepcopy(value) if time.monotonic() < expires else None

    def put(self, key: str, value: Any) -> None:
        now = time.monotonic()
        self._entries.pop(key, None)
        while self._entries and self._entries[oldest := next(iter(self._entries))][0] <= now:
            del self._entries[oldest]
        self._entries[key] = (now + self.ttl_s, copy.deepcopy(value))


class ReferenceAdapter:
    """A wire handler for one component, in memory and without network.

    Keywords: `metrics` receives telemetry, `provider` is awaited where a provider would be called.
    """

    component: ClassVar[str]
    server = "pytest-corpus-reference"
    version = "1.0.0"
    features: Mapping[str, bool] = {}
    replayable: frozenset[str] = frozenset()
    known_fields: frozenset[str] = frozenset({"op", "ctx", "args", "deadline_ms", "attrs"})
    keepalive_chunk: Mapping[str, Any] = {"is_final": False}
    keepalive_s = 15.0
    cancel_grace_s = 0.5
    tenant_salt = b"one secret per deployment"
    max_depth = 64
    rate_limit_qps = 100_000
    concurrency = 1024
    idempotency_ttl_s = 24 * 3600.0
    suggested_backoff_ms = 500
    abandoned_outcome = "OK"
    deadline_buckets = ((0, "expired"), (1_000, "lt_1s"), (60_000, "lt_60s"), (math.inf, "ge_60s"))
    fault_kinds: Mapping[str, str] = {
        "content_filtered": "ContentFiltered",
        "overloaded": "ModelOverloaded",
        "quota_exhausted": "ProviderQuotaExceeded",
    }
    fault_statuses: Mapping[int, str] = {
        400: "BadRequest",
        401: "AuthError",
        403: "AuthError",
        429: "ResourceExhausted",
        502: "TransientNetwork",
        503: "Unavailable",
        504: "TransientNetwork",
        529: "Unavailable",
    }
    fault_messages: Mapping[str, str] = {
        "BadRequest": "The provider refused the request",
        "AuthError": "The provider refused the credentials",
        "ResourceExhausted": "The provider's rate limit or quota is exceeded",
        "TransientNetwork": "The provider could not be reached",
        "Unavailable": "The service is temporarily unavailable",
    }
    resource_scopes: Mapping[str, str] = {
        "ResourceExhausted": "rate_limit",
        "TransientNetwork": "compute",
        "Unavailable": "compute",
        "DeadlineExceeded": "time_budget",
    }

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        self.metrics = metrics
        self.provider = provider
        self.in_flight = 0
        self._replays = Store(self.idempotency_ttl_s)
        self._replay_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._window = 0
        self._admitted: Counter[str | None] = Counter()

    def _unary(self) -> Mapping[str, Unary]:
        """Unary operations by bare name; each returns its `result`."""
        raise NotImplementedError

    def _streams(self) -> Mapping[str, Stream]:
        """Streaming operations by bare name; each yields its `chunk` objects, the last with `is_final`."""
        return {}

    async def aclose(self) -> None:
        """Release what is held; here, memory only."""

    # The wire (SPECIFICATION 4.2)

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a unary request with a success or an error envelope; raises nothing but cancellation."""
        call = self._open(streaming=False)
        try:
            self._admit(call, envelope)
            return self._success(call, await self._within_budget(call, self._perform(call)))
        except Exception as fault:  # noqa: BLE001 - the boundary: every fault becomes an envelope
            return self._failure(call, fault)
        finally:
            self._abandon(call)

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Answer a streaming request: frames, then one terminal: a final chunk or an error envelope."""
        call = self._open(streaming=True)
        try:
            self._admit(call, envelope)
            async with aclosing(self._paced(call)) as chunks:
                async for chunk in chunks:
                    yield self._frame(call, chunk)
        except Exception as fault:  # noqa: BLE001 - the boundary: every fault becomes the terminal frame
            yield self._failure(call, fault)
        finally:
            self._abandon(call)

    def _success(self, call: Call, result: Any) -> dict[str, Any]:
        self._settle(call, "OK")
        return {"ok": True, "code": "OK", "ms": call.ms, "result": result}

    def _frame(self, call: Call, chunk: Chunk) -> dict[str, Any]:
        if chunk["is_final"]:  # before the frame is out: a consumer need not come back for more
            self._settle(call, "OK")
        return {"ok": True, "code": "STREAMING", "ms": call.ms, "chunk": chunk}

    def _failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = fault if isinstance(fault, AdapterError) else self._map_fault(fault)
        self._settle(call, error.kind.name)
        return {
            "ok": False,
            "code": self._wire_code(error),
            "error": error.kind.name,
            "message": str(error),
            "retry_after_ms": error.retry_after_ms,
            "details": self._details(call, error),
            "ms": call.ms,
        }

    def _wire_code(self, error: AdapterError) -> str:
        return error.kind.code

    # Admission: what is refused before any operation runs

    def _open(self, *, streaming: bool) -> Call:
        self.in_flight += 1
        return Call(streaming)

    def _admit(self, call: Call, envelope: Mapping[str, Any]) -> None:
        """Validate what all requests share, in an order that gives a refused one as many labels as it can."""
        if not isinstance(envelope, Mapping):
            raise invalid("request", "WRONG_TYPE", "must be an object")
        call.operation = self._operation(envelope.get("op"))
        call.context = self._context(self._section(envelope, "ctx"))
        call.labels.update(self._context_labels(call.context))
        call.args = self._section(envelope, "args")
        Fields(envelope, "request").text("op", required=True)
        self._json(
            {name: value for name, value in envelope.items() if name not in ("ctx", "args")}, "request"
        )
        self._route(call)
        self._throttle(call)
        self._check_deadline(call)

    def _section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        """`ctx` or `args`, which must be objects."""
        return Fields(self._json(Fields(envelope, "request").member(name).values, name), name)

    def _operation(self, op: object) -> Operation | None:
        """The operation of this component that `op` names, offered or not."""
        operation = BY_OP.get(op) if isinstance(op, str) else None
        return operation if operation and operation.component == self.component else None

    def _route(self, call: Call) -> None:
        """Refuse unknown operations, those that belong to the other door, and those not offered."""
        operation = call.operation
        if operation is None:
            raise AdapterError("NotSupported", "The operation is not known")
        if operation.streaming != call.streaming:
            raise AdapterError("NotSupported", "The operation belongs to the other kind of request")
        if operation.capability:
            self._require(operation.capability)

    def _require(self, feature: str) -> None:
        """Refuse what capabilities do not offer."""
        if not self.features.get(feature, True):
            raise AdapterError("NotSupported", f"The adapter does not offer {feature}")

    def _throttle(self, call: Call) -> None:
        """Per-tenant rate and overall concurrency, as capabilities state them (SPECIFICATION 14.4, 16.2)."""
        window = int(time.monotonic())
        if window != self._window:
            self._window, self._admitted = window, Counter()
        self._admitted[call.context.tenant_hash] += 1
        too_often = self._admitted[call.context.tenant_hash] > self.rate_limit_qps
        if too_often or self.in_flight > self.concurrency:
            raise AdapterError("ResourceExhausted", "Too many requests", retry_after_ms=1000)

    def _json(self, value: Any, path: str, depth: int = 0) -> Any:
        """A deep copy of a JSON value; what is not JSON, and numbers out of range, are refused.

        Only documented names enter the path: other keys are the client's content.
        """
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, (int, float)):
            self._check_number(value, path)
            return value
        if depth < self.max_depth and isinstance(value, list):
            return [self._json(item, path, depth + 1) for item in value]
        if (
            depth < self.max_depth
            and isinstance(value, Mapping)
            and all(isinstance(name, str) for name in value)
        ):
            return {
                name: self._json(item, f"{path}.{name}" if name in self.known_fields else path, depth + 1)
                for name, item in value.items()
            }
        raise invalid(path, "NOT_JSON", f"must be JSON of at most {self.max_depth} levels")

    def _check_number(self, value: float, path: str) -> None:
        """Refuse NaN, infinities and integers beyond signed 64 bit (SPECIFICATION 4.1)."""
        if isinstance(value, float) and not math.isfinite(value):
            raise invalid(path, "NOT_FINITE", "must be finite")
        if isinstance(value, int) and not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
            raise invalid(path, "OUT_OF_RANGE", "must fit a signed 64-bit integer")

    def _context(self, ctx: Fields) -> Context:
        """Validate the documented members of `ctx` and ignore all others (SCHEMA 3.2)."""
        ctx.text("request_id", longest=256)
        ctx.read("attrs", "an object")
        tenant = ctx.text("tenant", longest=256)
        return Context(
            idempotency_key=ctx.text("idempotency_key", longest=256),
            deadline_ms=self._deadline(ctx),
            traceparent=ctx.text("traceparent"),
            tenant_hash=None if tenant is None else self._tenant_hash(tenant),
        )

    def _deadline(self, ctx: Fields) -> float | None:
        deadline = ctx.number("deadline_ms")
        if deadline is not None and deadline <= 0:
            raise ctx.invalid("deadline_ms", "OUT_OF_RANGE", "must be positive epoch milliseconds")
        return deadline

    def _tenant_hash(self, tenant: str) -> str:
        """Irreversible, stable and salted (SPECIFICATION 15); keys and labels know tenants by it alone."""
        content = tenant.encode("utf-8", "surrogatepass")
        return hmac.new(self.tenant_salt, content, hashlib.sha256).hexdigest()[:32]

    # Deadlines (SPECIFICATION 6.1)

    def _now_ms(self) -> float:
        return time.time() * 1000

    def _seconds_left(self, call: Call) -> float:
        """What remains of the budget; infinite without one."""
        if call.context.deadline_ms is None or (call.operation and call.operation.deadline_exempt):
            return math.inf
        return (call.context.deadline_ms - self._now_ms()) / 1000

    def _check_deadline(self, call: Call) -> None:
        if self._seconds_left(call) <= 0:
            raise self._deadline_exceeded()

    def _deadline_exceeded(self) -> AdapterError:
        return AdapterError("DeadlineExceeded", "The time budget of the operation is spent")

    async def _within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` for no longer than the deadline allows."""
        if self._seconds_left(call) == math.inf:
            return await work
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=self._seconds_left(call))
            if not task.done():
                raise self._deadline_exceeded()
            return task.result()
        finally:
            await self._dispose(task)

    async def _paced(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """The chunks of the operation, each within the budget; keep-alives while the provider is silent."""
        async with aclosing(self._streams()[call.op](call)) as chunks:
            step = self._step(chunks)
            try:
                while True:
                    self._check_deadline(call)
                    left = self._seconds_left(call)
                    await asyncio.wait({step}, timeout=min(left, self.keepalive_s))
                    if not step.done() and left <= self.keepalive_s:
                        raise self._deadline_exceeded()
                    chunk = step.result() if step.done() else dict(self.keepalive_chunk)
                    if chunk is None:
                        return
                    yield chunk
                    step = self._step(chunks) if step.done() else step
            finally:
                await self._dispose(step)

    def _step(self, chunks: AsyncGenerator[Chunk, None]) -> asyncio.Task[Chunk | None]:
        async def step() -> Chunk | None:
            return await anext(chunks, None)

        return asyncio.ensure_future(step())

    async def _dispose(self, task: asyncio.Task[Any]) -> None:
        """Cancel what still runs, and take its exception: asyncio would log it, provider's text and all."""
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=self.cancel_grace_s)
        if task.done() and not task.cancelled():
            task.exception()

    # Operations, replays and the provider

    async def _perform(self, call: Call) -> Any:
        """Run a unary operation; a replay of an idempotency key gets the first answer (SPECIFICATION 6.1)."""
        work = self._unary()[call.op]
        key = self._replay_key(call)
        if key is None:
            return await work(call)
        async with self._replay_lock(key):
            result = self._replays.get(key)
            if result is None:
                result = await work(call)
                self._replays.put(key, result)
            return result

    def _replay_key(self, call: Call) -> str | None:
        """The scope of an idempotency key: tenant, op and arguments; None where nothing is replayed."""
        context = call.context
        if context.idempotency_key is None or call.op not in self.replayable:
            return None
        return digest([context.tenant_hash, call.op, call.args.values, context.idempotency_key])

    def _replay_lock(self, key: str) -> asyncio.Lock:
        """One lock a key, kept for as long as a call uses it: a concurrent duplicate waits for the first."""
        return self._replay_locks.setdefault(key, asyncio.Lock())

    async def _reach(self, call: Call, **facts: Any) -> None:
        """Where the provider is called."""
        if self.provider is not None and call.operation is not None:
            await self.provider.reached(call.operation.op, **self._forwarded(call.context), **facts)

    def _forwarded(self, context: Context) -> dict[str, Any]:
        """`traceparent` unchanged and `deadline_ms` absolute, where given (SPECIFICATION 11.3)."""
        forwarded = {"traceparent": context.traceparent, "deadline_ms": context.deadline_ms}
        return {name: value for name, value in forwarded.items() if value is not None}

    # Faults (ERRORS 7, 8)

    def _map_fault(self, fault: Exception) -> AdapterError:
        """The provider's, or an unexpected, exception as an error with a neutral message."""
        name = self._classify(fault)
        kind = TAXONOMY[name]
        status = getattr(fault, "http_status", None)
        details = {"http_status": status} if status in kind.http else {}
        message = self.fault_messages[kind.family]
        return AdapterError(name, message, retry_after_ms=self._retry_after(fault, name), **details)

    def _classify(self, fault: Exception) -> str:
        name = self.fault_kinds.get(str(getattr(fault, "kind", "")))
        if name and self.component in TAXONOMY[name].components:
            return name
        if isinstance(fault, (TimeoutError, asyncio.TimeoutError, ConnectionError)):
            return "TransientNetwork"
        status = getattr(fault, "http_status", None)
        return self.fault_statuses.get(status, "Unavailable") if isinstance(status, int) else "Unavailable"

    def _retry_after(self, fault: Exception, name: str) -> float | None:
        """The provider's own advice, where the error may be retried."""
        advice = getattr(fault, "retry_after_ms", None)
        sound = isinstance(advice, (int, float)) and math.isfinite(advice) and advice >= 0
        return advice if sound and TAXONOMY[name].retry == "yes" else None

    def _details(self, call: Call, error: AdapterError) -> dict[str, Any]:
        """Hints for machines (SPECIFICATION 12.1), then what the error itself says."""
        kind = error.kind
        details: dict[str, Any] = {"http_status": kind.http[0]}
        scope = self.resource_scopes.get(kind.name) or self.resource_scopes.get(kind.family)
        if scope:
            details["resource_scope"] = scope
        if kind.family == "ResourceExhausted":
            details["throttle_scope"] = self._throttle_scope(call)
        if kind.retry == "yes" and error.retry_after_ms is None:
            details["suggested_backoff_ms"] = self.suggested_backoff_ms
        return {**details, **error.details}

    def _throttle_scope(self, call: Call) -> str:
        return f"tenant:{call.context.tenant_hash or 'none'}:{self.component}"

    # Telemetry (SPECIFICATION 6.4, 13)

    def _settle(self, call: Call, outcome: str) -> None:
        """Report how a call ended, "OK" or an error class: once, however often it is told."""
        if call.settled:
            return
        call.settled = True
        self.in_flight -= 1
        self._observe(call, outcome)
        self._count("ops_total", 1, {"op": call.op, "code": outcome})
        if call.streaming:
            self._count_stream(call, outcome)
        self._audit(call, outcome)

    def _abandon(self, call: Call) -> None:
        """Settle a call that nobody waited for: cancelled, or a stream closed before its terminal frame."""
        if not call.settled:
            call.labels["abandoned"] = True
            self._settle(call, self.abandoned_outcome)

    def _observe(self, call: Call, outcome: str) -> None:
        if self.metrics is not None:
            self.metrics.observe(
                component=self.component,
                op=call.op,
                ms=call.ms,
                ok=outcome == "OK",
                code=outcome,
                extra=dict(call.labels),
            )

    def _count_stream(self, call: Call, outcome: str) -> None:
        self._count("count_stream_final_outcome", 1, {"op": call.op, "code": outcome, **call.labels})

    def _count(self, name: str, value: int, extra: Mapping[str, Any]) -> None:
        if self.metrics is not None:
            self.metrics.counter(component=self.component, name=name, value=value, extra=extra)

    def _audit(self, call: Call, outcome: str) -> None:
        """One structured record a call, without content (SPECIFICATION 13.2)."""
        record = {"kind": f"{self.component}.audit", "op": call.op, "status": outcome, **call.labels}
        trace = _TRACEPARENT.fullmatch(call.context.traceparent or "")
        _log.info(
            json.dumps({**record, "latency_ms": round(call.ms, 3), "trace_id": trace[1] if trace else None})
        )

    def _context_labels(self, context: Context) -> dict[str, Any]:
        labels = {"tenant_hash": context.tenant_hash, "deadline_bucket": self._deadline_bucket(context)}
        return {name: value for name, value in labels.items() if value is not None}

    def _deadline_bucket(self, context: Context) -> str | None:
        """The budget at arrival as one of a few words; None without a deadline."""
        if context.deadline_ms is None:
            return None
        left = context.deadline_ms - self._now_ms()
        return next(label for limit, label in self.deadline_buckets if left <= limit)
