"""The records of a run's tests, and the reasons why some records prove nothing.

A record counts only if the test was collected, the process that ran the test made one record of it, and pytest
reported the test once, with the same record and outcome. Any other record can only prove a violation.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import chain
from typing import Any, Literal

from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.text.values import from_json_value, to_json_value
from pytest_corpus.verdict.finding import Finding

Outcome = Literal["satisfied", "violated", "not_applicable", "not_assessed", "error"]
WORSE: tuple[Outcome, ...] = ("satisfied", "not_applicable", "not_assessed", "violated", "error")
"""Outcomes of one test, from best to worst."""


@dataclass(frozen=True, slots=True)
class TestRecord:
    """The record of one test of one component of one adapter.

    Attributes:
        outcome: `error` is a fault in the suite.
        reason: the reason why the test was not applicable or not assessed.
        keyword: the hook that the test needs and the adapter does not use, such as `metrics`.
        blocked_by: the requirement that blocks the test.
        broken_off: the external cause that ended the test early.
        repetition: the number of the execution, from 1, if tests run several times.
    """

    __test__ = False

    adapter: str
    component: str
    requirement: str
    test: str
    outcome: Outcome
    reason: str = ""
    keyword: str = ""
    blocked_by: str = ""
    findings: tuple[Finding, ...] = ()
    editions: tuple[str, ...] = ()
    duration_s: float = 0.0
    repetition: int = 0
    broken_off: str = ""
    calls: int = 0

    @property
    def key(self) -> str:
        """The key of this execution in a ledger."""
        return ledger_key(self.component, self.test, self.repetition)

    def dump(self) -> str:
        """Encode the record as a JSON text, to send it to another process; empty values are left out."""
        said = {name: value for name in _FIELDS if (value := getattr(self, name)) or name in _REQUIRED}
        if self.findings:
            said["findings"] = to_json_value(self.findings)
        text = _write(said)
        _DUMPED.clear()
        _DUMPED[text] = self
        return text

    @classmethod
    def load(cls, text: object) -> TestRecord:
        """Decode a record that `dump` wrote. Raises ValueError for any other text."""
        if isinstance(text, str) and text in _DUMPED:
            return _DUMPED[text]
        try:
            record = from_json_value(cls, json.loads(text))  # type: ignore[arg-type]
            if record.outcome in WORSE and record.dump() == text:
                return record
        except (TypeError, AttributeError) as error:
            raise ValueError("no record of a test") from error
        raise ValueError("no record of a test")


_FIELDS = tuple(each.name for each in fields(TestRecord))
_REQUIRED = frozenset(each.name for each in fields(TestRecord) if each.default is MISSING)
_write = json.JSONEncoder(sort_keys=True).encode

_DUMPED: dict[str, TestRecord] = {}
"""The record that was dumped last in this process; its key is the dumped text."""


def ledger_key(component: str, test: str, repetition: int = 0) -> str:
    """Return the key of one execution of a test: ``component/test``; the third repetition has the suffix ``#3``."""
    return f"{component}/{test}" + (f"#{repetition}" if repetition else "")


MISMATCHES = {
    "not collected": "tests that ran although the suite did not collect them",
    "not reported": "tests that ran and of which pytest reported nothing",
    "not run": "tests that pytest reported although their body did not run",
    "altered": "tests whose record was changed before it arrived",
    "repeated": "tests that ran or were reported more than once",
    "otherwise": "tests whose pytest outcome differs from their record",
    "broken off": "tests that another plugin or a signal ended",
    "fault": "tests that ended in a fault of pytest-corpus itself",
}
"""The reasons why the record of a test proves nothing, each with a description of such tests."""


