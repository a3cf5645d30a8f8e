"""Faults that tests plan at the provider behind an adapter, through the hook `provider`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.hooks.provider import Plan, ProviderProbe, is_stand_in
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.answer_cache import is_cacheable
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Outage, Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply, hint_s
from pytest_corpus.kit.requests import Calls
from pytest_corpus.kit.retries import PAUSES_S, has_transient_error
from pytest_corpus.spec.errors import AWAY, BY_KIND, FORMS, OVER_TCP
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import BY_OP

MAX_PROVIDER_RETRIES = 20
"""The number of times that a planned fault occurs: more often than a sensible adapter retries."""


UNREADY_S = 5.0
"""A call that fails before the planned fault occurs is repeated for this long, if its error asks for a retry."""

BROKEN_FORMS = ("reset", "truncated", "unfinished")
"""The forms of a broken answer, used alternately. Only a provider with an address can send them."""


class ProviderFaults:
    """Plans faults at the points where the operations of a component call the provider."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def plan(self, kind: str, name: str, **options: Any) -> Plan:
        """Plan a fault for an operation. It replaces an earlier plan.

        The fault recurs if the adapter retries, unless `times` limits it. A tunnel does not break off answers to
        writes, because the real provider has already carried the write out.

        Raises:
            NotApplicable, NotAssessed: the fault cannot occur.
        """
        op, provider = self.provider_op(name), self._calls.client.provider
        self.require_possible(kind)
        options.setdefault("times", 1 if kind == "slow" else MAX_PROVIDER_RETRIES)
        forms = self._possible_forms(kind, name)
        options.setdefault("form", forms[inputs.next_in_rotation("form") % len(forms)])
        provider.clear()
        return provider.plan(kind, op, **options)

    def _possible_forms(self, kind: str, name: str) -> list[str | None]:
        broken = BROKEN_FORMS[:1] if self.is_tunnelled and self._calls.operation(name).mutating else BROKEN_FORMS
        return [None, *(form for form in broken if kind in FORMS[form])]

    def forms(self, kind: str, name: str) -> list[str | None]:
        """Return the forms in which a failure can occur for an operation; empty if the provider has no address."""
        on_wire = inputs.read("on wire", lambda: self._calls.client.provider.is_on_wire)
        garbage = [form for form in ("garbage",) if kind in FORMS[form]]
        found = [*self._possible_forms(kind, name), *garbage]
        return found if on_wire and len(found) > 1 else []

    @property
    def is_tunnelled(self) -> bool:
        """True if the adapter reaches its provider only through tunnels, which forward bytes to a real provider."""
        return bool(inputs.read("tunnelled", lambda: is_tunnelled(self._calls.client.provider)))

    @property
    def uses_stand_in(self) -> bool:
        """True if the provider is the built-in stand-in."""
        return bool(inputs.read("stand-in", lambda: is_stand_in(self._calls.client.provider)))

    def require_possible(self, what: str) -> None:
        """Check that the provider can fail in this way, or can receive this context member.

        Raises:
            NotApplicable: the provider's protocol cannot express it, as the author states (R137).
            NotAssessed: a tunnel cannot do it, and the author does not state the abilities of the protocol.
        """
        stated = inputs.read("lacking", lambda: what in inexpressible_failures(self._calls.client.provider))
        if stated:
            raise NotApplicable(f"the author states that the provider's protocol cannot express {what}")
        if what not in OVER_TCP and self.is_tunnelled:
            raise NotAssessed(Obstacle.NOT_TUNNELLED, what=what)

    def error_classes(self, kind: str) -> tuple[str, ...]:
        """Return the classes that a failure of the provider may become."""
        canonical = str(BY_KIND[kind].canonical)
        return AWAY if canonical in AWAY and kind in OVER_TCP and self.is_tunnelled else (canonical,)

    def require_fired(self, plan: Plan) -> None:
        """Clear a planned fault, and check that it occurred.

        Raises:
            NotAssessed: the fault did not occur.
            NotApplicable: the fault cannot occur, because the adapter requests whole answers, which have no chunks.
        """
        self._calls.client.provider.clear()
        if not inputs.read("fired", lambda: plan.fired):
            asked = [BY_OP.get(op) for op in self._calls.client.provider.arrivals]
            if plan.at_chunk is not None and asked and all(op is not None and not op.streaming for op in asked):
                raise NotApplicable("the adapter requests whole answers from the provider, and these have no chunks")
            raise NotAssessed(Obstacle.NEVER_FIRED, op=plan.op or "the provider")

    def provider_op(self, name: str) -> str | None:
        """Return the op of the provider at which to plan a fault for an operation, or None for every op.

        One operation may reach the provider under several ops, for example to count tokens first. Then the fault is
        planned at the op that has the name of the operation. Otherwise the fault is planned at every op, so that a
        substitute provider fails too.

        Raises:
            NotAssessed: a plain request of the operation does not reach the provider.
        """
        calls = self._calls
        calls.require(name)
        own = f"{calls.component}.{name}"
        if name not in calls.shared.provider_ops:
            found = calls.shared.find(f"{own} reaches", lambda: self._reached_ops(name))
            if found.lasting:
                calls.shared.provider_ops[name] = found.answer
        ops = calls.shared.provider_ops.get(name)
        if not ops:
            where = f"await provider.reached({own!r}) where the provider is called"
            if self.is_tunnelled:
                where = "send the requests to the provider through the address that provider.tunnel returns"
            elif calls.client.provider.is_on_wire:
                where = (
                    "send the request for the provider to provider.url or provider.proxy, "
                    "or serve the endpoint with provider.serve"
                )
            raise NotAssessed(Obstacle.NOT_REACHED_FOR, op=own, remedy=where)
        return own if own in ops and len(ops) > 1 else None

    def _reached_ops(self, name: str) -> FoundFact:
        """Find out the ops at which a plain request of an operation reaches the provider."""
        calls = self._calls
        with inputs.fact_scope(f"{calls.component}.{name} reaches") as fact:
            reply = calls.invoke(name, calls.requests.distinct(name))
        reached = (each for exchange in fact.own_exchanges for each in exchange.observed.arrivals if each.chunk is None)
        arrived = tuple(dict.fromkeys(each.op for each in reached))
        return FoundFact(arrived, lasting=bool(arrived) or is_cacheable(reply.exchange))

    def backed_operations(self, *, streaming: bool) -> list[str]:
        """Return the working operations that call the provider.

        Raises:
            NotAssessed: the principal operation does not call the provider.
        """
        principal = self._calls.principal_stream if streaming else self._calls.principal
        self.provider_op(principal)
        found = [principal]
        for name in self._calls.operations(streaming=streaming):
            try:
                if name not in (principal, "capabilities", "health"):
                    self.provider_op(name)
                    found.append(name)
            except Undecided:
                continue
        return found


