"""The part that all operations share: envelopes, deadlines, observations (SPECIFICATION 4 and 6)."""

import asyncio
import hashlib
import hmac
import logging
import os
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from .arguments import Arguments, check_numbers
from .errors import Failures, WireError, invalid
from .provider import Provider, set_trace

T = TypeVar("T")
P = TypeVar("P", bound=Provider)
Answer = dict[str, Any]

logger = logging.getLogger(__name__)

# A secret of the deployment: without it the hash of a tenant cannot be computed.
TENANT_SALT = os.environ.get("TENANT_SALT", "change me").encode()


class Metrics(Protocol):
    """The sink of observations (SPECIFICATION 6.4)."""

    def observe(
        self, *, component: str, op: str, ms: float, ok: bool, code: str, extra: Mapping[str, Any]
    ) -> object: ...

    def counter(self, *, component: str, name: str, value: int, extra: Mapping[str, Any]) -> object: ...


@dataclass
class Call:
    """One call: filled in while its request is read, observed once when it ends."""

    op: str = "unknown"
    args: Arguments = field(default_factory=lambda: Arguments({}))
    tenant_hash: str | None = None
    deadline_ms: float | None = None
    started: float = field(default_factory=lambda: time.perf_counter())  # fixtures replace clocks
    observed: bool = False

    @property
    def ms(self) -> float:
        """Elapsed milliseconds."""
        return (time.perf_counter() - self.started) * 1000

    async def in_time(self, work: Callable[[], Awaitable[T]], timeout_ms: float | None = None) -> T:
        """Await `work` until the deadline; after it `work` does not begin."""
        budgets = [] if self.deadline_ms is None else [self.deadline_ms / 1000 - time.time()]
        if timeout_ms is not None:
            budgets.append(timeout_ms / 1000)
        left, begun = min(budgets, default=None), time.perf_counter()

        async def begin() -> T:
            return await work()

        try:
            if left is not None and left <= 0:
                raise TimeoutError
            return await asyncio.wait_for(begin(), left)
        except WireError:
            raise
        except Exception as error:
            late = left is not None and time.perf_counter() - begun >= left
            if late or isinstance(error, TimeoutError):  # some clients raise their own error when cancelled
                raise WireError("DeadlineExceeded", "The time budget of the call is spent") from None
            raise