@dataclass
class Ledger:
    """The records of one adapter's run.

    Attributes:
        settle: the seconds until a write is visible, by component.
        missed: the seconds of the search for a write that never became visible, by component.
        calls, tokens: the calls made and, as the adapter reports, the tokens used, by component.
        took: the number of successful calls by operation and time; ``llm.complete 8`` counts calls below 8 ms.
        expected: the keys of all tests of the suite.
        selected: the keys of the tests that pytest collected and did not deselect.
        mismatched: the keys of tests whose record differs from pytest's report.
        incomplete: the reasons why the run was limited to a part of the suite.
        doubts: the reasons why the whole run is unreliable.
        reruns: for each test, the number of reports after which another plugin ran the test again.
        plugins: by kind of mismatch (a key of `MISMATCHES`, or `missing`), a text with the plugins that may be the
            reason.
        unaccounted: True if a process ran tests and did not report them.
        outage: a sentence on the provider's outage.
        runs: the ids of the run, or of the runs that were combined.
        left: the names of undeleted items in the adapter's store, by kind.
        lacking: the kinds of failure that the provider's protocol cannot express, as the author states (R137).
        recorded: a sentence for each recording that gave answers instead of the provider (R149).
    """

    adapter: str
    components: tuple[str, ...] = ()
    capabilities: dict[str, Any] = field(default_factory=dict)
    settle: dict[str, float] = field(default_factory=dict)
    missed: dict[str, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    took: Counter[str] = field(default_factory=Counter)
    expected: set[str] = field(default_factory=set)
    selected: set[str] = field(default_factory=set)
    mismatched: set[str] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)
    doubts: set[str] = field(default_factory=set)
    reruns: Counter[str] = field(default_factory=Counter)
    plugins: dict[str, str] = field(default_factory=dict)
    unaccounted: bool = False
    outage: str = ""
    runs: set[str] = field(default_factory=set)
    left: dict[str, list[str]] = field(default_factory=dict)
    lacking: set[str] = field(default_factory=set)
    recorded: set[str] = field(default_factory=set)
    _made: dict[str, list[TestRecord]] = field(default_factory=lambda: defaultdict(list))
    _arrived: dict[str, list[TestRecord]] = field(default_factory=lambda: defaultdict(list))

    def add_run(self, record: TestRecord) -> None:
        """Add a record from the process that ran the test."""
        self._made[record.key].append(record)

    def add_report(self, record: TestRecord, *, agrees: bool, runs_again: bool = False) -> None:
        """Add the record in pytest's report.

        Args:
            agrees: True if the outcome of the report matches the record.
            runs_again: True if the test runs again. The first result counts, plus the findings of later runs.
        """
        self._arrived[record.key].append(record)
        self.reruns[record.key] += runs_again
        if not agrees:
            self.mismatched.add(record.key)

    def mark_mismatch(self, test: str) -> None:
        """Mark a test whose report by pytest differs from its record."""
        self.mismatched.add(test)

    def mark_partial(self, why: str) -> None:
        """Record a reason why only a part of the suite runs."""
        self.incomplete.add(why)

    def add_delays(self, seconds: Mapping[str, float], missed: Mapping[str, float] | None = None) -> None:
        """Record the seconds until writes became visible, and the seconds of unsuccessful waiting, by component.

        If a component has several times, the longest is kept.
        """
        for known, found in ((self.settle, seconds), (self.missed, missed or {})):
            for component, each in found.items():
                known[component] = max(each, known.get(component, 0.0))

    def add_calls(self, calls: Mapping[str, int], tokens: Mapping[str, int], took: Mapping[str, int]) -> None:
        """Add the calls, tokens and durations of a process."""
        self.calls.update(calls)
        self.tokens.update(tokens)
        self.took.update(took)

    def mark_unreliable(self, why: str) -> None:
        """Record a reason why the whole run is unreliable."""
        self.doubts.add(why)

    def account(self) -> dict[str, Any]:
        """Return the results of a worker as a JSON value, which `take_account` reads."""
        return {
            **{name: getattr(self, name) for name in _PARTS},
            **{name: sorted(getattr(self, name)) for name in _SETS},
            "made": [record.dump() for records in self._made.values() for record in records],
        }

    def take_account(self, account: Mapping[str, Any]) -> None:
        """Add the results of a worker."""
        if self.expected and self.expected != set(account["expected"]):
            self.mark_unreliable("the workers collected different tests")
        self.components = tuple(account["components"])
        self.capabilities.update(account["capabilities"])
        self.add_delays(account["settle"], account["missed"])
        self.add_calls(account["calls"], account["tokens"], account["took"])
        self.outage = self.outage or account["outage"]
        for kind, names in account["left"].items():
            self.left.setdefault(kind, []).extend(names)
        for name in _SETS:
            getattr(self, name).update(account[name])
        for text in account["made"]:
            self.add_run(TestRecord.load(text))

    @property
    def records(self) -> dict[str, TestRecord]:
        """The worst record of each test by its key, with all findings. A pass with a mismatch is not assessed."""
        disputed = set().union(*self.mismatches().values())
        found = {}
        for key in (*self._made, *(key for key in self._arrived if key not in self._made)):
            record = _merge([*self._made.get(key, ()), *self._arrived.get(key, ())])
            if key in disputed and record.outcome in ("satisfied", "not_applicable"):
                record = replace(record, outcome="not_assessed", reason=record.broken_off or UNRELIABLE)
            found[key] = record
        return found

    def mismatches(self) -> dict[str, set[str]]:
        """Return the tests whose records prove nothing, by the kinds of `MISMATCHES`."""
        made, arrived = self._made, self._arrived
        ran, came = set(made), set(arrived)
        every = (*made.values(), *arrived.values())
        broken_off = {record.key for records in every for record in records if record.broken_off}
        return {
            "not collected": self.executed_tests - self.expected - broken_off,
            "not reported": ran - came,
            "not run": set() if self.unaccounted else came - ran - broken_off,
            "altered": {key for key in ran & came if made[key] != arrived[key] and set(made[key]) != set(arrived[key])},
            "repeated": {each[0].key for each in every if len(each) - self.reruns[each[0].key] > 1},
            "otherwise": (self.mismatched & self.executed_tests | self._tests_without_announced_rerun()) - broken_off,
            "broken off": broken_off,
            "fault": {record.key for records in every for record in records if record.outcome == "error"},
        }

    @property
    def gaps(self) -> list[str]:
        """The reasons why the run is partial; empty if it is complete."""
        nothing = [] if self.executed_tests else ["no conformance test ran"]
        outage = [self.outage] if self.outage else []
        return [*outage, *sorted(self.incomplete), *self._missing_tests(), *self._unreliable_reasons(), *nothing]

    @property
    def unrequested_gaps(self) -> list[str]:
        """The gaps that no option requested. Any such gap fails the run."""
        chosen = bool(self.incomplete) and not self.selected - self.executed_tests
        return [*([] if chosen else self._missing_tests()), *self._unreliable_reasons()]

    @property
    def executed_tests(self) -> set[str]:
        """The keys of tests that ran or were reported."""
        return {*self._made, *self._arrived}

    def _missing_tests(self) -> list[str]:
        missing = len(self.expected - self.executed_tests)
        said = f"{missing} of {len(self.expected)} tests did not run{self.plugins.get('missing', '')}"
        return [said] if missing else []

    def _unreliable_reasons(self) -> list[str]:
        found = {why: tests for why, tests in self.mismatches().items() if tests}
        ends = found.pop("broken off", set())
        every = chain.from_iterable((*self._made.values(), *self._arrived.values()))
        causes = {record.key: record.broken_off for record in every if record.key in ends and record.broken_off}
        return [
            *sorted(self.doubts),
            *(f"{why}: {times}" for why, times in sorted(Counter(causes.values()).items()) if why not in self.doubts),
            *(f"{MISMATCHES[why]}: {len(tests)}{self.plugins.get(why, '')}" for why, tests in found.items()),
        ]

    def _tests_without_announced_rerun(self) -> set[str]:
        """Return the tests that were announced to run again but did not."""
        return {key for key, number in self.reruns.items() if number and number >= len(self._arrived[key])}


