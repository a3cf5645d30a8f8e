"""The cost of a run, before it is paid: calls, the texts and tokens that a model generates, seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from typing import NamedTuple

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.integration.concluding.progress import CALLS
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.running.width import PROMPT_S
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.run_state import MOST_IN_FLIGHT
from pytest_corpus.redaction import printable
from pytest_corpus.reports.text import count

MOST_CALLS = 10
"""The calls that an estimate makes, those that ask for capabilities included; a first plain call may need more."""


class Cost(NamedTuple):
    """The calls of a whole run of a reference adapter, and the seconds that it takes without them.

    Attributes:
        answered: the calls that are carried out; the others are refused.
        generating: those that a model answers with a text.
        tokens: the tokens of these requests and answers at most, if three letters of a request are one.
        in_a_row: the calls that wait for one another, however many may be in flight.
    """

    answered: int
    generating: int
    tokens: int
    in_a_row: int
    base_s: float


COSTS = {
    "llm": Cost(370, 250, 14_000, 45, 4.0),
    "vector": Cost(1_310, 0, 0, 150, 6.0),
    "embedding": Cost(810, 0, 0, 90, 5.0),
    "graph": Cost(1_430, 0, 0, 250, 9.0),
}


def estimates(adapter: Adapter, share: float, asked: int | None) -> Iterator[str]:
    """A line for each component of an open adapter.

    Args:
        share: the part of its tests that is selected.
        asked: the number of tests that may be in flight; None: as many as gain time.
    """
    targets = [adapter.target(name) for name in adapter.components]
    subjects = [target for target in targets if isinstance(target, Subject)]
    for left, subject in zip(range(len(subjects), 0, -1), subjects, strict=True):
        most = subject.calls + (MOST_CALLS - subject.calls) // left
        yield printable(f"corpus estimate {adapter.label} {_estimate(subject, most, share, asked)}")


def _estimate(subject: Subject, most: int, share: float, asked: int | None) -> str:
    name, cost, calls = subject.component, COSTS[subject.component], round(CALLS[subject.component] * share)
    said = f"{name}: about {count(calls, 'call')}"
    if generating := round(cost.generating * share):
        said += f", {generating} of which generate a text ({round(cost.tokens * share):,} tokens at most)"
    answered_s, refused_s = _seconds(subject, most)
    if answered_s is None:
        return f"{said}; how long they take is not known, because a plain call fails"
    refused_s = answered_s if refused_s is None else refused_s
    waiting_s = share * (cost.answered * answered_s + (CALLS[name] - cost.answered) * refused_s)
    alone_s = share * cost.base_s + waiting_s
    width = min(MOST_IN_FLIGHT if asked is None else asked, subject.capabilities.limit("concurrency") or MOST_IN_FLIGHT)
    several_s = share * (cost.base_s + cost.in_a_row * answered_s) + waiting_s / width
    took = f"an answer takes {answered_s:.3g} s, a refusal {refused_s:.3g} s"
    if width == 1 or answered_s <= PROMPT_S or not may_be_in_flight(subject):
        return f"{said}; {took}: about {alone_s:.0f} s, one test at a time"
    return f"{said}; {took}: about {min(alone_s, several_s):.0f} s, or {alone_s:.0f} s one test at a time"


def may_be_in_flight(subject: Subject) -> bool:
    """True if nothing is known that keeps the tests of a component from being in flight."""
    client = subject.client
    return subject.keeps_apart and client.remote is None and not client.provider.is_on_wire


def _seconds(subject: Subject, most: int) -> tuple[float | None, float | None]:
    """The usual seconds of a call that is carried out, and of one that is refused; None if there is none.

    Calls are made until their number in this run is `most`; a first plain call may need others before it.
    """
    answered, refused, wrong = list[float](), list[float](), subject.requests.wrong_types(subject.principal)
    undisturbed = suppress(*UNCALLABLE, Undecided, Violation)
    with inputs.source(inputs.Source()), part_of(None), subject.retries.once(), undisturbed:
        refused.append(subject.invoke(subject.principal, wrong).exchange.elapsed_s)
        while not answered or subject.calls < most:
            reply = subject.invoke(subject.principal)
            if reply.is_error:
                break
            answered.append(reply.exchange.elapsed_s)
    return (median(answered) if answered else None), (median(refused) if refused else None)