class WireHandler(Generic[P]):
    """The entry of all requests. A subclass names its operations; each is a method that takes the call.

    An operation of `unary` returns the `result`; one of `streams` is an async generator of `chunk` objects; `denied`
    are those of the protocol that are not offered.
    """

    component = ""
    server = "adapter"
    version = "0.1.0"
    unary: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    claims: Mapping[str, Any] = {}
    failures = Failures()

    def __init__(self, provider: P, metrics: Metrics | None = None) -> None:
        self.provider = provider
        self.metrics = metrics

    async def aclose(self) -> None:
        """Close the provider's client."""
        await self.provider.aclose()

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """The offer of the adapter: a claim is tested, a denied feature is not applicable."""
        names = {"server": self.server, "version": self.version, "protocol": f"{self.component}/v1.0"}
        return {**names, **self.limits(), **self.claims}

    def limits(self) -> dict[str, Any]:
        """The part of `capabilities` that the provider knows."""
        return {}

    async def health(self, call: Call) -> dict[str, Any]:
        """Report a provider that is down; that is not an error."""
        names = {"server": self.server, "version": self.version}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **names}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **names}

    async def handle(self, envelope: Any) -> Answer:
        """Answer a unary request with one envelope."""
        call = Call()
        try:
            self.read(call, envelope, self.unary)
            result = await call.in_time(lambda: getattr(self, call.op)(call))
            self.observe(call, "OK")
            return {"ok": True, "code": "OK", "ms": call.ms, "result": result}
        except Exception as error:  # noqa: BLE001 - every failure is answered with an envelope
            return self.failed(call, error)
        finally:
            self.observe(call, "Unavailable")  # of a call that was cancelled; any other was observed before

    async def handle_stream(self, envelope: Any) -> AsyncIterator[Answer]:
        """Answer a streaming request with frames; the last one is a final chunk or an error."""
        call = Call()
        try:
            self.read(call, envelope, self.streams)
            async with aclosing(getattr(self, call.op)(call)) as chunks:
                final = False
                while not final:
                    chunk = await call.in_time(chunks.__anext__)
                    final = chunk["is_final"]
                    if final:
                        self.observe(call, "OK", stream=True)
                    yield {"ok": True, "code": "STREAMING", "ms": call.ms, "chunk": chunk}
        except Exception as error:  # noqa: BLE001 - likewise
            yield self.failed(call, error, stream=True)
        finally:
            self.observe(call, "Unavailable", stream=True)

    def read(self, call: Call, envelope: Any, offered: tuple[str, ...]) -> None:
        """Read the members of every request: `op`, `ctx`, `args`."""
        if not isinstance(envelope, Mapping):
            raise WireError("BadRequest", "The request must be an object")
        request = Arguments(envelope, "request")
        op = request.text("op")
        bare = op.removeprefix(f"{self.component}.")
        if bare != op and bare in self.unary + self.streams + self.denied:
            call.op = bare
        self.read_context(call, Arguments(request.object("ctx", required=True), "ctx"))
        call.args = Arguments(request.object("args", required=True))
        check_numbers(call.args.values, "args")
        if call.op not in offered:
            raise WireError("NotSupported", "The operation is not known here")

    def read_context(self, call: Call, ctx: Arguments) -> None:
        """Read the documented members of `ctx`; any others are ignored."""
        for name in ("request_id", "idempotency_key"):
            ctx.optional_text(name)
        ctx.object("attrs")
        if (tenant := ctx.optional_text("tenant")) is not None:
            content = tenant.encode("utf-8", "surrogatepass")
            call.tenant_hash = hmac.new(TENANT_SALT, content, hashlib.sha256).hexdigest()[:32]
        check_numbers(ctx.values, "ctx")
        deadline_ms = ctx.number("deadline_ms")
        if deadline_ms is not None and deadline_ms <= 0:
            raise invalid("ctx.deadline_ms", "must be positive epoch milliseconds")
        call.deadline_ms = deadline_ms
        set_trace(traceparent=ctx.optional_text("traceparent"), deadline_ms=deadline_ms)

    def failed(self, call: Call, error: Exception, *, stream: bool = False) -> Answer:
        """The envelope of an error."""
        known = error if isinstance(error, WireError) else self.failures.error(error)
        if known is not error and self.failures.class_of(error) is None:
            self.log_unknown(error)
        self.observe(call, known.name, stream=stream)
        return {
            "ok": False,
            "code": known.code,
            "error": known.name,
            "message": str(known),
            "retry_after_ms": known.retry_after_ms,
            "details": known.details,
            "ms": call.ms,
        }

    def log_unknown(self, error: Exception) -> None:
        """Log the class of an exception and its lines in the adapter: a bug, or an exception missing from `failures`.

        Its text is not logged: it may hold a prompt.
        """
        packages = {name.partition(".")[0] for name in (type(self).__module__, __name__)}
        lines = [
            f"{Path(frame.f_code.co_filename).name}:{line}"
            for frame, line in traceback.walk_tb(error.__traceback__)
            if str(frame.f_globals.get("__name__")).partition(".")[0] in packages
        ]
        logger.error("unknown %s at %s", type(error).__name__, " < ".join(lines[:-4:-1]))

    def observe(self, call: Call, code: str, *, stream: bool = False) -> None:
        """Observe the end of a call, once; the labels hold no content, and only the hash of the tenant."""
        if self.metrics is None or call.observed:
            return
        call.observed = True
        extra: dict[str, Any] = {}
        if call.tenant_hash is not None:
            extra["tenant_hash"] = call.tenant_hash
        if call.deadline_ms is not None:
            left_s = call.deadline_ms / 1000 - time.time()
            extra["deadline_bucket"] = next((f"lt_{limit}s" for limit in (1, 10, 60) if left_s < limit), "ge_60s")
        names = {"component": self.component, "op": call.op}
        self.metrics.observe(**names, ms=call.ms, ok=code == "OK", code=code, extra=extra)
        if stream:
            self.metrics.counter(
                component=self.component,
                name="count_stream_final_outcome",
                value=1,
                extra={"op": call.op, "code": code, **extra},
            )
