"""The end of a run in the terminal and on GitHub: findings, what to fix first, changes since the last run, verdicts."""

from __future__ import annotations  # pytest 8.2 has no pytest.TerminalReporter

import hashlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_corpus.integration.concluding.record_hooks import Findings
from pytest_corpus.integration.concluding.result import RunResult
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.running.presentation import FailureText
from pytest_corpus.reports import terminal
from pytest_corpus.reports.finding_text import describe_finding, one_line, received_text
from pytest_corpus.reports.terminal import Detail, TerminalLine
from pytest_corpus.reports.text import count_in_words, printable
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import Status, Verdict, counting_levels

HIDDEN = "corpus"
"""A category of reports that pytest does not list; `--durations` reads every category."""

COLOURS = {"plain": {}, "good": {"green": True}, "caution": {"yellow": True}, "bad": {"red": True}}


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """All findings of one requirement in one component.

    `status` is the status of the requirement, `seen` the findings.
    """

    status: Status
    seen: Sequence[Finding]

    @property
    def test_counts(self) -> str:
        """The numbers of tests that found the violation, as text: tests of the requirement, and other tests."""
        failed, every = terminal.failure_counts(self.status)
        others = len({each.found_by for each in self.seen if each.tested != self.status.requirement.id})
        if not failed:
            return f"seen in {count_in_words(others, 'test')} of other requirements"
        more = f", and {count_in_words(others, 'test')} of others" if others else ""
        return f"{failed} of {count_in_words(every, 'test')}{more}"


