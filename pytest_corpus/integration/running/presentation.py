"""The outcome, message and letter of a conformance test in pytest's report."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

import pytest

from pytest_corpus.integration.declaring.properties import EVIDENCE, LATE, RECORD, STATUS, TRANSCRIPT
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.running import messages
from pytest_corpus.integration.running.evidence import EvidenceCapture
from pytest_corpus.integration.running.execution import Result, TestExecution
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.dialects import DIALECTS
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict import evidence
from pytest_corpus.verdict.ledger import UNRELIABLE, Finding, TestRecord
from pytest_corpus.verdict.verdict import counted

LETTERS: dict[str, tuple[str, str, Any]] = {
    "violated": ("SHOULD failed", "w", ("SHOULD", {"yellow": True})),
    "deviated": ("deviated", "d", ("DEVIATED", {"yellow": True})),
    "not_applicable": ("not applicable", "-", ("NOT APPLICABLE", {"cyan": True})),
    "not_assessed": ("not assessed", "?", ("NOT ASSESSED", {"yellow": True})),
}
"""The category, letter and word of a test that neither passed nor failed, by status."""

KIT_FAULT = "This is a fault of pytest-corpus, not of the adapter. Please report it with the traceback above."


def present(
    execution: TestExecution,
    seen: BaseException | None,
    report: pytest.TestReport,
    options: Options,
    rerun: Callable[[pytest.Item, str], str],
) -> None:
    """Put the result of a test into pytest's report.

    A report that does not match the result is shown as failed or as not assessed.

    Args:
        seen: the exception with which the call ended, as pytest saw it.
        rerun: gives the command that shows a finding of a test, of a requirement, again.
    """
    result = execution.result or execution.not_run()
    record = result.record
    disputed = not _agrees(result, seen, report)
    _add_properties(execution, record, report, disputed=disputed, options=options)
    recorder = execution.adapter.settings.recorder
    if recorder is not None and result.recorded is not None:
        lines = recorder.lines(result.recorded, record.adapter, _ended(result))
        report.user_properties.append((TRANSCRIPT, lines))
    if disputed:
        execution.adapter.ledger.mark_mismatch(record.key)
        vars(report).pop("wasxfail", None)
        if report.outcome == "failed" and not record.findings:
            return
    if record.outcome == "error":
        report.sections.append(("pytest-corpus", KIT_FAULT))
        return
    where = (str(execution.item.path), execution.item.location[1] or 0)
    outcome = shown_outcome(record, options)
    report.outcome = "skipped" if disputed and outcome == "passed" else outcome
    if record.findings:
        found = _evidence(execution, result, report, options, rerun)
        report.user_properties.append((EVIDENCE, evidence.dump(found)))
        in_files = [each.at(options.in_files) for each in found]
        said = messages.failure(record.findings, in_files)
        report.longrepr = said if outcome == "failed" else (*where, messages.in_one_line(record.findings))
    elif report.outcome == "skipped":
        report.longrepr = (*where, f"{record.requirement}: {record.reason or UNRELIABLE}")


def _ended(result: Result) -> dict[str, Any]:
    """The members of the line that ends a test in a transcript."""
    record = result.record
    findings = [{**asdict(finding), **place} for finding, place in zip(record.findings, result.places, strict=True)]
    members = ("component", "requirement", "outcome", "reason", "calls", "duration_s")
    return {**{name: getattr(record, name) for name in members}, "findings": findings}


def _evidence(
    execution: TestExecution,
    result: Result,
    report: pytest.TestReport,
    options: Options,
    rerun: Callable[[pytest.Item, str], str],
) -> tuple[evidence.Evidence, ...]:
    shown = getattr(execution.item.config.option, "showcapture", "all")
    gathering = EvidenceCapture(
        full="full" in (options.on_terminal, options.in_files),
        made_up=not (execution.component in WIRE or options.dialects is not DIALECTS),
        planted=tuple(result.secrets),
        printed=[pair for pair in report.sections if shown == "all" or shown in pair[0]],
        logs=shown in ("all", "log"),
        target=execution.adapter.shell_target(execution.component),
        trace=report.longreprtext if options.traceback and report.longrepr is not None else "",
    )
    return gathering.evidence(result.record, result.contexts, execution.item, rerun)


def shown_outcome(record: TestRecord, options: Options) -> Literal["passed", "failed", "skipped"]:
    """pytest's outcome of a test with this record."""
    if record.outcome == "error":
        return "failed"
    if record.findings:
        found = (catalogue()[finding.requirement] for finding in _counting(record, options))
        levels = {options.requirements.of(entry).level for entry in found}
        return "failed" if levels.intersection(counted(options.level)) else "skipped"
    return "passed" if record.outcome == "satisfied" else "skipped"


def _counting(record: TestRecord, options: Options) -> list[Finding]:
    return [each for each in record.findings if not options.deviates(each.requirement, record.adapter)]


def _agrees(result: Result, seen: BaseException | None, report: pytest.TestReport) -> bool:
    if result.record.broken_off or hasattr(report, "wasxfail") or seen is not result.raised:
        return False
    return report.outcome == ("passed" if seen is None else "failed")


def _add_properties(
    execution: TestExecution, record: TestRecord, report: pytest.TestReport, *, disputed: bool, options: Options
) -> None:
    status: str = record.outcome
    if record.findings and not _counting(record, options):
        status = "deviated"
    elif disputed and not record.findings:
        status = "not_assessed"
    level = options.requirements.of(execution.requirement).level
    properties = {"corpus_requirement": record.requirement, "corpus_level": level, STATUS: status}
    report.user_properties += [*properties.items(), (RECORD, record.dump())]
    if settle_s := execution.target.settle.seconds:
        report.user_properties.append((LATE, [execution.component, settle_s]))
    # JUnit takes the properties of a test from its teardown, and a test may have run before.
    own = execution.item.user_properties
    own[:] = [*(pair for pair in own if pair[0] not in properties), *properties.items()]


def letter(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """The category, letter and word of a test that neither passed nor failed; None for any other."""
    if report.when != "call":
        return None
    status = next((str(value) for name, value in report.user_properties if name == STATUS), None)
    if status is None or report.outcome != "skipped":
        return None
    return LETTERS[status if status in LETTERS else "not_assessed"]
