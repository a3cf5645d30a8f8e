"""Faults that are planned at the provider behind an adapter, through the hook `provider`."""

from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.hooks.provider import Plan
from pytest_corpus.kit.answer_cache import lasting
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.requests import Calls
from pytest_corpus.spec.errors import FORMS
from pytest_corpus.spec.operations import BY_OP

MAX_PROVIDER_RETRIES = 20
"""The number of times that a planned fault strikes: more often than a sound adapter retries."""


BROKEN_FORMS = ("reset", "truncated", "unfinished")
"""The forms of a broken answer, one of which is planned by seed; only a provider with an address has them."""


class ProviderFaults:
    """Plans faults where the operations of a component reach the provider."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def plan(self, kind: str, name: str, **options: Any) -> Plan:
        """Plan a fault where an operation reaches the provider, in place of any other.

        It strikes again where the adapter retries by itself, unless `times` says otherwise.
        """
        options.setdefault("times", 1 if kind == "slow" else MAX_PROVIDER_RETRIES)
        forms = [None, *(form for form in BROKEN_FORMS if kind in FORMS[form])]
        options.setdefault("form", forms[inputs.below(len(forms))])
        op, provider = self.provider_op(name), self._calls.client.provider
        provider.clear()
        return provider.plan(kind, op, **options)

    def fired(self, plan: Plan) -> None:
        """Clear a planned fault.

        Raises:
            NotAssessed: it did not strike.
            NotApplicable: nor can it, for the provider is asked for whole answers, which have no chunks.
        """
        self._calls.client.provider.clear()
        if not inputs.read("fired", lambda: plan.fired):
            asked = [BY_OP.get(op) for op in self._calls.client.provider.arrivals]
            if plan.at_chunk is not None and asked and all(op is not None and not op.streaming for op in asked):
                raise NotApplicable("the provider is asked for whole answers, which have no chunks to fail at")
            raise NotAssessed(f"the fault planned at {plan.op or 'the provider'} never fired")

    def provider_op(self, name: str) -> str | None:
        """The op at which a fault is planned for a working operation; None: at each op that reaches the provider.

        An operation may count tokens at the provider first: then the fault is planned at the op of its own name.
        Anywhere else it strikes every op, a second provider that takes over included.

        Raises:
            NotAssessed: a plain request of it does not reach the provider.
        """
        calls = self._calls
        calls.require(name)
        own = f"{calls.component}.{name}"
        if name not in calls.shared.provider_ops:
            provider = calls.client.provider
            before = len(provider.arrivals)
            with provider.paused(), inputs.apart(f"{own} reaches"):
                reply = calls.invoke(name, calls.requests.distinct(name))
            arrived = tuple(dict.fromkeys(provider.arrivals[before:]))
            if arrived or lasting(reply.exchange):
                calls.shared.provider_ops[name] = arrived
        ops = calls.shared.provider_ops.get(name)
        if not ops:
            where = f"await provider.reached({own!r}) where it is called"
            if calls.client.provider.server is not None:
                where = "send its request to provider.url, or serve its endpoint there with provider.serve"
            raise NotAssessed(f"for {own} the provider is not reached: {where}")
        return own if own in ops and len(ops) > 1 else None

    def backed(self, *, streaming: bool) -> list[str]:
        """The operations that work and reach the provider. Raises NotAssessed if not even the principal one does."""
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
