"""The result of a finished run: verdicts, reports and exit code. Before the end, report files contain placeholders."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from pytest_corpus.adapter.hooks.vendors.recording import notes_on_old_recordings
from pytest_corpus.integration.concluding.record_hooks import Findings
from pytest_corpus.integration.options.files import report_paths
from pytest_corpus.integration.options.run_options import Options, is_on_github
from pytest_corpus.reports import formats, json_report
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict import deviations
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import Verdict, counting_levels, decide


class BundleSections(Protocol):
    """The part of the bundle plugin that reports need."""

    @property
    def has_run(self) -> bool:
        """True if a case of a bundle ended."""

    def sections(self, adapter: str | None = None) -> list[dict[str, Any]]:
        """Return the sections for an adapter's report."""

    def contents(self) -> list[dict[str, Any]]:
        """Return the prompts and answers; empty if files must not contain them."""


class RunResult:
    """The verdicts and reports of a finished run, for each adapter."""

    def __init__(
        self,
        ledgers: Sequence[Ledger],
        options: Options,
        started_at: str,
        duration_s: float,
        *,
        interrupted: bool,
        findings: Findings,
        commands: Mapping[str, str],
        bundles: BundleSections | None = None,
        transcript: str = "",
    ) -> None:
        self.options, self.ledgers, self.findings, self.commands = options, ledgers, findings, commands
        self.bundles = bundles
        self.run = json_report.RunFacts(
            started_at, duration_s, options.seed, options.level, options.edition,
            profile=options.profile.name, budget=options.budget, shard=options.shard, transcript=transcript,
        )  # fmt: skip
        if options.reports or is_on_github(os.environ):
            commit = json_report.find_commit(os.environ, options.folder)
            self.run = replace(self.run, commit=commit, ci=json_report.describe_ci_run(os.environ), notes=options.notes)
        if interrupted:
            for ledger in ledgers:
                ledger.mark_partial("the run was interrupted")
        self.verdicts: list[Verdict] = [
            decide(ledger, options.level, options.deviations, edition=options.requirements) for ledger in ledgers
        ]
        self._counted = counting_levels(options.level)
        self.written: list[str] = []
        self.paths: set[Path] = set()

    def write(self) -> None:
        """Write every report; the summary names those that could not be written."""
        for number, (ledger, verdict) in enumerate(zip(self.ledgers, self.verdicts, strict=True)):
            document = self.document(ledger, verdict) if self.options.reports else {}
            contents = self.bundles.contents() if self.bundles else ()
            labels = [each.adapter for each in self.ledgers]
            for asked in self.options.reports:
                path = report_paths(asked, labels)[number]
                said = write_report(document, path, evidence=self.evidence(ledger), contents=contents)
                if said == f"report: {path}":
                    self.paths.add(path)
                    if str(path.parent) == os.environ.get(json_report.INTERNAL_REPORT_DIR):
                        continue
                self.written.append(said)

    def document(self, ledger: Ledger, verdict: Verdict) -> dict[str, object]:
        """Return the report of an adapter."""
        sections = tuple(self.bundles.sections(ledger.adapter)) if self.bundles else ()
        run = replace(self.run, command=self.commands.get(ledger.adapter, ""), bundles=sections)
        return json_report.build_report(ledger, verdict, run)

    def evidence(self, ledger: Ledger) -> list[Finding]:
        """Return an adapter's findings, with as much evidence as files may contain."""
        return [each.at_level(self.options.in_files) for each in self.findings.of_adapter(ledger.adapter)]

    def draft(self) -> None:
        """Write a draft deviation for each violated requirement, if --corpus-update-deviations is given."""
        if not self.options.update_deviations:
            return
        path = self.options.deviations_path
        violated = {
            (status.requirement.id, ledger.adapter)
            for ledger, verdict in zip(self.ledgers, self.verdicts, strict=True)
            for status in verdict.of_status("violated", self._counted)
        }
        try:
            count = deviations.append(path, violated, deviations.today())
        except OSError as error:
            self.written.append(f"deviations: {path} could not be written: {error.strerror}")
            return
        said = f"{count} drafted in {path}; write their reasons and plans" if count else "nothing new to draft"
        self.written.append(f"deviations: {said}")

    @property
    def has_run(self) -> bool:
        """True if a conformance test ran for every adapter."""
        return bool(self.ledgers) and all(ledger.executed_tests for ledger in self.ledgers)

    def exit_code(self, given: int | pytest.ExitCode) -> int | pytest.ExitCode:
        """Return pytest's exit code, but never 0 if nothing ran, tests are missing, or a violation fails the run."""
        if given not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return given
        if not self.has_run and not (self.bundles and self.bundles.has_run):
            return pytest.ExitCode.NO_TESTS_COLLECTED
        failed = (
            *(verdict.of_status("violated", self._counted) or verdict.faults for verdict in self.verdicts),
            *(self.options.strict and verdict.of_status("not_assessed", ("MUST",)) for verdict in self.verdicts),
            *(ledger.unrequested_gaps for ledger in self.ledgers),
            *("could not be written" in line for line in self.written),
        )
        return pytest.ExitCode.TESTS_FAILED if any(failed) else pytest.ExitCode.OK

    def _strict_option_lines(self) -> list[str]:
        """Return a line about `--corpus-strict` if it is the only reason why the run fails; otherwise an empty list."""
        left = sum(len(verdict.of_status("not_assessed", ("MUST",))) for verdict in self.verdicts)
        if (
            not self.options.strict
            or not left
            or any(verdict.of_status("violated", self._counted) for verdict in self.verdicts)
        ):
            return []
        return [f"failed by --corpus-strict: {left} MUST not assessed"]

    def lines(self) -> list[str]:
        """Return the lines about written files, old recordings, the seed, the profile and the edition."""
        how = f"seed {self.options.seed}, profile {self.options.profile.name}, edition {self.options.requirements.name}"
        old = notes_on_old_recordings(set().union(*(ledger.recorded for ledger in self.ledgers)), self.run.started_at)
        return [*self._strict_option_lines(), *self.written, *old, how]


