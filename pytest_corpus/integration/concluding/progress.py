"""Terminal lines before and during the tests: expected calls, estimated costs, progress."""

import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.integration.concluding.progress_bar import draw_bar
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.options.run_options import ENVIRONMENT
from pytest_corpus.integration.running.width import PROMPT_S
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.run_state import MOST_IN_FLIGHT
from pytest_corpus.redaction import printable, shorten
from pytest_corpus.reports.json_report import documented_facts
from pytest_corpus.reports.text import count_in_words
from pytest_corpus.verdict.ledger import Ledger, TestRecord

EVERY_S = 30.0  # the seconds between two reports of progress
WIDEST = 110  # the most characters of capabilities on a line of the terminal
WAITS = {"vector": 135, "graph": 120}  # the waits for writes in a run of a reference adapter that shows them late
CALLS = {"llm": 762, "vector": 1774, "embedding": 1181, "graph": 2169}  # the calls to the reference adapters
STRESS_CALLS = {"llm": 1370, "vector": 2430, "embedding": 1790, "graph": 2823}
FIRST = 20  # the number of calls after which the remaining time is estimated
RECENT_S = 5.0  # the period from which the current pace is computed
SHORT_S = 10.0  # a shorter run gets no line about its time
LONGEST = 40  # the most characters of one capability on the terminal


def environment_warnings(variables: Mapping[str, str]) -> list[str]:
    """Return a warning if no setting names the environment of the adapter's provider; otherwise an empty list."""
    if variables.get(ENVIRONMENT, "").strip():
        return []
    return [f"corpus warning: {ENVIRONMENT} is not set; say what the adapter talks to: local, ci, staging, production"]


def expected_calls(ledgers: Sequence[Ledger], tests: int, *, stress: bool) -> int:
    """Return the expected number of calls of the selected tests, measured with the reference adapters."""
    every = sum(len(ledger.expected) for ledger in ledgers) or tests or 1
    known = STRESS_CALLS if stress else CALLS
    calls = sum(known.get(name, 0) for ledger in ledgers for name in ledger.components)
    return round(calls * min(1, tests / every))


def untested_components(adapters: Iterable[Adapter]) -> list[str]:
    """Return a line about each adapter with components that respond but are not tested (R76)."""
    lines = []
    for adapter in adapters:
        if names := adapter.unnamed:
            listed = ", ".join(names)
            said = f"not tested: {listed}, whose capabilities answer without a `protocol` that names the component"
            remedy = f"--corpus-components={','.join(names)} tests them"
            lines.append(printable(f"corpus {adapter.label}: {said} ({remedy})"))
    return lines


def capability_lines(adapters: Iterable[Adapter]) -> list[str]:
    """Return lines with the name and the stated capabilities of each component."""
    lines = []
    for adapter in adapters:
        for component, document in adapter.ledger.capabilities.items():
            said = [f"{key}={_shorten_value(value)}" for key, value in documented_facts(component, document).items()]
            whole = printable(f"corpus {adapter.label} {component}: {', '.join(said)}")
            lines += textwrap.wrap(
                whole, WIDEST, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
            )
    return lines


def _shorten_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_shorten_value(item)}" for key, item in value.items()) + "}"
    return shorten(str(value), LONGEST)