class Screen:
    """Writes the end of a run to the terminal. pytest shows tests outside of the suite as usual."""

    def __init__(self, reporter: pytest.TerminalReporter, options: Options, findings: Findings) -> None:
        self.reporter, self.options, self.findings = reporter, options, findings
        self.verbosity = reporter.verbosity
        self._style = reporter.config.option.tbstyle

    def write(self, lines: Iterable[TerminalLine]) -> None:
        """Write lines in their colours."""
        for line in lines:
            self.reporter.write_line(line.text, **COLOURS[line.tone])

    @contextmanager
    def hide_own_tests(self) -> Iterator[None]:
        """Prevent pytest from listing the suite's tests within the context; they are still counted and timed."""
        stats = self.reporter.stats
        whole: dict[str, list[Any]] = {
            name: list(stats[name]) for name in ("failed", "passed", "skipped") if name in stats
        }
        for name, reports in whole.items():
            stats[name][:] = [each for each in reports if not self._is_shown_here(each)]
            if not stats[name]:
                del stats[name]
        stats[HIDDEN] = [each for reports in whole.values() for each in reports if self._is_shown_here(each)]
        try:
            yield
        finally:
            del stats[HIDDEN]
            stats.update(whole)

    def _is_shown_here(self, report: Any) -> bool:
        own = getattr(report, "nodeid", None) in self.findings.nodes
        return own and (report.outcome != "failed" or isinstance(getattr(report, "longrepr", None), FailureText))

    def show_findings(self, result: RunResult) -> None:
        """Show the findings of each adapter by requirement, in the order of repair."""
        if self._style == "no":
            return
        several = len(result.ledgers) > 1
        for ledger, verdict in zip(result.ledgers, result.verdicts, strict=True):
            ran, _ = terminal.limit_to_run_part(verdict)
            shown = ran if self.groups(ledger, ran) else verdict
            groups = self.groups(ledger, shown)
            if not groups:
                continue
            self.reporter.write_sep("=", f"corpus findings: {ledger.adapter}" if several else "corpus findings")
            self.write(terminal.list_first_repairs(shown))
            for group in groups:
                self._show_group(group, several=len(verdict.components) > 1)
            if left := len(self.groups(ledger, shown, every=True)) - len(groups):
                self.reporter.write_line(f"{left} more, of SHOULDs or deviations: -v shows them")

    def groups(self, ledger: Ledger, verdict: Verdict, *, every: bool = False) -> list[FindingGroup]:
        """Return the findings to show, grouped by requirement, in the order of repair. With `every`, return all."""
        found: dict[tuple[str, str], list[Finding]] = {}
        for each in self.findings.of_adapter(ledger.adapter):
            found.setdefault((each.component, each.requirement), []).append(each)
        groups = []
        red = bool(verdict.of_status("violated", counting_levels(self.options.level)))
        for status in (*terminal.order_violations(verdict), *verdict.of_status("deviated")):
            seen = found.get((status.component, status.requirement.id), [])
            seen = sorted(seen, key=lambda each: each.tested != status.requirement.id)
            direct = [each for each in seen if not each.indirect] or seen[:1]
            if direct and (every or self._must_show(status, red=red)):
                groups.append(FindingGroup(status, direct))
        return groups

    def _must_show(self, status: Status, *, red: bool) -> bool:
        counts = not red or status.requirement.level in counting_levels(self.options.level)
        return (status.status == "violated" and counts) or self.verbosity > 0 or bool(self.options.globs)

    def _show_group(self, group: FindingGroup, *, several: bool) -> None:
        name = group.status.requirement.id
        if self._style == "line" or self.verbosity < -1:
            self.reporter.write_line(f"{group.test_counts}: {one_line(group.seen[0])}")
            return
        where = f" ({group.status.component})" if several else ""
        tone = "red" if group.status.requirement.level == "MUST" else "yellow"
        self.reporter.write_sep("_", f"{name}{where}: {group.test_counts}", **{tone: True, "bold": True})
        first, *others = group.seen
        self._write_finding(first)
        if self.verbosity > 0:
            for each in others:
                self.reporter.write_line("")
                self._write_finding(each)
        elif others and self.verbosity < 0:
            self.reporter.write_line(f"  also in:  {count_in_words(len(others), 'other test')}, which -v shows")
        elif others:
            self.reporter.write_line("  also in:")
            for each in others:
                self.reporter.write_line(printable(f"    {_further_finding(each, first)}"))

    def _write_finding(self, each: Finding) -> None:
        for line in describe_finding(each.at_level(self.options.on_terminal), test=True, script=self.verbosity > 0):
            self.reporter.write_line(line)

    @property
    def detail(self) -> Detail:
        """The parts of the summary, as `-v` and `-r` demand."""
        letters = self.reporter.reportchars
        return Detail(violations="f" in letters, reasons=self.verbosity > 0 or "s" in letters, satisfied="p" in letters)

    def show_summary(self, result: RunResult, notes: Sequence[TerminalLine]) -> None:
        """Show numbers and verdict of each adapter, and all verdicts in one line if there are several."""
        self.reporter.section("corpus conformance")
        pairs = list(zip(result.ledgers, result.verdicts, strict=True))
        for ledger, verdict in pairs:
            self.write(terminal.build_summary(ledger, verdict, self.detail, notes if len(pairs) == 1 else ()))
        if len(pairs) > 1:
            self.write(notes)
            said = "; ".join(f"{ledger.adapter}: {verdict.verdict}" for ledger, verdict in pairs)
            self.write([TerminalLine(printable(f"verdicts: {said}"))])
        if not pairs:
            self.write(notes)


def _further_finding(each: Finding, first: Finding) -> str:
    """Return a further finding of a requirement as text, without the parts that equal the first finding."""
    if each == first:
        return each.found_by
    expected = f"expected {each.expected}; " if each.expected != first.expected else ""
    return f"{each.found_by}  {expected}got {received_text(each)}"


KEY = "corpus/tests/{}"  # the key in the cache of the violated requirements of each test in its last run
MOST_NAMED = 5
RAN = ("satisfied", "violated", "not_applicable")  # the outcomes of tests that were judged


def changes_since_last_run(config: pytest.Config, ledger: Ledger, verdict: Verdict) -> str:
    """Return the requirements that were fixed or newly violated since the last run, and store the results of this run.

    A requirement is fixed if all tests that found it violated ran again, and no test finds it violated now. It is newly
    violated if no test found it violated before, and a test that also ran before finds it violated now. The result is
    empty if nothing changed, or if pytest's cache contains no last run.
    """
    cache = getattr(config, "cache", None)
    if cache is None:
        return ""
    key = KEY.format("".join(char if char.isalnum() or char in "._-" else "_" for char in ledger.adapter))
    kept, now = _validate_cached(cache.get(key, {})), _violated_by_test(ledger)
    cache.set(key, {**kept, **now})
    satisfied = {f"{status.component} {status.requirement.id}" for status in verdict.of_status("satisfied")}
    both = kept.keys() & now.keys()
    fixed = _requirements_found_by(kept, both) & satisfied - _requirements_found_by(kept, kept.keys() - both)
    new = _requirements_found_by(now, both) - _requirements_found_by(kept, kept)
    if not fixed and not new:
        return ""
    return f"since the last run: {_list_requirements(fixed)} fixed, {_list_requirements(new)} new"


