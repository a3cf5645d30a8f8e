"""One component of the adapter under test, as the suites speak to it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.hooks.provider import Plan
from pytest_corpus.kit import expect
from pytest_corpus.kit.looks import aside
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.patience import asked_to_wait, patiently
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.shared import Shared
from pytest_corpus.spec.dialects import DIALECTS, Dialect
from pytest_corpus.spec.operations import BY_OP, Operation, operations_of

Own = TypeVar("Own", bound="Subject")

HOUR_MS = 3_600_000

MAX_PROVIDER_RETRIES = 20
"""How often a planned fault strikes: more often than a sound adapter retries."""

CANARY_LETTERS = "bcdfghjkmnpqrtvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run fixes: the seed of generated inputs, a pinned schema edition (or None), a name of its own, and
    the probe queries of the graph dialects."""

    seed: int = 0
    edition: str | None = None
    run: str = "run"
    dialects: Mapping[str, Dialect] = field(default_factory=lambda: DIALECTS)


class Subject:
    """Sends requests of one component and reads the answers. Components subclass it with their requests."""

    component = ""
    principal = ""
    principal_stream = ""
    core: Mapping[str, str] = {"capabilities": "COM-CAP-1", "health": "COM-HEALTH-1"}
    """The requirement that says that an operation works for a plain request."""
    checked = ""
    """The requirement that says that arguments of the wrong types are refused by the principal operation."""
    content: tuple[str, ...] = ()
    """The keys of a chunk that carry data; a chunk where all are empty is a keep-alive."""

    shared_type: type[Shared] = Shared
    """What the instances of the component share."""

    def __init__(
        self, client: AdapterClient, capabilities: Capabilities, settings: Settings, shared: Any = None
    ) -> None:
        self.client, self.capabilities, self.settings = client, capabilities, settings
        self.shared: Any = self.shared_type() if shared is None else shared
        self._fresh: list[AdapterClient] = []

    def begin(self) -> None:
        """Forget what the test before did."""
        self.client.forget()

    # -- requests --------------------------------------------------------------------------------------

    def minimal(self, name: str) -> dict[str, Any]:
        """The arguments of the plainest valid request of an operation."""
        raise NotImplementedError

    def wrong_types(self, name: str) -> dict[str, Any]:
        """Arguments of which the first one has a type that the operation refuses; empty where it takes none."""
        raise NotImplementedError

    def requests_with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Requests with unknown keys inside what their arguments hold: (operation, args)."""
        raise NotApplicable(f"no operation of {self.component} takes objects in its arguments, for {len(unknown)} keys")

    def requests_with_number(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Requests with this number wherever a number goes in: (operation, args, ctx), the deadline included."""
        raise NotImplementedError

    def requests_with_integer(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        """Requests with this number wherever a whole number goes in: (operation, args)."""
        raise NotImplementedError

    def distinguishable(self) -> list[dict[str, Any]]:
        """Envelopes of unary requests whose answers can be told apart by `fingerprint`."""
        raise NotImplementedError

    def fingerprint(self, reply: Reply) -> Any:
        """What tells the answer to one of `distinguishable` from the others."""
        raise NotImplementedError

    def long(self, name: str) -> dict[str, Any]:
        """Valid arguments, not sent before, whose stream is likely to have several chunks."""
        return self.distinct(name)

    def requests_with_canaries(
        self, *, refused: bool
    ) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        """Requests that carry secrets, good ones or ones to be refused: (operation, args, ctx, secrets)."""
        raise NotImplementedError

    def operation(self, name: str) -> Operation:
        """The row of one of this component's operations."""
        return BY_OP[f"{self.component}.{name}"]

    def operations(self, *, streaming: bool | None = None) -> list[str]:
        """The bare names of this component's operations."""
        return [operation.name for operation in operations_of(self.component, streaming=streaming)]

    def deadlined(self) -> list[str]:
        """The operations that heed a deadline (R16)."""
        return [name for name in self.operations() if not self.operation(name).deadline_exempt]

    def envelope(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """A request envelope; the plainest arguments where none are given."""
        given = self.minimal(name) if args is None else dict(args)
        return {"op": f"{self.component}.{name}", "ctx": dict(ctx or {}), "args": given}

    def unique(self, prefix: str = "note") -> str:
        """A short word that no other request of this run or worker holds."""
        return f"{prefix} {self.settings.run}{self.shared.number()}"

    @staticmethod
    def canary(length: int = 14) -> str:
        """A secret that no adapter could say by accident."""
        return "".join(secrets.choice(CANARY_LETTERS) for _ in range(length))

    @staticmethod
    def in_ms(milliseconds: float) -> int:
        """An absolute deadline that lies so far ahead (or behind)."""
        return int(time.time() * 1000 + milliseconds)

    # -- calls -----------------------------------------------------------------------------------------

    def send(self, request: Any, **options: Any) -> Reply:
        """Send anything at all to `handle`, waiting as a sound client does where the adapter asks for it."""

        def attempt() -> Reply:
            return Reply(self.client.send(request, self.component, **options))

        return patiently(attempt, self.wait_ms, self.shared)

    def send_stream(self, request: Any, **options: Any) -> StreamReply:
        """Send anything at all to `handle_stream` and read the stream to its end, as patiently as `send`."""

        def attempt() -> StreamReply:
            return StreamReply(self.client.send(request, self.component, streaming=True, **options))

        return patiently(attempt, self.wait_ms, self.shared)

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Reply:
        """Call a unary operation."""
        return self.send(self.envelope(name, args, ctx), **options)

    def stream(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> StreamReply:
        """Call a streaming operation."""
        return self.send_stream(self.envelope(name, args, ctx), **options)

    def invoke(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Reply | StreamReply:
        """Call an operation by the entry point that it belongs to."""
        call: Any = self.stream if self.operation(name).streaming else self.call
        reply: Reply | StreamReply = call(name, args, ctx, **options)
        return reply

    def wait_ms(self, reply: Reply | StreamReply) -> float | None:
        """The milliseconds for which an answer asks; None where it does not, or a planned fault is the reason."""
        return None if self.client.provider.canaries else asked_to_wait(reply)

    # -- what can be relied on -------------------------------------------------------------------------

    def require(self, *names: str) -> None:
        """Go on only where these operations are offered and answer a plain request.

        Raises:
            NotApplicable: capabilities deny the operation, or it answers NOT_SUPPORTED unclaimed.
            Blocked: it does not work, which is the finding of another requirement.
        """
        for name in names:
            if name not in self.shared.obstacles:
                with aside():
                    self.shared.obstacles[name] = self._try(name)
            if (obstacle := self.shared.obstacles[name]) is not None:
                raise obstacle

    def claimed(self, name: str) -> bool | None:
        """What capabilities say of an operation: offered, not offered, or nothing (None)."""
        capability = self.operation(name).capability
        return self.capabilities.flag(capability) if capability else True

    def denies(self, name: str) -> bool:
        """Whether capabilities say that an operation is not offered."""
        return self.claimed(name) is False

    def is_callable(self, name: str) -> bool:
        """Whether an operation can be called and is not denied, working or not."""
        return not self.denies(name) and (not self.operation(name).streaming or self.client.streams(self.component))

    def denied(self) -> list[str]:
        """The operations that capabilities deny and that can be called all the same."""
        entry_point = self.client.streams(self.component)
        return [
            name
            for name in self.operations()
            if self.denies(name) and (entry_point or not self.operation(name).streaming)
        ]

    def works(self, name: str) -> bool:
        """Whether an operation is offered and works."""
        try:
            self.require(name)
        except Undecided:
            return False
        return True

    def _try(self, name: str) -> Undecided | None:
        operation = self.operation(name)
        claimed = self.claimed(name)
        if claimed is False:
            return NotApplicable(f"capabilities deny {operation.capability}")
        if operation.streaming and not self.client.streams(self.component):
            if claimed:
                return Blocked("COM-CAP-9", "there is no handle_stream")
            return NotApplicable("there is no handle_stream, and streaming is not claimed")
        reply = self.invoke(name)
        if claimed is None and reply.is_a("NotSupported"):
            return NotApplicable(f"{operation.op} answers NOT_SUPPORTED, and {operation.capability} is not claimed")
        if reply.is_a("ResourceExhausted") and name != "health":
            return NotAssessed(f"a plain {operation.op} is answered with {reply}")
        if name == "health" and reply.is_a("ResourceExhausted", "TransientNetwork", "Unavailable"):
            return NotApplicable("health answers with an error: the backend is down (R35)")
        try:
            if isinstance(reply, StreamReply):
                expect.finished(reply)
            elif not isinstance(expect.success(reply), Mapping) and operation.payload:
                by = self.payloads.get(name) or self.core.get(name, "COM-CAP-6")
                return Blocked(by, f"the result of a plain {operation.op} is no object", evidence=reply.exchange)
        except Blocked as obstacle:
            obstacle.evidence = reply.exchange
            return obstacle
        except Undecided as obstacle:
            return obstacle
        except Violation:
            said = f"a plain {operation.op} is answered with {reply}"
            return Blocked(self.core.get(name, "COM-CAP-6"), said, evidence=reply.exchange)
        return None

    # -- what holds for every answer -------------------------------------------------------------------

    payloads: Mapping[str, str] = {}
    """By operation: the requirement that says what its result or chunk looks like."""

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        """What the result of an operation breaks, as (requirement id, violation)."""
        raise NotImplementedError

    def audit_chunk(self, _name: str, chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        """What a chunk breaks beyond its schema, as (requirement id, violation)."""
        raise NotImplementedError

    def models(self) -> tuple[str, ...]:
        """The listed models.

        Raises:
            NotApplicable: capabilities list none, so the set is open (R13).
        """
        if not self.capabilities.models:
            raise NotApplicable("capabilities list no models")
        return self.capabilities.models

    # -- the provider ----------------------------------------------------------------------------------

    def fresh(self: Own) -> Own:
        """The same component of another instance, for a test that breaks things; closed after the test."""
        client = self.client.fresh()
        if client is not self.client:
            self._fresh.append(client)
        return type(self)(client, self.capabilities, self.settings, self.shared)

    def close_fresh(self) -> None:
        """Close the instances that `fresh` made."""
        while self._fresh:
            self._fresh.pop().close()

    def tidy(self) -> None:
        """Remove what the tests left in the adapter's store; called once, before the adapter is closed."""

    def plan(self, kind: str, name: str, **options: Any) -> Plan:
        """Plan a fault where an operation of this component reaches the provider, in place of any other.

        It strikes again where the adapter retries by itself, unless `times` says otherwise.
        """
        options.setdefault("times", 1 if kind == "slow" else MAX_PROVIDER_RETRIES)
        op = self.provider_op(name)
        self.client.provider.clear()
        return self.client.provider.plan(kind, op, **options)

    def fired(self, plan: Plan) -> None:
        """Go on, without it, only where a planned fault struck.

        Raises:
            NotAssessed: the adapter did not reach its provider under this op, or answered from a cache.
        """
        self.client.provider.clear()
        if not plan.fired:
            raise NotAssessed(f"the fault planned at {plan.op or 'the provider'} never fired", "provider")

    def provider_op(self, name: str) -> str | None:
        """The op at which a fault is planned for a working operation; None: at whatever it reaches the provider with.

        An operation may count tokens at the provider first: then the fault is planned at the op of its own name.
        Anywhere else it strikes every op, a second provider that takes over included.

        Raises:
            NotAssessed: a plain request of it does not reach the provider.
        """
        self.require(name)
        own = f"{self.component}.{name}"
        if name not in self.shared.provider_ops:
            before = len(self.client.provider.arrivals)
            self.invoke(name, self.distinct(name))
            arrived = tuple(dict.fromkeys(self.client.provider.arrivals[before:]))
            self.shared.provider_ops[name] = arrived
        ops = self.shared.provider_ops[name]
        if not ops:
            raise NotAssessed(
                f"for {own} the provider is not reached: await provider.reached({own!r}) where it is called",
                "provider",
            )
        return own if own in ops and len(ops) > 1 else None

    def backed(self, *, streaming: bool) -> list[str]:
        """The operations that work and reach the provider, the principal one first.

        Raises:
            NotAssessed: not even the principal one reaches it.
        """
        principal = self.principal_stream if streaming else self.principal
        self.provider_op(principal)
        found = [principal]
        for name in self.operations(streaming=streaming):
            try:
                if name not in (principal, "capabilities", "health"):
                    self.provider_op(name)
                    found.append(name)
            except Undecided:
                continue
        return found

    def distinct(self, name: str) -> dict[str, Any]:
        """Valid arguments that were not sent before, so that no cache can answer them."""
        return self.minimal(name)

    # -- what was seen ---------------------------------------------------------------------------------

    @property
    def clients(self) -> list[AdapterClient]:
        """Every instance that the current test speaks to."""
        return [self.client, *self._fresh]