@dataclass
class Progress:
    """Reports the progress of a long run on separate lines, unless a progress bar shows it.

    Attributes:
        expected: returns the expected number of calls for a number of tests.
        in_flight: returns the number of tests that this process is running.
        violated: the requirements that were violated so far, with their adapters and components.
        marks: earlier times, each with the numbers of calls and tests that were finished by then.
    """

    config: pytest.Config
    expected: Callable[[int], int]
    in_flight: Callable[[], int]
    has_bar: bool = False
    started: float = 0.0
    reported: float = field(default_factory=Clock.monotonic)
    done: int = 0
    calls: int = 0
    estimated: bool = False
    violated: set[tuple[str, str, str]] = field(default_factory=set)
    marks: deque[tuple[float, int, int]] = field(default_factory=deque)
    said: set[tuple[str, str]] = field(default_factory=set)

    def report(self, record: TestRecord, late: Iterable[Any]) -> None:
        """Count a finished test, and report the progress at intervals.

        Args:
            late: the components with a write delay, each with the seconds until its writes become visible.
        """
        self.done += 1
        self.calls += record.calls
        self.violated.update((record.adapter, record.component, each.requirement) for each in record.findings)
        adapter, now = record.adapter, Clock.monotonic()
        self.started = self.started or now - record.duration_s
        for component, seconds in late:
            if (adapter, component) not in self.said:
                self.said.add((adapter, component))
                self._write_line(write_delay_line(component, seconds, len(self.config.getoption("tx", None) or "1")))
        self._add_mark(now)
        is_estimated = self.estimated or self.calls < FIRST or now - self.started < RECENT_S
        is_due = now - self.reported >= EVERY_S and not self.has_bar
        if is_estimated and not is_due:
            return
        elapsed_s, calls_left = now - self.started, max(self.expected(self.total) - self.calls, 0)
        by_calls_s, by_tests_s = self._left_s(now, calls_left)
        if not is_estimated:
            self.estimated = True
            if by_calls_s >= SHORT_S:
                self._write_line(remaining_line(self.calls, calls_left, elapsed_s, by_calls_s))
        if is_due:
            self.reported = now
            if self.total >= self.done:
                left_s = max(by_calls_s, by_tests_s) if self.done < self.total else 0.0
                self._write_line(progress_line(self.done, self.total, elapsed_s, left_s))

    @property
    def total(self) -> int:
        """The number of tests of the session."""
        return int(getattr(self.config.pluginmanager.get_plugin("session"), "testscollected", 0))

    def bar_text(self) -> str:
        """Return the text of the progress bar; empty before the first test ends, and if tests are rerun."""
        if not self.marks or self.total < self.done:
            return ""
        now, (since, calls_before, _) = Clock.monotonic(), self.marks[0]
        left_s = max(self._left_s(now, max(self.expected(self.total) - self.calls, 0)))
        running = self.in_flight()
        parts = [
            f"{self.done} of {self.total} tests",
            *([f"{running} in flight"] if running > 1 else []),
            f"{(self.calls - calls_before) / max(now - since, 0.001):.0f} calls/s",
            *([f"{len(self.violated)} violated"] if self.violated else []),
            f"about {left_s:.0f} s left",
        ]
        return f"{draw_bar(self.done, self.total)} {', '.join(parts)}"

    def _left_s(self, now: float, calls_left: int) -> tuple[float, float]:
        """Return two estimates of the remaining seconds at the current pace: from calls, and from tests."""
        since, calls_before, done_before = self.marks[0]
        by_calls_s = (now - since) / max(self.calls - calls_before, 1) * calls_left
        return by_calls_s, (now - since) / max(self.done - done_before, 1) * max(self.total - self.done, 0)

    def _add_mark(self, now: float) -> None:
        """Add the current counts, and drop old counts, so that the estimate follows the recent pace."""
        if not self.marks:
            self.marks.append((self.started, 0, 0))
        self.marks.append((now, self.calls, self.done))
        while len(self.marks) > 2 and self.marks[1][0] < now - RECENT_S:
            self.marks.popleft()

    def _write_line(self, text: str) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            if self.config.getoption("dist", "no") == "no":
                terminal.ensure_newline()
            else:  # with workers, pytest does not track incomplete lines
                terminal.write("\n")
            terminal.write_line(text)


def write_delay_line(component: str, seconds: float, workers: int) -> str:
    """Return a line about the delay until writes become visible, with the time that it adds to a complete run."""
    waited_s = WAITS.get(component, 0) * seconds / workers
    waits = f"the whole suite waits about {waited_s:.0f} s for them"
    return f"corpus: writes of {component} show after {seconds:.3g} s; {waits}"


def remaining_line(calls: int, left: int, elapsed_s: float, left_s: float) -> str:
    """Return a line with the calls so far, and the estimated calls and seconds that remain."""
    took = f"{count_in_words(calls, 'call')} took {elapsed_s:.1f} s"
    return f"corpus: {took}; about {left} more are to come, in about {left_s:.0f} s"


