"""One component of the adapter under test, as the tests use it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import Exchange, op_of
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.fault_plan import is_failing
from pytest_corpus.adapter.scope import Part
from pytest_corpus.adapter.turns import AttributePlace
from pytest_corpus.adapter.usage import Outages
from pytest_corpus.kit.answer_cache import ReplayProbe, are_writes_replayed, idempotency_keys_of, order_keys
from pytest_corpus.kit.audit.auditor import ComponentAuditor
from pytest_corpus.kit.audit.envelopes import FINITE
from pytest_corpus.kit.audit.positive_evidence import demonstrates, is_shown_by_reports
from pytest_corpus.kit.expect import works
from pytest_corpus.kit.faults import ProviderFaults
from pytest_corpus.kit.judgement import note_check, note_condition_held, reading_separately
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Outage
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request, Requests
from pytest_corpus.kit.retries import Retries, has_transient_error, is_retryable
from pytest_corpus.kit.run_state import Settings, Shared
from pytest_corpus.kit.store.settling import SettleTime, Settling, postpone_deadline
from pytest_corpus.kit.store.store import Store
from pytest_corpus.kit.target import Target, gate, require_transport
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP, Operation, operations_of
from pytest_corpus.spec.requirements import HOOKS, Requirement
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS

Own = TypeVar("Own", bound="Subject")
Answer = TypeVar("Answer", Reply, StreamReply, "Reply | StreamReply")

MOST_FRESH = 3
"""The largest number of additional instances that are open at once. Each may open its own connection pool."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The classes of the helper objects of a component, such as its requests. Each object receives the component."""

    requests: Callable[[Any], Requests]
    shared: Callable[[], Shared] = Shared
    faults: Callable[[Any], ProviderFaults] = ProviderFaults
    prerequisites: Callable[[Any], Prerequisites] = Prerequisites
    settling: Callable[[Any], Settling] = Settling
    store: Callable[[Any], Store] = Store
    auditor: Callable[[Any], ComponentAuditor] = ComponentAuditor


