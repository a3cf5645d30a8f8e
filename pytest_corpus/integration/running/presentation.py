"""The outcome, message and letter of a conformance test in pytest's report, and the command that runs it again."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.properties import LATE, RECORD, STATUS, TRANSCRIPT, remove, values_of
from pytest_corpus.integration.options.checks import OF_BUNDLES
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.options.table import OPTIONS, setting
from pytest_corpus.integration.running.endings import TestResult
from pytest_corpus.integration.running.evidence import EvidenceCapture
from pytest_corpus.integration.running.execution import TestExecution
from pytest_corpus.reports.finding_text import describe_finding, one_line
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.dialects import DIALECTS
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict.finding import Finding, Level
from pytest_corpus.verdict.ledger import UNRELIABLE, Ledger, TestRecord
from pytest_corpus.verdict.verdict import counting_levels


@dataclass(frozen=True, slots=True)
class Crash:
    """The position and message of a failure, as pytest's short summary and JUnit files need them."""

    message: str
    path: str = ""
    lineno: int = 0


class FailureText:
    """The message of a failed test, with the interface of ``report.longrepr``."""

    def __init__(self, text: str, message: str) -> None:
        self.text = text
        self.reprcrash = Crash(message)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        """Write the message to the terminal."""
        writer.line(self.text)


def failure_message(findings: Sequence[Finding], level: Level) -> str:
    """Return the failure message of a test with these findings, with as much evidence as a level allows."""
    return "\n\n".join("\n".join(describe_finding(each.at_level(level))) for each in findings)


def summarize(findings: Sequence[Finding]) -> str:
    """Return the first finding of a test in one line, with the number of further findings."""
    more = len(findings) - 1
    return one_line(findings[0]) + (f" (and {more} more)" if more else "")


def builders_line(ledger: Ledger) -> str:
    """Return a line with the request builders that a client library has and lacks; empty for adapters."""
    found = [record for record in ledger.records.values() if record.requirement == "WIR-BUILD-1"]
    asked = {record.test for record in found}
    lacking = {record.test.partition("[")[2].rstrip("]") for record in found if record.outcome == "not_applicable"}
    if not asked or ledger.gaps:
        return ""
    said = f"{ledger.adapter}: {len(asked) - len(lacking)} of {len(asked)} request builders are offered"
    return f"{said}; not: {', '.join(sorted(lacking))}" if lacking else said


LETTERS: dict[str, tuple[str, str, Any]] = {
    "violated": ("SHOULD failed", "w", ("SHOULD", {"yellow": True})),
    "deviated": ("deviated", "d", ("DEVIATED", {"yellow": True})),
    "not_applicable": ("skipped", "-", ("NOT APPLICABLE", {"cyan": True})),
    "not_assessed": ("not assessed", "?", ("NOT ASSESSED", {"yellow": True})),
}
"""The category, letter and word in pytest's output, for each status besides passed and failed."""

KIT_FAULT = "This is a fault of pytest-corpus, not of the adapter. Please report it with the traceback above."


def write_into_report(
    execution: TestExecution,
    seen: BaseException | None,
    report: pytest.TestReport,
    options: Options,
    rerun: Callable[[pytest.Item, str], str],
) -> None:
    """Write the result of a test into pytest's report.

    If pytest's outcome contradicts the result, the report becomes failed or skipped, and the ledger notes it.

    Args:
        seen: the exception that pytest received from the call, or None.
        rerun: returns the command that runs a test for a requirement again.
    """
    result = execution.result or execution.record_not_run()
    record = result.record
    report.duration = max(report.duration, record.duration_s)  # a concurrent test took its time before its turn
    disputed = not _has_matching_outcome(result, seen, report)
    if record.findings and record.outcome != "error":
        record = replace(record, findings=_add_evidence(execution, result, report, options, rerun))
    _add_properties(execution, record, report, disputed=disputed, options=options)
    recorder = execution.adapter.settings.recorder
    if recorder is not None and result.recorded is not None:
        lines = recorder.encode_test(result.recorded, record.adapter, _ending_members(result))
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
    outcome = pytest_outcome(record, options)
    report.outcome = "skipped" if disputed and outcome == "passed" else outcome
    if record.findings:
        said = failure_message(record.findings, options.in_files)
        report.longrepr = said if outcome == "failed" else (*where, summarize(record.findings))
    elif report.outcome == "skipped":
        report.longrepr = (*where, f"{record.requirement}: {record.reason or UNRELIABLE}")


def _ending_members(result: TestResult) -> dict[str, Any]:
    """Return the members of the last line of a test in the transcript."""
    record = result.record
    findings = [{**finding.fact, **place} for finding, place in zip(record.findings, result.positions, strict=True)]
    members = ("component", "requirement", "outcome", "reason", "calls", "duration_s")
    return {**{name: getattr(record, name) for name in members}, "findings": findings}