class ComponentInstance(Calls, Protocol):
    """A component that is bound to one instance of the adapter, and can open other instances."""

    @property
    def faults(self) -> ProviderFaults: ...

    def fresh(self) -> Self: ...

    def with_client(self, client: AdapterClient, /) -> Self: ...


Own = TypeVar("Own", bound=ComponentInstance)
Result = TypeVar("Result")
Answer = TypeVar("Answer", Reply, StreamReply, "Reply | StreamReply")


def call_with_fault(
    subject: Own,
    kind: str,
    name: str,
    send: Callable[[Own], Answer] | None = None,
    *,
    sound: Callable[[Answer], bool] | None = None,
    **options: Any,
) -> tuple[Own, Answer]:
    """Send a request while the provider has a fault; return the instance that was used, and its answer.

    Args:
        kind: the kind of the fault.
        name: the operation at which the fault is planned.
        send: makes the call; by default it sends a new request of the operation.
        sound: returns True for a correct answer. By default, an error is correct if it has the class for this fault.
        options: the options of `ProviderFaults.plan`.

    Raises:
        NotApplicable, NotAssessed: the fault did not occur, or cannot occur.
    """
    subject.faults.provider_op(name)
    subject.faults.require_possible(kind)

    def attempt(instance: Own) -> Answer:
        plan, until = instance.faults.plan(kind, name, **options), inputs.monotonic() + UNREADY_S
        while True:
            reply: Any = send(instance) if send else instance.invoke(name, instance.requests.distinct(name))
            asked_s = hint_s(reply) if has_transient_error(reply.exchange) else None
            if asked_s is None or inputs.monotonic() + asked_s > until or inputs.read("fired", lambda: plan.fired):
                break
            inputs.sleep(max(asked_s, PAUSES_S[0]))  # a new write may not be readable yet (R141)
        instance.faults.require_fired(plan)
        return reply  # type: ignore[no-any-return]

    def is_correct(reply: Answer) -> bool:
        return reply.is_a(*subject.faults.error_classes(kind)) if BY_KIND[kind].canonical else not reply.is_error

    return try_with_fault(subject, attempt, sound or is_correct)


def try_with_fault(
    subject: Own, attempt: Callable[[Own], Result], sound: Callable[[Result], bool]
) -> tuple[Own, Result]:
    """Call `attempt`, which plans a fault and makes a call; return the instance that was used, and the result.

    Tests share one instance until a result is not `sound`. An instance that failed before may answer differently, for
    example because of a circuit breaker. So such a result only counts on a new instance.
    """
    shared = subject.shared
    with finding_out(id(shared), "struck"):
        is_new = shared.fault_client is None
        if shared.fault_client is None:
            shared.fault_client = subject.client.fresh()
    instance = subject.with_client(shared.fault_client)
    if is_new or instance.client is subject.client:
        return instance, attempt(instance)
    if not shared.needs_fresh_client:
        try:
            result = attempt(instance)
            if sound(result):
                return instance, result
        except Outage:
            raise
        except (Undecided, Violation):
            subject.client.provider.clear()
        shared.needs_fresh_client = True
    fresh = subject.fresh()
    return fresh, attempt(fresh)


def is_tunnelled(provider: ProviderProbe) -> bool:
    """True if a provider is only reached through tunnels."""
    return bool(provider.lacking) and not provider.has_other_ways


def inexpressible_failures(provider: ProviderProbe) -> frozenset[str]:
    """Return the failures and context members that no protocol of the providers can express, as the author states."""
    return frozenset.intersection(*provider.lacking.values()) if is_tunnelled(provider) else frozenset()