def _violated_by_test(ledger: Ledger) -> dict[str, list[str]]:
    """Return the violations that each test found, as texts of component and id. The keys are hashes of test names."""
    found: dict[str, set[str]] = {}
    for record in ledger.records.values():
        names = {f"{record.component} {finding.requirement}" for finding in record.findings}
        if names or record.outcome in RAN:
            test = hashlib.sha256(f"{record.component}/{record.test}".encode()).hexdigest()[:12]
            found.setdefault(test, set()).update(names)
    return {test: sorted(names) for test, names in found.items()}


def _requirements_found_by(found: Mapping[str, list[str]], tests: Iterable[str]) -> set[str]:
    return {name for test in tests for name in found[test]}


def _list_requirements(names: set[str]) -> str:
    if not names:
        return "0"
    ids = sorted({name.partition(" ")[2] for name in names})
    more = f", and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{len(names)} ({', '.join(ids[:MOST_NAMED])}{more})"


def _validate_cached(found: Any) -> dict[str, list[str]]:
    if not isinstance(found, dict):
        return {}
    return {
        test: names
        for test, names in found.items()
        if isinstance(names, list) and all(isinstance(name, str) for name in names)
    }


# A position in a file below the current folder.
RAISED = re.compile(r"at ((?!/|\.\./)[^:]+\.py):(\d+)(?:  \(logged\))?$")
MOST = 10  # the most annotations of a run; GitHub shows no more of one kind for a step
LONGEST_SUMMARY = 1_000_000  # the most bytes written to the summary of a step, slightly below GitHub's limit
TRUNCATED = "\n\nThe rest is left out: GitHub takes no more.\n"


def annotation_commands(
    groups: Sequence[FindingGroup], level: str, factory: Callable[..., Any] | None
) -> Iterator[str]:
    """Yield the commands that annotate a run on GitHub: errors for violations that fail the run, warnings for others.

    A command names a line in the current folder: the line of the adapter that raised, or else the line of its factory.
    """
    binding = counting_levels(level)
    kinds = ["warning", "error"]
    ranked = sorted(((group.status.status == "violated" and group.status.requirement.level in binding, group)
                     for group in groups), key=lambda each: not each[0])  # fmt: skip
    for counts, group in ranked[:MOST]:
        entry = group.status.requirement
        title = _escape(f"{entry.id} ({entry.level}), {group.status.component}", ":,")
        text = f"{group.test_counts}: {one_line(group.seen[0])}"
        place = RAISED.search(group.seen[0].raised_at) or RAISED.search(_factory_position(factory))
        at = f"file={_escape(place[1], ':,')},line={place[2]}," if place else ""
        yield f"::{kinds[counts]} {at}title={title}::{_escape(printable(text))}"


def _factory_position(factory: Callable[..., Any] | None) -> str:
    """Return the file and the line of a factory as text; empty if they are unknown."""
    if factory is None:
        return ""
    try:
        return f"at {os.path.relpath(inspect.getsourcefile(factory) or '')}:{inspect.getsourcelines(factory)[1]}"
    except (TypeError, ValueError, OSError):
        return ""


def _escape(text: str, more: str = "") -> str:
    for char in ("%", "\r", "\n", *more):
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def add_summary(environment: Mapping[str, str], text: str) -> str:
    """Append a text to the summary of a GitHub step; return a sentence if that fails, otherwise an empty text."""
    path = environment.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return ""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > LONGEST_SUMMARY:
        data = data[:LONGEST_SUMMARY].rpartition(b"\n")[0] + TRUNCATED.encode()
    try:
        with open(path, "ab") as file:
            file.write(data + b"\n")
    except OSError as error:
        return f"step summary: {printable(path)} could not be written: {os.strerror(error.errno or 0)}"
    return ""
