"""Carrying out one conformance test: what it needs, its body, the audit of all exchanges, the record.

The record is made around the body itself, by what takes the place of the test function, and nothing is taken for
granted: a test is satisfied only where its body came to its end with what the suite gave it, and the audit did too.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import BudgetSpent, DeclarationError, Unresponsive, WriteForbidden
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.usage.budget import Spending
from pytest_corpus.integration.collecting.nodes import repetition_of, requirement_of, test_of
from pytest_corpus.integration.running.evidence import FindingContext, context_secrets, without_secrets
from pytest_corpus.integration.session.adapters import Adapter
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Outage, Undecided, Violation
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.target import CAPABILITIES, FOUNDATIONS, Target
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.verdict.ledger import Finding, Outcome, TestRecord

UNFINISHED = NotAssessed("the test did not come to its end")

RUNS = 3
"""How often a test is run at most that fails while its provider fails."""


class TestExecution:
    """One execution of a conformance test.

    `record` is what it came to, None until the body has run; `behind` is what is behind each finding; `planted` are
    the secrets that may not be shown; `raised` is what the body was left with, for pytest to report.
    """

    __test__ = False

    def __init__(
        self,
        item: pytest.Item,
        adapter: Adapter,
        component: str,
        target: Target,
        *,
        causes: RootCauses[Any] | None,
        reported: set[tuple[str, str]],
        spending: Spending,
    ) -> None:
        self.item, self.adapter, self.component, self.target = item, adapter, component, target
        self.requirement = catalogue()[requirement_of(item)]
        self.record: TestRecord | None = None
        self.raised: BaseException | None = None
        self.behind: list[FindingContext] = []
        self.planted: set[str] = set()
        self.undecided: Undecided | None = UNFINISHED
        self._outcome: Outcome = "not_assessed"
        self._broken_off = ""
        self._findings: list[Finding] = []
        self._blocker: tuple[str, Violation, Exchange | None] | None = None
        self._editions = set(EDITIONS)
        self._causes, self._reported, self._spending = causes, reported, spending
        self._started, self._calls_before = time.monotonic(), target.calls

    def around(self, function: Callable[..., object], *, traceback: bool) -> Callable[..., None]:
        """A test function that carries out another one, and keeps what it came to.

        A finding is raised as a failure of pytest's without a traceback, which would cost more than the test, unless
        `traceback`.
        """

        @functools.wraps(function)
        def body(**arguments: Any) -> None:
            self._started, self._calls_before = time.monotonic(), self.target.calls
            try:
                self._carry_out(function, arguments)
            except Violation as violation:
                self.raised = violation
                if traceback:
                    raise
                self.raised = pytest.fail.Exception(str(violation), pytrace=False)
                raise self.raised from None
            except BaseException as error:
                self.raised = error
                raise
            finally:
                self._keep()

        return body

    def kept_from_running(self) -> TestRecord:
        """Note that pytest went on without the body."""
        self._broken_off = "another plugin took the place of the test's body"
        self._keep()
        assert self.record is not None
        return self.record

    def _keep(self) -> None:
        undecided = self.undecided
        self.record = TestRecord(
            adapter=self.adapter.label,
            component=self.component,
            requirement=self.requirement.id,
            test=test_of(self.item),
            outcome=self._outcome,
            reason=without_secrets(self._broken_off or (undecided.reason if undecided else ""), self.planted),
            keyword=undecided.keyword if isinstance(undecided, NotAssessed) else "",
            blocked_by=undecided.by if isinstance(undecided, Blocked) else "",
            findings=tuple(
                replace(
                    each, got=without_secrets(each.got, self.planted), path=without_secrets(each.path, self.planted)
                )
                for each in self._findings
            ),
            editions=tuple(sorted(self._editions)),
            repetition=repetition_of(self.item),
            duration_s=round(time.monotonic() - self._started, 4),
            calls=self.target.calls - self._calls_before,
            broken_off=self._broken_off,
        )
        self.adapter.ledger.ran(self.record)

    # -- the body --------------------------------------------------------------------------------------

    def _carry_out(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
        self.target.begin()
        try:
            with self._spending.enforced():
                decided = self._judge(function, arguments)
            if decided:
                self._outcome, self.undecided = "satisfied", None
        except Violation:
            self._outcome, self.undecided = "violated", None
            raise
        except Exception:
            self._outcome, self.undecided = "error", None
            raise
        except BaseException as error:
            self._outcome, self._broken_off = "not_assessed", f"{type(error).__name__} ended the test"
            raise

    def _judge(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> bool:
        try:
            try:
                return self._decides(function, arguments)
            finally:
                self._audit()
                self._find_blocker()
                self._note_secrets()
        finally:
            self.target.close_fresh()

    def _decides(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> bool:
        """Whether the body came to its end; where not, why."""
        if self._is_replaced(arguments):
            self._broken_off = "another plugin replaced what the test was given"
            return False
        refused = self._spending.refused
        try:
            self.target.gate(self.requirement)
            with expect.counting_checks() as taken:
                self._run(function, arguments)
                if self._spending.refused > refused:
                    raise BudgetSpent(str(self._spending.budget))
                if not taken():
                    raise NotAssessed("the test looked at nothing")
            return True
        except BudgetSpent as spent:
            self._run_out(spent)
        except Undecided as undecided:
            self._leave_open(undecided)
        except Violation as violation:
            self._violated(violation)
        except Unresponsive as silent:
            self._leave_open(NotAssessed(str(silent)) if silent.moving else Blocked(expect.IN_TIME, str(silent)))
        except WriteForbidden as forbidden:
            self.undecided = NotAssessed(str(forbidden))
        except DeclarationError:
            self.undecided = NotAssessed("the factory failed when it was called again")
        return False

    def _run(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
        """Run the body; again if it fails and the provider has failed in this run, for a reason that may pass (R114).

        Raises:
            NotAssessed: it failed in one way and another, so that the provider may be the reason.
        """
        failed: set[str] = set()
        for left in reversed(range(RUNS)):
            before = self.target.disturbances
            try:
                function(**arguments)
            except Outage:
                raise
            except (Violation, NotAssessed) as outcome:
                failed.add(outcome.expected if isinstance(outcome, Violation) else outcome.reason)
                struck = self.target.disturbances > before
                if not struck and not (before and isinstance(outcome, (Violation, Blocked))):
                    raise
                if not left:
                    if len(failed) == 1:
                        raise
                    raise Outage(self.target.outages.said) from outcome
                self.target.close_fresh()
                self.target.begin(unlearn=True)
            else:
                return

    def _run_out(self, spent: BudgetSpent) -> None:
        """Note that calls were not made, which leaves the test open and the run a part of one."""
        said = str(BudgetSpent(str(self.adapter.options.budget)) if self.adapter.options.budget.limits else spent)
        self.undecided = NotAssessed(said)
        self.adapter.ledger.mark_partial(said)

    def _is_replaced(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the arguments are not the target and the parameters that the suite gives."""
        parameters = getattr(self.item, "callspec", None)
        given = parameters.params if parameters is not None else {}
        own = (arguments[name] is value for name, value in given.items() if name in arguments)
        return not (all(own) and any(value is self.target for value in arguments.values()))

    def _leave_open(self, undecided: Undecided) -> None:
        """Note why there is no verdict; whatever blocks the test has been seen to be violated."""
        self.undecided = undecided
        self._outcome = "not_applicable" if isinstance(undecided, NotApplicable) else "not_assessed"
        if self.target.outages.lasting:
            self.adapter.ledger.outage = self.target.outages.said
        if not isinstance(undecided, Blocked):
            return
        if undecided.by != self.requirement.id:
            self._note_blocker(undecided)
            return
        violation = Violation(self.requirement.text, undecided.seen)
        self._find(self.requirement.id, violation, self._shows(undecided))
        raise violation

    def _note_blocker(self, blocked: Blocked) -> None:
        """Note what stands in the way, or what explains it, as seen by this test."""
        violation = blocked.violation
        evidence = self._shows(blocked)
        got = f"{blocked.seen}, seen while testing {self.requirement.id}"
        replay = violation.replay if violation else ""
        if violation and (cause := self._cause(blocked.by, violation)):
            self.undecided = blocked = cause
        if blocked.by in catalogue():
            self._blocker = blocked.by, Violation(catalogue()[blocked.by].text, got, replay=replay), evidence

    def _find_blocker(self) -> None:
        """Report what stood in the way where nothing is known of it yet: an audit tells it better."""
        blocker, self._blocker = self._blocker, None
        if blocker is None:
            return
        # Where capabilities do not answer, one of the foundations tells why.
        known = FOUNDATIONS if blocker[0] == CAPABILITIES else (blocker[0],)
        if not any((self._place, requirement) in self._reported for requirement in known):
            self._find(*blocker, indirect=True)

    def _violated(self, violation: Violation) -> None:
        evidence = violation.exchange or self._last()
        cause = self._cause(self.requirement.id, violation)
        if cause is not None and cause.by != self.requirement.id:
            got = f"not so, seen while testing {self.requirement.id}"
            root = Violation(catalogue()[cause.by].text, got, replay=violation.replay)
            self.undecided, self._blocker = cause, (cause.by, root, evidence)
            return
        self._find(self.requirement.id, violation, evidence)
        raise violation

    # -- findings --------------------------------------------------------------------------------------

    @property
    def _place(self) -> str:
        """What findings are reported of."""
        return f"{self.adapter.label}/{self.component}"

    def _cause(self, requirement: str, violation: Violation) -> Blocked | None:
        """The finding of another requirement that explains a violation; none where the adapter does not answer."""
        try:
            return self._causes.explain(requirement, violation) if self._causes else None
        except (BudgetSpent, Unresponsive, WriteForbidden, DeclarationError, Outage):
            return None

    def _shows(self, blocked: Blocked) -> Exchange | None:
        """The exchange in which it was seen what blocks a test."""
        known = blocked.violation.exchange if blocked.violation else None
        return blocked.evidence or known or self._last()

    def _last(self) -> Exchange | None:
        """The exchange that a test ended with: of the instance that it opened last."""
        return next((client.exchanges[-1] for client in reversed(self.target.clients) if client.exchanges), None)

    def _find(
        self, requirement: str, violation: Violation, evidence: Exchange | None, *, indirect: bool = False
    ) -> None:
        self.behind.append(FindingContext.of(violation, evidence))
        self._reported.add((self._place, requirement))
        got, path = violation.got[:200], violation.path[:100]
        self._findings.append(Finding(requirement, violation.expected, got, path, indirect))

    def _note_secrets(self) -> None:
        exchanges = [exchange for client in self.target.clients for exchange in client.exchanges]
        exchanges += [each.exchange for each in self.behind if each.exchange]
        for exchange in exchanges:
            self.planted.update((*exchange.secrets.values(), *context_secrets(exchange.request)))

    def _audit(self) -> None:
        for requirement, violation, exchange in self.target.audit():
            if (self._place, requirement) not in self._reported and requirement in catalogue():
                self._find(requirement, violation, exchange)
        self._editions &= self.target.editions
