"""The message of a failing test, in the form in which pytest keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reports.finding_text import block, one_line
from pytest_corpus.verdict.evidence import Evidence
from pytest_corpus.verdict.ledger import Finding, Ledger


@dataclass(frozen=True, slots=True)
class Crash:
    """The line of a failure in pytest's short summary and in JUnit files."""

    message: str
    path: str = ""
    lineno: int = 0


class Shown:
    """The message of a failed test, in the form in which pytest keeps a failure (``report.longrepr``)."""

    def __init__(self, text: str, message: str) -> None:
        self.text = text
        self.reprcrash = Crash(message)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        """Write the whole message."""
        writer.line(self.text)


def failure(findings: Sequence[Finding], evidence: Sequence[Evidence]) -> str:
    """The message of a test with these findings."""
    return "\n\n".join("\n".join(block(*pair)) for pair in zip(findings, evidence, strict=True))


def in_one_line(findings: Sequence[Finding]) -> str:
    """The first of a test's findings, and how many more there are."""
    more = len(findings) - 1
    return one_line(findings[0]) + (f" (and {more} more)" if more else "")


def offered(ledger: Ledger) -> str:
    """The request builders that a client library offers and lacks; empty for adapters and partial runs."""
    found = [record for record in ledger.records.values() if record.requirement == "WIR-BUILD-1"]
    asked = {record.test for record in found}
    lacking = {record.test.partition("[")[2].rstrip("]") for record in found if record.outcome == "not_applicable"}
    if not asked or ledger.gaps:
        return ""
    said = f"{ledger.adapter}: {len(asked) - len(lacking)} of {len(asked)} request builders are offered"
    return f"{said}; not: {', '.join(sorted(lacking))}" if lacking else said