_PARTS = ("components", "capabilities", "settle", "missed", "left", "calls", "tokens", "took", "outage")
_SETS = ("expected", "selected", "mismatched", "incomplete", "doubts", "runs", "lacking", "recorded")

UNRELIABLE = Obstacle.UNRELIABLE.text


def _merge(records: list[TestRecord]) -> TestRecord:
    if records.count(records[0]) == len(records):
        return records[0]
    worst = max(records, key=lambda each: WORSE.index(each.outcome))
    return replace(worst, findings=tuple(dict.fromkeys(finding for record in records for finding in record.findings)))


def describe_unseen_writes(ledger: Ledger) -> list[str]:
    """Return a sentence for each component whose plain writes never became visible."""
    return [
        f"{component}: a plain write did not show in the {seconds:.3g} s that it was looked for"
        for component, seconds in sorted(ledger.missed.items())
    ]


def describe_left_data(ledger: Ledger) -> list[str]:
    """Return a sentence for each kind of data that the suite could not delete from the adapter's store."""
    return [
        f"{len(names)} {kind}{'s' if len(names) > 1 else ''} could not be deleted: "
        + ", ".join(sorted(names)[:LISTED])
        + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
        for kind, names in ledger.left.items()
    ]


LISTED = 5  # the most names of undeleted data in a sentence
