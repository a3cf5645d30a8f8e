"""The base of every provider: the back end that an adapter asks."""

import time
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

_trace: ContextVar[Mapping[str, Any] | None] = ContextVar("trace", default=None)


def set_trace(**members: Any) -> None:
    """Note the members of the current call's context that go on to the provider (SPECIFICATION 6.1, 11.3)."""
    _trace.set({name: value for name, value in members.items() if value is not None})


def trace() -> Mapping[str, Any]:
    """`traceparent` and `deadline_ms` of the current call, if its context has them."""
    return _trace.get() or {}


def trace_headers() -> dict[str, str]:
    """The trace of the current call as headers of HTTP."""
    names = {"traceparent": "traceparent", "deadline_ms": "X-Deadline-Ms"}
    return {names[member]: str(value) for member, value in trace().items()}


def seconds_left() -> float | None:
    """The rest of the current call's deadline, for the timeout of a client."""
    deadline_ms = trace().get("deadline_ms")
    return None if deadline_ms is None else max(0.001, deadline_ms / 1000 - time.time())


class Probe(Protocol):
    """The argument `provider` of a factory in a conformance run."""

    async def reached(self, op: str, **facts: Any) -> object: ...


class Proxies(Probe, Protocol):
    """The argument `provider` of a factory whose client speaks to its back end over HTTP."""

    def proxy(self, upstream: str) -> str: ...


class Tunnels(Probe, Protocol):
    """The argument `provider` of a factory whose client speaks to its back end over TCP."""

    def tunnel(self, host: str, port: int, *, without: Collection[str] = ()) -> tuple[str, int]: ...


class Provider:
    """A back end. Await `reached` before each call of the library: there the suite lets the provider fail or hang.

    A provider whose client talks to the `address` (and `port`) that a conformance run gives it does without: the suite
    then fails on the wire.
    """

    component = ""
    address: str = ""
    port: int = 0

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe

    async def reached(self, op: str, **facts: Any) -> None:
        """Report that the provider is called; does nothing in production."""
        if self.probe is not None:
            await self.probe.reached(f"{self.component}.{op}", **trace(), **facts)

    async def ping(self) -> None:
        """Make a cheap call; raise if the provider does not answer."""

    async def is_up(self) -> bool:
        """Tell if the provider answers."""
        try:
            await self.reached("health")
            await self.ping()
        except Exception:  # noqa: BLE001 - the cause does not matter to `health`
            return False
        return True

    async def aclose(self) -> None:
        """Close the client; called once, by the owner of the adapter."""