def write_report(document: Mapping[str, Any], path: Path, **more: Any) -> str:
    """Write a report in the format of its suffix, with the arguments of `formats.render`; return a line about it."""
    try:
        write_atomically(formats.render(document, formats.suffix_of(path.name) or ".json", **more), path)
    except OSError as error:
        return f"report: {path} could not be written: {error.strerror}"
    return f"report: {path}"


UNENDED = "the run did not finish"


class Placeholders:
    """Placeholders in the files of reports, which only state that the run has not finished."""

    def __init__(self, reports: Sequence[Path]) -> None:
        self._reports = reports
        self._put: dict[Path, str] = {}

    def put(self, labels: Sequence[str]) -> None:
        """Write a placeholder to the path of each report.

        Paths that cannot be written are reported at the end of the run.
        """
        for number, label in enumerate(labels or [""]):
            for asked in self._reports:
                path = report_paths(asked, labels)[number]
                if path in self._put:
                    continue
                text = formats.render(_placeholder_document(label), formats.suffix_of(asked.name) or ".json")
                try:
                    write_atomically(text, path)
                    self._put[path] = text
                except OSError:
                    continue

    def remove(self, written: Collection[Path] = ()) -> None:
        """Remove the placeholders that were not replaced by a report."""
        for path, text in self._put.items():
            if path in written:
                continue
            try:
                if path.read_text(encoding="utf-8") == text:
                    path.unlink()
            except (OSError, ValueError):
                continue


def _placeholder_document(label: str) -> dict[str, object]:
    ledger = Ledger(label)
    ledger.mark_unreliable(UNENDED)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    run = json_report.RunFacts(started, 0.0, 0, "must", None)
    return json_report.build_report(ledger, decide(ledger), run)