def _add_evidence(
    execution: TestExecution,
    result: TestResult,
    report: pytest.TestReport,
    options: Options,
    rerun: Callable[[pytest.Item, str], str],
) -> tuple[Finding, ...]:
    shown = getattr(execution.item.config.option, "showcapture", "all")
    capture = EvidenceCapture(
        result.notes,
        full="full" in (options.on_terminal, options.in_files),
        made_up=not (execution.component in WIRE or options.dialects is not DIALECTS),
        printed=[pair for pair in report.sections if shown == "all" or shown in pair[0]],
        logs=shown in ("all", "log"),
        hears_logs=execution.adapter.client is not None and execution.adapter.client.hears_logs,
        target=execution.adapter.shell_target(execution.component),
        trace=report.longreprtext if options.traceback and report.longrepr is not None else "",
    )
    pairs = zip(result.record.findings, result.notes.violations, strict=True)
    made_by = ((*pair, (pair[1].exchange and pair[1].exchange.origin) or execution.item) for pair in pairs)
    return tuple(capture.complete(*each, rerun(each[2], each[0].requirement)) for each in made_by)


def pytest_outcome(record: TestRecord, options: Options) -> Literal["passed", "failed", "skipped"]:
    """Return the outcome that pytest shows for a test with this record."""
    if record.outcome == "error":
        return "failed"
    if record.findings:
        found = (catalogue()[finding.requirement] for finding in _findings_without_deviation(record, options))
        levels = {options.requirements.with_level(entry).level for entry in found}
        return "failed" if levels.intersection(counting_levels(options.level)) else "skipped"
    return "passed" if record.outcome == "satisfied" else "skipped"


def _findings_without_deviation(record: TestRecord, options: Options) -> list[Finding]:
    return [each for each in record.findings if not options.deviates(each.requirement, record.adapter)]


def _has_matching_outcome(result: TestResult, seen: BaseException | None, report: pytest.TestReport) -> bool:
    if result.record.broken_off or hasattr(report, "wasxfail") or seen is not result.raised:
        return False
    return report.outcome == ("passed" if seen is None else "failed")


def _add_properties(
    execution: TestExecution, record: TestRecord, report: pytest.TestReport, *, disputed: bool, options: Options
) -> None:
    status: str = record.outcome
    if record.findings and not _findings_without_deviation(record, options):
        status = "deviated"
    elif disputed and not record.findings:
        status = "not_assessed"
    level = options.requirements.with_level(execution.requirement).level
    properties = {"corpus_requirement": record.requirement, "corpus_level": level, STATUS: status}
    report.user_properties += [*properties.items(), (RECORD, record.dump())]
    if settle_s := execution.target.settle_time.seconds:
        report.user_properties.append((LATE, [execution.component, settle_s]))
    # JUnit files get their properties from the teardown report; a rerun test already has properties.
    remove(execution.item, *properties)
    execution.item.user_properties += properties.items()


def status_letter(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """Return the category, letter and word of a test whose status is neither passed nor failed; otherwise None."""
    if report.when != "call":
        return None
    status = next(map(str, values_of(report, STATUS)), None)
    if status is None or report.outcome != "skipped":
        return None
    return LETTERS[status if status in LETTERS else "not_assessed"]


NOT_REPEATED = frozenset(
    ("adapter", "client", "requirement", "report", "transcript", "seed", "shard", "update-deviations", *OF_BUNDLES)
)
"""Options that the rerun command leaves out or sets itself."""


def rerun_command(config: pytest.Config, adapter: Adapter, *, by_option: bool, tests: str = "") -> str:
    """Return the command that runs a suite again, limited to `tests` if given. Requirements are not selected."""
    if by_option:
        spec = adapter.declaration.declared
        named = f"{adapter.label}={spec}" if adapter.label != spec else spec
        where = f"{adapter.option}={named}"
    else:
        where = tests or _declaration_argument(adapter)
    return " ".join(
        ["pytest", *(map(shlex.quote, [*_settings(config), *([where] if where else []), *_given_options(config)]))]
    )


def selection_arguments(requirements: Iterable[str], seed: int) -> str:
    """Return the arguments that limit a run to these requirements and set its seed."""
    ids = ",".join(dict.fromkeys(requirements))
    chosen = f" --corpus-requirement={ids}" if ids else ""
    return f"{chosen} --corpus-seed={seed}" if seed else chosen


def _declaration_argument(adapter: Adapter) -> str:
    """Return pytest's argument for an adapter's declaration: a file or a name in a file; empty for an option."""
    declared = re.match(r"(?P<conftest>.*conftest\.py): |(?P<suite>.*\.py::.*)", adapter.declaration.declared)
    return (declared["conftest"] or declared["suite"]) if declared else ""


def _settings(config: pytest.Config) -> Iterator[str]:
    """Yield the options that select pytest's settings file and override its settings."""
    if file := config.option.inifilename:
        yield from ("-c", str(file))
    if root := config.option.rootdir:
        yield f"--rootdir={root}"
    for override in config.option.override_ini or ():
        if override.startswith("corpus_") and not override.startswith(setting("header")):
            yield from ("-o", override)


def _given_options(config: pytest.Config) -> Iterator[str]:
    for option in OPTIONS:
        value = config.getoption(setting(option.name))
        if option.name in NOT_REPEATED or value in (None, False):
            continue
        for each in value if isinstance(value, list) else [value]:
            shown = f"{each.partition(':')[0].strip()}:..." if option.name == "header" else each
            yield f"--corpus-{option.name}" if each is True else f"--corpus-{option.name}={shown}"