def progress_line(done: int, total: int, elapsed_s: float, left_s: float) -> str:
    """Return a line with the finished tests, and the estimated seconds that remain."""
    return f"corpus: {done} of {total} tests in {elapsed_s:.0f} s, about {left_s:.0f} s left"


# The cost of a run

MOST_CALLS = 10
"""The largest number of calls for an estimate, including `capabilities`. The first plain call may exceed the number."""


class Cost(NamedTuple):
    """The cost of a complete run, measured with a reference adapter.

    Attributes:
        answered: the number of calls that succeed; the others are refused.
        generating: the number of calls for which a model generates text.
        tokens: the largest number of tokens in the requests and answers of these calls, at three letters per token.
        in_a_row: the number of calls that must be sequential, even if tests run concurrently.
        base_s: the seconds that the suite itself needs.
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


def estimate_costs(adapter: Adapter, share: float, asked: int | None) -> Iterator[str]:
    """Yield a line with the estimated cost for each component of an open adapter.

    Args:
        share: the selected fraction of the adapter's tests.
        asked: the largest number of concurrent tests; None if the suite chooses it.
    """
    targets = [adapter.target(name) for name in adapter.components]
    subjects = [target for target in targets if isinstance(target, Subject)]
    for left, subject in zip(range(len(subjects), 0, -1), subjects, strict=True):
        most = subject.calls + (MOST_CALLS - subject.calls) // left
        yield printable(f"corpus estimate {adapter.label} {_estimate_text(subject, most, share, asked)}")


def _estimate_text(subject: Subject, most: int, share: float, asked: int | None) -> str:
    name, cost, calls = subject.component, COSTS[subject.component], round(CALLS[subject.component] * share)
    said = f"{name}: about {count_in_words(calls, 'call')}"
    if generating := round(cost.generating * share):
        said += f", {generating} of which generate a text ({round(cost.tokens * share):,} tokens at most)"
    answered_s, refused_s = _measure_seconds(subject, most)
    if answered_s is None:
        return f"{said}; how long they take is not known, because a plain call fails"
    refused_s = answered_s if refused_s is None else refused_s
    waiting_s = share * (cost.answered * answered_s + (CALLS[name] - cost.answered) * refused_s)
    alone_s = share * cost.base_s + waiting_s
    limits = (asked, subject.capabilities.limit("concurrency"), subject.store.most_in_flight)
    width = min(MOST_IN_FLIGHT, *(limit for limit in limits if limit is not None))
    several_s = share * (cost.base_s + cost.in_a_row * answered_s) + waiting_s / width
    took = f"an answer takes {answered_s:.3g} s, a refusal {refused_s:.3g} s"
    if width == 1 or answered_s <= PROMPT_S or not may_be_in_flight(subject):
        return f"{said}; {took}: about {alone_s:.0f} s, one test at a time"
    return f"{said}; {took}: about {min(alone_s, several_s):.0f} s, or {alone_s:.0f} s one test at a time"


def may_be_in_flight(subject: Subject) -> bool:
    """True if the tests of a component may run concurrently, judged by what is known before the tests begin."""
    client = subject.client
    return subject.store.isolates_tests and client.remote is None and not client.provider.is_on_wire


def _measure_seconds(subject: Subject, most: int) -> tuple[float | None, float | None]:
    """Return the seconds of a successful call and of a refused call; None if there is no such call.

    Stop when the run has made `most` calls. The first plain call, and calls that must come before it, may exceed this
    limit.
    """
    answered, refused, wrong = list[float](), list[float](), subject.requests.wrong_types(subject.principal)
    undisturbed = suppress(*UNCALLABLE, Undecided, Violation)
    with inputs.read_from(inputs.Source()), part_of(None), subject.retries.calling_once(), undisturbed:
        refused.append(subject.invoke(subject.principal, wrong).exchange.elapsed_s)
        while not answered or subject.calls < most:
            reply = subject.invoke(subject.principal)
            if reply.is_error:
                break
            answered.append(reply.exchange.elapsed_s)
    return (median(answered) if answered else None), (median(refused) if refused else None)
