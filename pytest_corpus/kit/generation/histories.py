"""Histories of concurrent operations on the same keys, checked for linearizability.

The check is the one by Wing and Gong with memoization. It searches for an order of the operations in which each read
returns the last write. An operation that ended before another one began must come first. The search is fast enough for
60 operations of 6 clients.
Each key is checked separately, as a register.
"""

import math
import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Story, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.capabilities import READ_AFTER_WRITE, STRONG
from pytest_corpus.spec.obstacles import Obstacle

Value = Hashable
"""The content of a key, or None if it has none."""

LONGEST_DELAY_MS = 20
"""The provider delays each operation up to this long, so that concurrent ones overlap."""


@dataclass(frozen=True, slots=True)
class Event:
    """One operation on one key, as the client of the operation saw it.

    Attributes:
        value: the value that was written or read; None for a delete, and for a read that found nothing.
        end: the end of the operation; infinite if the answer does not show whether the operation took effect.
        settled: True for a read that was sent alone, after the time in which writes become visible.
    """

    client: int
    is_read: bool
    value: Value
    start: float
    end: float
    settled: bool = False

    @property
    def name(self) -> str:
        """The label of the operation in a drawing."""
        shown = "nothing" if self.value is None else str(self.value)
        return f"read {shown}" if self.is_read else "delete" if self.value is None else f"write {shown}"


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A request of one client.

    Attributes:
        writes: the new value of each key that the request changes, None for a deleted key; empty for a read.
    """

    request: Mapping[str, Any]
    writes: Mapping[str, Value] = field(default_factory=dict)


def is_linearizable(events: Sequence[Event]) -> bool:
    """True if some order of the operations on a key explains the results of all reads."""
    required = sum(1 << at for at, event in enumerate(events) if event.end < math.inf)
    pending: list[tuple[int, Value]] = [(0, None)]
    seen = set(pending)
    while pending:
        done, state = pending.pop()
        if done & required == required:
            return True
        left = [(at, event) for at, event in enumerate(events) if not done >> at & 1]
        first_end = min(event.end for _, event in left)
        for at, event in left:
            # Only an operation that began before any other ended may come next (Wing and Gong).
            if event.start <= first_end and (not event.is_read or event.value == state):
                reached = (done | 1 << at, state if event.is_read else event.value)
                if reached not in seen:
                    seen.add(reached)
                    pending.append(reached)
    return False


def is_convergent(events: Sequence[Event]) -> bool:
    """True if each read returns a written value or nothing, and each settled read returns the value of a last write.

    A write is a last one if no other write began after its end. This rule binds every store, even a store that
    promises no order of concurrent operations.
    """
    writes = [event for event in events if not event.is_read]
    for read in (event for event in events if event.is_read):
        before = [write for write in writes if write.start < read.start]
        sure = [write for write in before if write.end < math.inf]
        last = {write.value for write in before if not any(write.end < other.start for other in sure)}
        last |= set() if sure else {None}
        possible = last if read.settled else {None, *(write.value for write in writes)}
        if read.value not in possible:
            return False
    return True


def shrink(events: Sequence[Event], holds: Callable[[Sequence[Event]], bool]) -> list[Event]:
    """Return a part of a history that still breaks a rule, so small that no more operations can be left out.

    A write is only left out if no read in the part returns its value.
    """
    kept = sorted(events, key=lambda event: event.start)
    for event in reversed(kept.copy()):
        fewer = [each for each in kept if each is not event]
        written = {None, *(each.value for each in fewer if not each.is_read)}
        is_seen = event.value in {each.value for each in fewer if each.is_read} - written
        if not is_seen and not holds(fewer):
            kept = fewer
    return kept


def draw_history(events: Sequence[Event]) -> str:
    """Draw a history as text: a line for each client, operations from `[` to `]`, time to the right."""
    column: dict[float, int] = {}
    for time in sorted({time for event in events for time in (event.start, event.end)}):
        ends = [column[event.start] + len(event.name) + 1 for event in events if event.end == time]
        column[time] = max([0, *(place + 1 for place in column.values()), *ends])
    lines = []
    for client in sorted({event.client for event in events}):
        line = f"client {client}: "
        margin = len(line)
        for event in sorted((each for each in events if each.client == client), key=lambda each: each.start):
            begin, end = (margin + column[time] for time in (event.start, event.end))
            line = line.ljust(begin) + f"[{event.name}".ljust(end - begin) + ("]" if event.end < math.inf else "...")
        lines.append(line)
    return "\n".join(lines)


def play(
    subject: Subject,
    rounds: Iterable[tuple[Sequence[Sequence[HistoryStep]], HistoryStep]],
    read: Callable[[Any], Mapping[str, Value]],
    uncertain: Sequence[str],
) -> dict[str, list[Event]]:
    """Let clients send their steps concurrently, then read once without other requests; return the history of each key.

    Args:
        rounds: the steps of each client, and the read after them.
        read: returns the keys and values in the result of a read.
        uncertain: the classes of errors after which a write may have been carried out.
    """
    chance, provider = random.Random(subject.settings.seed), subject.client.provider
    events: dict[str, list[Event]] = {}

    def note(client: int, step: HistoryStep, reply: Reply, *, settled: bool = False) -> None:
        expect.readable(reply)
        if reply.is_success or (step.writes and reply.is_a(*uncertain)):
            exchange = reply.exchange
            end = exchange.started + exchange.frames[-1].at_s if reply.is_success else math.inf
            for key, value in (step.writes or read(reply.result)).items():
                event = Event(client, not step.writes, value, exchange.started, end, settled)
                events.setdefault(key, []).append(event)

    for clients, last in rounds:
        steps = [(client, step) for client, own in enumerate(clients, 1) for step in own]
        for _ in steps:
            provider.plan("slow", delay_ms=chance.uniform(0, LONGEST_DELAY_MS))
        requests = [step.request for _, step in steps]
        exchanges = subject.client.send_all(requests, subject.component, [client for client, _ in steps])
        provider.clear()
        for (client, step), exchange in zip(steps, exchanges, strict=True):
            subject.settling.note(step.request)
            note(client, step, Reply(exchange))
        note(0, last, subject.send(last.request), settled=True)
    return events


def check_histories(
    events: Mapping[str, Sequence[Event]], holds: Callable[[Sequence[Event]], bool], claim: str
) -> None:
    """Check that the history of every key keeps a rule.

    Raises:
        Violation: a history breaks the rule; `story` draws the smallest part of the history that breaks it.
    """
    for history in events.values():
        note_check()
        if not holds(history):
            found = shrink(history, holds)
            raise Violation(
                claim, f"{len(found)} operations that contradict this", "result", story=Story(draw_history(found))
            )


def require_strong_consistency(subject: Subject) -> None:
    """Check that capabilities claim strong consistency, and that writes are visible at once.

    Raises:
        NotApplicable: strong consistency is not claimed.
        NotAssessed: writes are visible late, which is the finding of another requirement.
    """
    claims = [value for _, value in subject.capabilities.extensions(*READ_AFTER_WRITE)]
    if not any(isinstance(value, str) and value.lower() == STRONG for value in claims):
        raise NotApplicable("strong consistency of reads after writes is not claimed")
    if subject.settling.find_settle_time():
        raise NotAssessed(Obstacle.LATE_WRITES)
