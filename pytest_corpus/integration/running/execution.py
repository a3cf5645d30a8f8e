"""The execution of one conformance test: prerequisites, the test function, the audit of all exchanges, the record.

The record is made by a wrapper around the test function. A test is satisfied only if its function finished, was called
with the arguments of the suite, and the audit finished too.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import (
    UNCALLABLE,
    BudgetSpent,
    DeclarationError,
    MissingAnswer,
    Unresponsive,
    WriteForbidden,
)
from pytest_corpus.adapter.hooks.provider import MISTAKEN
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.scope import begin_part, part_of
from pytest_corpus.adapter.tracebacks import EscapedException
from pytest_corpus.adapter.usage import Spending
from pytest_corpus.evidence.player import Unrecorded
from pytest_corpus.evidence.recorder import RecordedTest
from pytest_corpus.integration.collecting.nodes import name_and_repetition, requirement_of, tests_of
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.running.endings import (
    NOT_RUN,
    REPLACED,
    UNFINISHED,
    Ending,
    Notes,
    TestResult,
    ending_after_mistake,
)
from pytest_corpus.integration.running.evidence import context_secrets, finding_of, mask_planted
from pytest_corpus.integration.running.in_flight import Attempt, ConcurrentTests, begin_inputs
from pytest_corpus.integration.running.surroundings import (
    CHANGED,
    Surroundings,
    cause_of_end,
    has_other_arguments,
    outcome_behind,
)
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Outage, Undecided, Violation
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.target import CAPABILITIES, FOUNDATIONS, Target
from pytest_corpus.redaction import type_name
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict.ledger import TestRecord

PROVIDER = "provider"  # the key for exceptions of a provider stand-in in `reported`
RUNS = 3  # the most attempts of a test that fails while the provider fails


class TestExecution:
    """One execution of a conformance test; `result` is None until the test function has run."""

    __test__ = False

    def __init__(
        self,
        item: pytest.Item,
        adapter: Adapter,
        component: str,
        target: Target,
        *,
        is_last: bool,
        causes: RootCauses[Any] | None,
        reported: set[tuple[str, str]],
        spending: Spending,
        surroundings: Surroundings,
        following: Callable[[], Iterable[pytest.Item]],
        in_flight: ConcurrentTests | None = None,
    ) -> None:
        self.item, self.adapter, self.component, self.target = item, adapter, component, target
        self.test, self.repetition = name_and_repetition(item)
        self.requirement = catalogue()[requirement_of(item)]
        self.result: TestResult | None = None
        self._is_last = is_last
        self._causes, self._reported, self._spending = causes, reported, spending
        self._recorded: RecordedTest | None = None
        self._attempt: Attempt | None = None
        self._surroundings, self._following, self._in_flight = surroundings, following, in_flight

    def wrap(self, function: Callable[..., object], *, traceback: bool) -> Callable[..., None]:
        """Return a test function that calls another test function and stores the result of the test.

        A violation is raised as a pytest failure. It has a traceback only if `traceback` is True, because making the
        traceback takes longer than the test.
        """

        @functools.wraps(function)
        def body(**arguments: Any) -> None:
            started, calls = Clock.monotonic(), self.target.calls
            observed, ending = Notes(), UNFINISHED
            recorder = self.adapter.settings.recorder
            self._recorded = recorder.begin(self.test, self.repetition) if recorder else None
            try:
                with inputs.read_from(self.adapter.source or inputs.Source()), part_of(None):
                    ending = self._run_test(function, arguments, observed)
            except Unrecorded:
                pass
            except Exception as error:
                outcome = outcome_behind(error)
                said = cause_of_end(self.item.config, outcome) if outcome else ""
                fault = NotAssessed(f"a fault of pytest-corpus itself ended the test ({type_name(error)})")
                ending = Ending("error", undecided=fault, raised=error)
                ending = replace(UNFINISHED, broken_off=said, raised=error) if said else ending
                raise
            except BaseException as error:
                ending = replace(UNFINISHED, broken_off=cause_of_end(self.item.config, error), raised=error)
                raise
            finally:
                if missing := self.adapter.end_test():
                    ending, observed = Ending(undecided=NotAssessed(missing)), Notes()
                if isinstance(ending.raised, Violation) and not traceback:
                    ending = replace(ending, raised=pytest.fail.Exception(str(ending.raised), pytrace=False))
                spent = Clock.monotonic() - started, self.target.calls - calls
                self._keep_result(ending, observed, *(self._attempt.spent if self._attempt else spent))
            if ending.raised is not None:
                raise ending.raised

        return body

    def _run_test(self, function: Callable[..., object], arguments: Mapping[str, Any], observed: Notes) -> Ending:
        """Run the test if it can be judged. Drop each violation that may be caused by a change in this process."""
        if obstacle := self._obstacle():
            return replace(UNFINISHED, broken_off=obstacle)
        before = self._reported.copy()
        ending = self._decide_outcome(function, arguments, observed)
        for violation in tuple(observed.violations):
            if excuse := self._surroundings.explain_by_changes(violation):
                observed.violations.remove(violation)
                self._reported -= {(self._component_key, violation.requirement)} - before
                self.adapter.ledger.mark_unreliable(excuse)
        excuse = self._surroundings.explain_by_changes(ending.violation) if ending.violation else ""
        return replace(UNFINISHED, broken_off=excuse) if excuse else ending

    def _decide_outcome(self, function: Callable[..., object], arguments: Mapping[str, Any], observed: Notes) -> Ending:
        """Return the ending of the concurrent attempt if this attempt counts; otherwise run the test alone."""
        beside = self._in_flight if self.adapter.source is None else None  # with a transcript, tests run one by one
        attempt = beside.finished_attempt(self.item, self.target, self._following) if beside else None
        ended = beside.ending_from_attempt(attempt) if beside and attempt else None
        is_own = not has_other_arguments(self.item, self.target, arguments)
        if attempt and ended and is_own and self._has_clean_audit(attempt, observed):
            return ended
        doubted = beside is not None and beside.must_unlearn(attempt)
        self._begin_run(1, unlearn=doubted)
        ending = self._run_and_audit(function, arguments, observed)
        if ending.violation and isinstance(self.target, Subject) and self.target.shared.distrust():
            if ending.violation in observed.violations:
                observed.violations.remove(ending.violation)
                self._reported.discard((self._component_key, ending.violation.requirement))
            self._begin_run(1, unlearn=True)  # what another process found out may be wrong
            ending = self._run_and_audit(function, arguments, observed)
        if beside and (found := beside.find_disturbance(self.item, attempt, self.target, ending, observed.violations)):
            self._add_finding(found, observed)
        return ending

    def _has_clean_audit(self, attempt: Attempt, observed: Notes) -> bool:
        """Audit the exchanges of a concurrent attempt; return True if they show no finding.

        Findings from late metrics or logs of earlier tests are added to `observed`.
        """
        begin_part(attempt.part)
        self.target.auditor.editions = attempt.editions
        self._collect_findings(None, observed)
        own = [each for each in observed.violations if any(made in each.exchanges for made in attempt.part.exchanges)]
        if not own:
            self._attempt = attempt
            return True
        self._reported.difference_update((self._component_key, each.requirement) for each in own)
        observed.violations[:] = [each for each in observed.violations if each not in own]
        observed.made.clear()
        return False

    def _obstacle(self) -> str:
        """Return the reason why the test cannot be judged in this process; empty if it can be judged."""
        is_of_the_suite = self.test in tests_of(self.adapter, self.component)
        return self._surroundings.obstacle() if is_of_the_suite else CHANGED

    def record_not_run(self) -> TestResult:
        """Store and return the result of a test whose function pytest did not call."""
        return self._keep_result(NOT_RUN, Notes(), 0.0, 0)

    def _keep_result(self, ending: Ending, observed: Notes, duration_s: float, calls: int) -> TestResult:
        undecided, secrets = ending.undecided, observed.secrets
        record = TestRecord(
            adapter=self.adapter.label,
            component=self.component,
            requirement=self.requirement.id,
            test=self.test,
            outcome=ending.outcome,
            reason=mask_planted(ending.broken_off or (undecided.reason if undecided else ""), secrets),
            keyword=undecided.keyword if isinstance(undecided, NotAssessed) else "",
            blocked_by=undecided.by if isinstance(undecided, Blocked) else "",
            findings=tuple(finding_of(each, secrets, self.item) for each in observed.violations),
            editions=tuple(sorted(observed.editions)),
            repetition=self.repetition,
            duration_s=round(duration_s, 4),
            calls=calls,
            broken_off=ending.broken_off,
        )
        self.result = TestResult(record, observed, ending.raised)
        if self._recorded is not None:
            positions = tuple(self._recorded.position_of(each.exchange, each.story) for each in observed.violations)
            self.result = replace(self.result, recorded=self._recorded, positions=positions)
        self.adapter.ledger.add_run(record)
        return self.result

    def _begin_run(self, run: int, *, unlearn: bool = False) -> None:
        begin_inputs(self.item, self.adapter)
        self.target.begin(unlearn=run > 1 or unlearn)
        if unlearn and self._causes is not None:
            self._causes.forget()

    def _run_and_audit(self, function: Callable[..., object], arguments: Mapping[str, Any], observed: Notes) -> Ending:
        """Run the test function, and audit its exchanges even if it fails."""
        ending = UNFINISHED
        try:
            with self._spending.enforce():
                try:
                    ending = self._run_to_ending(function, arguments)
                finally:
                    client = self.adapter.client
                    mistakes, late = client.provider.mistakes.take_mistakes() if client else ([], [])
                    for said in late:
                        self.adapter.ledger.mark_unreliable(said)
                    if not mistakes:
                        self._collect_findings(ending.violation, observed)
        finally:
            self.target.close_fresh()
        return self._leave_open_after_mistake(mistakes[0]) if mistakes else ending

    def _leave_open_after_mistake(self, mistake: EscapedException | MissingAnswer) -> Ending:
        """Leave the test undecided and forget its facts, because the provider stand-in gave a wrong answer.

        If the author's endpoint raised, the run is partial. The first test with this exception shows its traceback.
        """
        self._recorded = None
        if isinstance(mistake, MissingAnswer):  # the failed call ended the test, so there are no facts to forget
            return Ending(undecided=NotAssessed(mistake.shape))
        self.target.begin(unlearn=True)
        if self._causes is not None:
            self._causes.forget()
        reason = f"{MISTAKEN} {mistake}"
        self.adapter.ledger.mark_unreliable(reason)
        if (known := (PROVIDER, str(mistake))) in self._reported:
            return Ending(undecided=NotAssessed(reason))
        self._reported.add(known)
        return ending_after_mistake(reason, mistake, full=self.adapter.options.on_terminal == "full")

    def _run_to_ending(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> Ending:
        if has_other_arguments(self.item, self.target, arguments):
            return REPLACED
        refused = self._spending.refused
        try:
            self.target.gate(self.requirement)
            with judging() as judgement:
                self._run(function, arguments)
                if self._spending.refused > refused:
                    raise BudgetSpent(str(self._spending.budget))
                if not judgement.checks:
                    raise NotAssessed(expect.describe_empty_test(judgement))
            return Ending("satisfied")
        except BudgetSpent as spent:
            said = str(BudgetSpent(str(self.adapter.options.budget)) if self.adapter.options.budget.limits else spent)
            self.adapter.ledger.mark_partial(said)
            return Ending(undecided=NotAssessed(said))
        except Undecided as undecided:
            return self._leave_open(undecided)
        except Violation as violation:
            return self._end_with_violation(violation)
        except Unresponsive as silent:
            return self._leave_open(NotAssessed(str(silent)) if silent.moving else Blocked(expect.IN_TIME, str(silent)))
        except (WriteForbidden, MissingAnswer) as unanswered:
            return Ending(undecided=NotAssessed(str(unanswered)))
        except DeclarationError:
            return Ending(undecided=NotAssessed("the factory failed when it was called again"))

    def _run(self, function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
        """Run the test; repeat it if the provider had transient failures (R114), or if writes prove to be late (R46).

        Raises:
            NotAssessed: the attempts failed in different ways, so the provider may be the reason.
        """
        failed: set[str] = set()
        for left in reversed(range(RUNS)):
            before = self.target.disturbance_count
            try:
                function(**arguments)
            except Outage:
                raise
            except (Violation, NotAssessed) as outcome:
                is_blame, own = isinstance(outcome, (Violation, Blocked)), self.target
                if not (left and is_blame and isinstance(own, Subject) and own.settling.is_late_after_all()):
                    failed.add(outcome.expected if isinstance(outcome, Violation) else outcome.reason)
                    if self.target.disturbance_count == before and not (before and is_blame):
                        raise
                    if not left:
                        if len(failed) == 1:
                            raise
                        raise Outage(self.target.outages.outage_text) from outcome
                self.target.close_fresh()
                self._begin_run(RUNS - left + 1)
            else:
                return

    def _leave_open(self, undecided: Undecided) -> Ending:
        """Leave the test undecided. If another requirement blocks it, that requirement counts as violated."""
        undecided.__traceback__ = None  # breaks a reference cycle between traceback and test
        if self.target.outages.lasting:
            self.adapter.ledger.outage = self.target.outages.outage_text
        if isinstance(undecided, NotApplicable):
            return Ending("not_applicable", undecided)
        if not isinstance(undecided, Blocked):
            return Ending(undecided=undecided)
        seen = undecided.violation
        cause = self._find_cause(undecided.by, seen) if seen else None
        blocked = cause or self._find_cause(undecided.by, undecided) or undecided
        if blocked.by == self.requirement.id:
            violation = blocked.violation
            if violation is None:
                violation = Violation(self.requirement.text, blocked.seen).attach_exchanges(*blocked.exchanges)
            return Ending("violated", raised=violation, violation=violation.for_requirement(blocked.by))
        said = seen.got if seen and blocked is undecided else blocked.seen
        return self._end_as_blocked(blocked, f"{said}, seen while testing {self.requirement.id}", seen)

    def _end_with_violation(self, violation: Violation) -> Ending:
        cause = self._find_cause(self.requirement.id, violation)
        if cause is not None and cause.by != self.requirement.id:
            return self._end_as_blocked(cause, f"{cause.seen}, seen while testing {self.requirement.id}", violation)
        return Ending("violated", raised=violation, violation=violation.for_requirement(self.requirement.id))

    def _end_as_blocked(self, blocked: Blocked, got: str, seen: Violation | None) -> Ending:
        """Leave the test undecided because another requirement is violated; `seen` is this test's violation, if any."""
        if blocked.by not in catalogue():
            return Ending(undecided=blocked)
        own = seen if seen is blocked.violation else None
        expected, path = (own.expected, own.path) if own else (catalogue()[blocked.by].text, "")
        violation = Violation(expected, got, path, story=seen.story if seen else None)
        violation.attach_exchanges(*(blocked.exchanges or (seen.exchanges if seen else ())))
        return Ending(undecided=blocked, violation=violation.for_requirement(blocked.by, indirect=True))

    @property
    def _component_key(self) -> str:
        return f"{self.adapter.label}/{self.component}"

    def _find_cause(self, requirement: str, found: Violation | Blocked) -> Blocked | None:
        """Return the violated requirement that explains a finding, or None."""
        try:
            if self._causes is None:
                return None
            if isinstance(found, Blocked):
                return self._causes.explain_block(found)
            return self._causes.explain(requirement, found)
        except (*UNCALLABLE, Outage):
            return None

    def _collect_findings(self, own: Violation | None, observed: Notes) -> None:
        """Collect the findings of the test and of the audit, the secrets that were sent, and the valid editions."""
        if own and not own.indirect:
            self._add_finding(own, observed)
        whole = self._is_last or self._recorded is not None  # a transcript has all metrics of a test with the test
        for violation in self.target.auditor.audit(is_last=whole):
            if not self._is_reported(violation.requirement) and violation.requirement in catalogue():
                self._add_finding(violation, observed)
        for exchange in self.target.auditor.unsettled:
            exchange.origin = exchange.origin or self.item
        observed.editions &= frozenset(self.target.auditor.editions)
        # An audit says more of what blocks a test. If capabilities do not answer, one of the foundations says why.
        if own and own.indirect:
            known = FOUNDATIONS if own.requirement == CAPABILITIES else (own.requirement,)
            if not any(map(self._is_reported, known)):
                self._add_finding(own, observed)
        exchanges = self.target.part.exchanges
        observed.made += exchanges
        observed.recalled |= self.target.part.recalled
        for exchange in (*exchanges, *observed.judged_exchanges):
            observed.secrets.update((*exchange.secrets.values(), *context_secrets(exchange.request)))

    def _is_reported(self, requirement: str) -> bool:
        return (self._component_key, requirement) in self._reported

    def _add_finding(self, violation: Violation, observed: Notes) -> None:
        observed.violations.append(violation)
        self._reported.add((self._component_key, violation.requirement))
