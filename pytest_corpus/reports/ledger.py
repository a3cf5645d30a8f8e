"""What the tests of a run said, test by test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any, Literal

Outcome = Literal["satisfied", "violated", "not_applicable", "not_assessed", "error"]
WORSE: tuple[Outcome, ...] = ("satisfied", "not_applicable", "not_assessed", "violated", "error")
"""Outcomes of one test, each outweighing those before it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation that turned up: of the test's own requirement or of one that holds for every answer."""

    requirement: str
    expected: str
    got: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One test of one component of one adapter, and how it ended.

    `reason` says why it was not applicable or not assessed, `keyword` which factory keyword would help,
    `blocked_by` which requirement stands in the way. `error` is a fault of the kit itself. `repetition` counts from 1
    where each test is run several times.
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

    def dump(self) -> str:
        """The record as a JSON text, to travel between processes; what is empty is left out."""
        said = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) or field.default is MISSING
        }
        if self.findings:
            said["findings"] = [asdict(finding) for finding in self.findings]
        return json.dumps(said, sort_keys=True)

    @classmethod
    def load(cls, text: str) -> TestRecord:
        """The record that `dump` wrote."""
        data: dict[str, Any] = json.loads(text)
        data["findings"] = tuple(Finding(**finding) for finding in data.get("findings", ()))
        data["editions"] = tuple(data.get("editions", ()))
        return cls(**data)


def ledger_key(component: str, test: str, repetition: int = 0) -> str:
    """What a ledger calls one execution of a test: ``component/test``, and ``#3`` for a third repetition."""
    return f"{component}/{test}" + (f"#{repetition}" if repetition else "")


@dataclass
class Ledger:
    """Everything that is known of one adapter's run."""

    adapter: str
    components: tuple[str, ...] = ()
    capabilities: dict[str, Any] = field(default_factory=dict)
    expected: set[str] = field(default_factory=set)
    records: dict[str, TestRecord] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)

    def add(self, record: TestRecord) -> None:
        """Take a record; of two on the same test the worse one stays, with all findings (a rerun hides nothing)."""
        key = ledger_key(record.component, record.test, record.repetition)
        before = self.records.get(key, record)
        worse = max(before, record, key=lambda each: WORSE.index(each.outcome))
        findings = dict.fromkeys((*before.findings, *record.findings))
        self.records[key] = replace(worse, findings=tuple(findings))

    def expect(self, tests: Iterable[str]) -> None:
        """Note which tests were collected, by their `ledger_key`."""
        self.expected.update(tests)

    def cut_short(self, why: str) -> None:
        """Note why this run is only a part of the suite."""
        self.incomplete.add(why)

    @property
    def gaps(self) -> list[str]:
        """Why the run is partial; empty where it is complete."""
        missing = len(self.expected - set(self.records))
        lost = [f"{missing} of {len(self.expected)} tests did not run"] if missing else []
        nothing = [] if self.records else ["no conformance test ran"]
        return sorted(self.incomplete) + lost + nothing
