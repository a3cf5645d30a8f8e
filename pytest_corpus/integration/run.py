"""Carrying out one conformance test: gates before, the audit of all exchanges after, the record."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from pytest_corpus.adapter.errors import DeclarationError, Unresponsive, Withheld
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.integration.adapters import Adapter
from pytest_corpus.integration.collect import repetition_of, requirement_of, test_of
from pytest_corpus.reports.ledger import Finding, Outcome, TestRecord
from pytest_corpus.spec.requirements import Requirement, catalogue
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.suites import expect
from pytest_corpus.suites.audit import audit, editions
from pytest_corpus.suites.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.suites.subject import Subject
from pytest_corpus.suites.target import Target
from pytest_corpus.suites.wire.target import ClientTarget

HOOKS = ("metrics", "provider")

FOUNDATIONS = ("COM-WIRE-1", "COM-WIRE-2", "COM-WIRE-3", "COM-CAP-1")
"""Requirements that can be judged even where capabilities do not answer."""


@dataclass
class Trial:
    """A conformance test in progress: `record` is what it comes to, `evidence` what is behind each finding."""

    item: pytest.Item
    adapter: Adapter
    component: str
    reported: set[tuple[str, str]]
    requirement: Requirement = field(init=False)
    outcome: Outcome = "satisfied"
    undecided: Undecided | None = None
    findings: list[Finding] = field(default_factory=list)
    evidence: list[Exchange | str | None] = field(default_factory=list)
    editions: set[str] = field(default_factory=lambda: set(EDITIONS))
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.requirement = catalogue()[requirement_of(self.item)]

    def record(self) -> TestRecord:
        """The record of the test."""
        undecided = self.undecided
        return TestRecord(
            adapter=self.adapter.label,
            component=self.component,
            requirement=self.requirement.id,
            test=test_of(self.item),
            outcome=self.outcome,
            reason=undecided.reason if undecided else "",
            keyword=undecided.keyword if isinstance(undecided, NotAssessed) else "",
            blocked_by=undecided.by if isinstance(undecided, Blocked) else "",
            findings=tuple(self.findings),
            editions=tuple(sorted(self.editions)),
            repetition=repetition_of(self.item),
            duration_s=round(time.monotonic() - self.started, 4),
        )

    def admitted(self, subject: Target) -> bool:
        """Whether what the test needs is there; where not, that is its outcome."""
        try:
            if isinstance(subject, Subject):
                gate(self.requirement, subject)
        except Undecided as undecided:
            self._leave_open(undecided, subject)
            return False
        return True

    @contextmanager
    def watched(self, subject: Target) -> Iterator[None]:
        """Turn however the body ends into an outcome, and audit every exchange it made."""
        subject.begin()
        try:
            yield
        except Undecided as undecided:
            self._leave_open(undecided, subject)
        except Violation as violation:
            evidence = violation.replay or self._last(subject)
            if cause := self._cause(subject, violation):
                self._leave_open(cause, subject)
                if (self._place, cause.by) not in self.reported:
                    root = Violation(catalogue()[cause.by].text, f"not so, seen while testing {self.requirement.id}")
                    self._find(cause.by, root, evidence)
                return
            self.outcome = "violated"
            self._find(self.requirement.id, violation, evidence)
            raise
        except Unresponsive as silent:
            self.undecided, self.outcome = Blocked(expect.IN_TIME, str(silent)), "not_assessed"
        except Withheld as withheld:
            self.undecided, self.outcome = NotAssessed(str(withheld)), "not_assessed"
        except DeclarationError:
            self.undecided, self.outcome = NotAssessed("the factory failed when it was called again"), "not_assessed"
        except Exception:
            self.outcome = "error"
            raise
        finally:
            self._audit(subject)
            subject.close_fresh()

    def _leave_open(self, undecided: Undecided, subject: Target) -> None:
        """Note why there is no verdict; a test that is blocked by its own requirement has found its violation."""
        self.undecided = undecided
        self.outcome = "not_applicable" if isinstance(undecided, NotApplicable) else "not_assessed"
        if isinstance(undecided, Blocked) and undecided.by == self.requirement.id:
            self.outcome, self.undecided = "violated", None
            violation = Violation(self.requirement.text, undecided.reason)
            self._find(self.requirement.id, violation, self._last(subject))
            raise violation

    @property
    def _place(self) -> str:
        """What findings are reported of."""
        return f"{self.adapter.label}/{self.component}"

    def _cause(self, subject: Target, violation: Violation) -> Blocked | None:
        """The finding of another requirement that explains a violation; none where the adapter does not answer."""
        try:
            return subject.root_cause(self.requirement.id, violation)
        except (Unresponsive, Withheld, DeclarationError):
            return None

    @staticmethod
    def _last(subject: Target) -> Exchange | None:
        """The exchange that a test ended with: of the instance that it opened last."""
        return next((client.exchanges[-1] for client in reversed(subject.clients) if client.exchanges), None)

    def _find(self, requirement: str, violation: Violation, evidence: Exchange | str | None) -> None:
        self.evidence.append(evidence)
        self.reported.add((self._place, requirement))
        self.findings.append(Finding(requirement, violation.expected, violation.got[:200], violation.path[:100]))

    def _audit(self, subject: Target) -> None:
        if isinstance(subject, ClientTarget):
            self.editions &= subject.editions
        if not isinstance(subject, Subject):
            return
        for client in subject.clients:
            for exchange in client.exchanges:
                self.editions &= editions(exchange)
                for requirement, violation in audit(exchange, subject):
                    if (self._place, requirement) not in self.reported and requirement in catalogue():
                        self._find(requirement, violation, exchange)


def gate(requirement: Requirement, subject: Subject) -> None:
    """Let a test run only where what it needs is there.

    Raises:
        NotApplicable: capabilities deny a feature that the requirement speaks of.
        NotAssessed: a hook is missing.
        Blocked: capabilities did not answer, so nothing is known of the adapter.
    """
    if not subject.capabilities.document and requirement.id not in FOUNDATIONS:
        raise Blocked("COM-CAP-1", "capabilities do not answer, so nothing is known of the adapter")
    for need in requirement.needs:
        if need in HOOKS:
            if need not in subject.client.hooks:
                raise NotAssessed(f"the factory takes no keyword argument {need!r}", need)
        elif need == "supports_caching":
            if not subject.capabilities.caches:
                raise NotApplicable("no cache is claimed")
        elif need == "idempotent_writes":
            if subject.capabilities.flag(need) is not True:
                raise NotApplicable("idempotent_writes is not claimed")
        elif subject.capabilities.flag(need) is False:
            raise NotApplicable(f"capabilities deny {need}")