class Subject(Target):
    """Sends requests to one component and reads the answers. Each component has a subclass."""

    component = ""
    principal = ""
    principal_stream = ""
    wrong_type_requirement = ""
    """The id of this requirement: the principal operation refuses arguments of the wrong type."""

    parts: ClassVar[Parts]
    auditor: ComponentAuditor
    shared: Shared
    requests: Requests

    def __init__(
        self, client: AdapterClient, capabilities: Capabilities, settings: Settings, shared: Shared | None = None
    ) -> None:
        self.client, self.capabilities, self.settings = client, capabilities, settings
        self.shared = self.parts.shared() if shared is None else shared
        self.main, self.retries = self, Retries(self)
        self.requests = self.parts.requests(self)
        self.faults = self.parts.faults(self)
        self.prerequisites = self.parts.prerequisites(self)
        self.settling = self.parts.settling(self)
        self.store = self.parts.store(self)
        self.auditor = self.parts.auditor(self)
        self._fresh = list[AdapterClient]()
        self.other_component: Callable[[str], Subject | None] = lambda _component: None
        """Returns another component of the same adapter by name, or None if it is not tested."""
        self._tried = set[str]()

    # -- the interface for the run ------------------------------------------------------------------------------

    @property
    def calls(self) -> int:
        return self.client.meter.total_calls

    def begin(self, *, unlearn: bool = False) -> None:
        self.store.release(unlearn=unlearn)
        super().begin()
        if unlearn:
            self.shared.unlearn()
        if not self.settings.remembers:
            self.shared.cached.clear()
        self.shared.actions.forget()
        if unlearn:
            self.close_fresh(is_last=True)
        self.client.forget()

    def gate(self, requirement: Requirement) -> None:
        require_transport(requirement, self.client)
        self._learn_hooks(requirement)
        gate(requirement, self.client, self.capabilities)
        unclaimed = "idempotent_writes" in requirement.needs and self.capabilities.flag("idempotent_writes") is None
        if unclaimed and not are_writes_replayed(self, self.replay_probe):
            raise NotApplicable("idempotent_writes is not claimed, and a repeated write is applied again")

    def _learn_hooks(self, requirement: Requirement) -> None:
        """Send plain requests to find out if a remote adapter calls the hooks that a requirement needs (R86).

        Each operation is tried at most once in a run.
        """
        missing = {need for need in requirement.needs if need in HOOKS} - self.client.hooks
        if self.client.remote is None or not missing or not self.capabilities.document:
            return
        for name in (self.principal, *self.operations()):
            if name not in self._tried and missing - self.client.hooks:
                self._tried.add(name)
                self.works(name)

    # -- requests --------------------------------------------------------------------------------------

    def operation(self, name: str) -> Operation:
        """Return the row of the table of operations for one of this component's operations."""
        return BY_OP[f"{self.component}.{name}"]

    def operations(self, *, streaming: bool | None = None) -> list[str]:
        """Return the bare names of this component's operations."""
        return [operation.name for operation in operations_of(self.component, streaming=streaming)]

    def deadline_operations(self, *, streaming: bool | None = None) -> list[str]:
        """Return the operations that have a deadline (R16)."""
        return [name for name in self.operations(streaming=streaming) if not self.operation(name).deadline_exempt]

    def envelope(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a request envelope, by default with the plainest arguments."""
        given = self.requests.minimal(name) if args is None else dict(args)
        return order_keys({"op": f"{self.component}.{name}", "ctx": dict(ctx or {}), "args": given}, self.shared.keys)

    def unique(self, prefix: str = "note") -> str:
        """Return a short text that no other request contains, in this process or another one."""
        return f"{prefix} {self.settings.run}{inputs.process_mark()}{inputs.unique_number()}"

    # -- calls -----------------------------------------------------------------------------------------

    @reading_separately()
    def send(self, request: Any, **options: Any) -> Reply:
        """Send any value to `handle`; repeat the call after errors that may be transient (R114)."""
        request = self.store.prepare(request)
        fresh = self.store.note_planned_writes(request)
        try:
            reply = self._answer_to(request, **options)
        except UNCALLABLE:
            self.store.forget(fresh)
            raise
        except Outage:
            self.store.note_outcome(request, is_success=False)
            raise
        self.store.note_reply(request, reply, fresh)
        return reply

    def _answer_to(self, request: Any, **options: Any) -> Reply:
        settled = self.settling.wait_until_settled(request)

        def attempt(waited_s: float) -> Reply:
            return Reply(self.client.send(postpone_deadline(settled, waited_s), self.component, **options))

        refused = False
        try:
            reply = self.retries.call_until_answered(op_of(request), attempt, self.transient_errors)
            refused = reply.is_error
            if reply.is_success and self.client is self.main.client:
                self.shared.keys |= idempotency_keys_of(request)
            return reply
        finally:
            self.settling.note(settled, refused=refused)

    @reading_separately()
    def send_stream(self, request: Any, **options: Any) -> StreamReply:
        """Send any value to `handle_stream` and read the stream to its end; repeat the call as `send` does."""
        settled = self.settling.wait_until_settled(request)

        def attempt(waited_s: float) -> StreamReply:
            sent = postpone_deadline(settled, waited_s)
            return StreamReply(self.client.send(sent, self.component, streaming=True, **options))

        reply = self.retries.call_until_answered(op_of(request), attempt, self.transient_errors)
        self.retries.find_endless(reply.exchange)
        return reply

    @reading_separately()
    def send_all(self, requests: Sequence[Any]) -> list[Exchange]:
        """Send unary requests concurrently; then repeat those that failed with errors that may be transient."""
        prepared = [self.store.prepare(request) for request in requests]
        fresh = [self.store.note_planned_writes(request) for request in prepared]
        settled = [self.settling.wait_until_settled(request) for request in prepared]
        found: dict[int, Exchange] = {}

        def attempt(waited_s: float) -> list[Exchange]:
            passed = {number for number, exchange in found.items() if not self.transient_errors(Reply(exchange))}
            due = [number for number in range(len(settled)) if number not in passed]
            sent = [postpone_deadline(settled[number], waited_s) for number in due]
            found.update(zip(due, self.client.send_all(sent, self.component), strict=True))
            struck = [plan for number in due for plan in found[number].observed.applied_plans]
            for number in due:
                found[number].observed.applied_plans = struck  # one request to the provider may serve them all
            return [found[number] for number in range(len(settled))]

        def errors_in(exchanges: list[Exchange]) -> list[Reply | StreamReply]:
            return [left for exchange in exchanges for left in self.transient_errors(Reply(exchange))]

        try:
            answers = self.retries.call_until_answered(op_of(requests[0]) if requests else "", attempt, errors_in)
            self.outages.interruptions += sum(map(has_transient_error, answers))
        finally:
            for request in settled:
                self.settling.note(request)
        for request, exchange, new in zip(prepared, answers, fresh, strict=True):
            self.store.note_reply(request, Reply(exchange), new, alone=False)
        return answers

    def call(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply:
        """Call a unary operation."""
        return self.send(self.envelope(name, args, ctx), **options)

    def stream(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> StreamReply:
        """Call a streaming operation."""
        return self.send_stream(self.envelope(name, args, ctx), **options)

    def invoke(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply | StreamReply:
        """Call an operation at its entry point: `handle`, or `handle_stream` if it streams."""
        call: Any = self.stream if self.operation(name).streaming else self.call
        reply: Reply | StreamReply = call(name, args, ctx, **options)
        return reply

    def carry_out(self, request: Request, **options: Any) -> Reply | StreamReply:
        """Send a request whose canaries must not reappear in the answer."""
        return self.invoke(request.op, request.args, request.ctx, secrets=request.canaries, **options)

    def transient_errors(self, reply: Reply | StreamReply) -> list[Reply | StreamReply]:
        """Return the answer in a list if it has a transient error that no test planned, else an empty list.

        Failed items count only if they fail because a quota for the suite's data is used up.
        """
        if not (is_retryable(reply) or (not reply.is_error and self.store.is_full(reply))):
            return []
        planned = any(BY_KIND[kind].canonical for kind in reply.exchange.observed.faults)
        planned |= is_failing(self.client.provider.plans)
        return [] if planned else [reply]

    def replay_probe(self) -> ReplayProbe:
        """Return two writes and a check that show if a repetition is applied. Raises NotApplicable without writes."""
        raise NotApplicable(f"{self.component} stores nothing")

    def require(self, *names: str) -> None:
        """Check that these operations are offered and answer a plain request (`Prerequisites.require`)."""
        self.prerequisites.require(*names)

    def works(self, name: str) -> bool:
        """True if an operation is offered and works."""
        return self.prerequisites.works(name)

    def working_operations(self, names: Iterable[str] | None = None) -> Iterator[str]:
        """Yield the operations that are offered and work, from these names or from all."""
        return (name for name in (self.operations() if names is None else names) if self.works(name))

    def models(self) -> tuple[str, ...]:
        """Return the listed models. Raises NotApplicable if none are listed, because any model may then exist (R13)."""
        if not self.capabilities.models:
            raise NotApplicable("capabilities list no models")
        return self.capabilities.models

    # -- instances ---------------------------------------------------------------------------------------

    def fresh(self: Own) -> Own:
        """Return this component on a new instance of the adapter, for a test that may damage the instance.

        The instance is closed after the test, or earlier if the test opens `MOST_FRESH` more instances.
        """
        opened = self._fresh
        for spent in opened[: max(0, len(opened) + 1 - MOST_FRESH)]:
            spent.close()
        client = self.client.fresh()
        if client is not self.client:
            opened.append(client)
        return self.with_client(client)

    def with_client(self: Own, client: AdapterClient) -> Own:
        """Return this component, connected to another instance of the adapter by its client."""
        other = type(self)(client, self.capabilities, self.settings, self.shared)
        other.main, other._fresh = self.main, self._fresh
        return other

    def second_instance(self: Own, call_timeout: float) -> Own:
        """Return this component on an instance for calls outside of tests. The caller closes its client."""
        return type(self)(self.client.second_instance(call_timeout), self.capabilities, self.settings, self.shared)

    def close_fresh(self, *, is_last: bool = False) -> None:
        while self._fresh:
            self._fresh.pop().close()
        if is_last and self.shared.fault_client is not None:
            if self.shared.fault_client is not self.client:
                self.shared.fault_client.close()
            self.shared.fault_client = None

    def test_attributes(self) -> list[tuple[AttributePlace, Any]]:
        """Return the attributes whose data belongs to a single test, each with its value at the start of a test."""
        return [
            ((self.auditor, "editions"), set(SCHEMA_VERSIONS)),
            ((self, "_fresh"), []),
            ((self.shared, "actions"), type(self.shared.actions)()),
            ((self.retries, "probing"), False),
            ((self.settling, "_at_once"), False),
        ]

    @property
    def settle_time(self) -> SettleTime:
        return self.settling.known

    def tidy(self) -> None:
        self.store.tidy()

    # -- the exchanges of the test ---------------------------------------------------------------------------------

    @property
    def part(self) -> Part:
        return self.client.part

    @property
    def outages(self) -> Outages:
        return self.client.meter.outages

    @property
    def disturbance_count(self) -> int:
        passing = sum(map(has_transient_error, self.client.part.own_exchanges))
        return self.outages.interruptions + passing


def expect_audited(requirement: str, reply: Reply | StreamReply, subject: Subject, *, claim: str = "") -> None:
    """Raise the violation if an answer violates this requirement; with a `claim`, also if the answer is not a success.

    Raises Blocked if the answer lacks what the requirement is about.
    """
    if claim:
        works(reply, claim)
    judged = subject.auditor.audit_exchange(reply.exchange, with_reports=is_shown_by_reports(requirement))
    found = {violation.requirement: violation for violation in reversed(judged)}
    if requirement in found:
        raise found[requirement]
    operation = BY_OP.get(reply.exchange.op)
    if FINITE in found and operation is not None and requirement == operation.shaped:
        raise Blocked(FINITE, "NaN or an infinity", violation=found[FINITE])
    note_condition_held()
    if demonstrates(requirement, reply, subject.component):
        note_check()
