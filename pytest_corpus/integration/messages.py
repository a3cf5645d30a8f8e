"""What a failing test says: the sentence, what was sent, expected and got, a hint, the way to rerun it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.text.redaction import printable, sample
from pytest_corpus.verdict.ledger import Finding, Ledger


@dataclass(frozen=True, slots=True)
class Crash:
    """What pytest shows of a failure in its short summary, and as the message of a JUnit failure."""

    message: str
    path: str = ""
    lineno: int = 0


class Shown:
    """The message of a failed test, in the form in which pytest keeps a failure (``report.longrepr``)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.reprcrash = Crash(text.partition("\n")[0])

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        """Write the whole message."""
        writer.line(self.text)


def failure(
    findings: Iterable[Finding],
    evidence: Iterable[Exchange | str | None],
    rerun: Callable[[str], str],
    sent_length: int,
) -> str:
    """The message of a test with these findings.

    Args:
        rerun: gives the command that shows a finding of a requirement again.
        sent_length: how many characters of a request are shown.
    """
    both = zip(findings, evidence, strict=True)
    return "\n\n".join(_one(finding, seen, rerun, sent_length) for finding, seen in both)


def _one(finding: Finding, seen: Exchange | str | None, rerun: Callable[[str], str], sent_length: int) -> str:
    entry = catalogue()[finding.requirement]
    rows = [
        ("source", ", ".join(entry.source)),
        ("sent", sent(seen, sent_length) if isinstance(seen, Exchange) else ""),
        ("expected", finding.expected),
        ("got", finding.got + (f"  (at {finding.path})" if finding.path else "")),
        ("hint", entry.hint),
        ("rerun", rerun(entry.id)),
    ]
    lines = [f"  {name + ':':<10}{printable(text)}" for name, text in rows if text]
    if isinstance(seen, str):
        lines += ["  replay:", *(f"    {printable(line)}" for line in seen.splitlines())]
    return "\n".join([f"{entry.id} ({entry.level}): {entry.text}", *lines])


def sent(exchange: Exchange, length: int) -> str:
    """The entry point and the first `length` characters of a request, in one line."""
    entry_point = "handle_stream" if exchange.streaming else "handle"
    return f"{entry_point} {sample(exchange.request, exchange.secrets.values(), length)}"


def offered(ledger: Ledger) -> str:
    """How many of the request builders a client library offers, and which not; empty for adapters and partial runs."""
    found = [record for record in ledger.records.values() if record.requirement == "WIR-BUILD-1"]
    asked = {record.test for record in found}
    lacking = {record.test.partition("[")[2].rstrip("]") for record in found if record.outcome == "not_applicable"}
    if not asked or ledger.gaps:
        return ""
    said = f"{ledger.adapter}: {len(asked) - len(lacking)} of {len(asked)} request builders are offered"
    return f"{said}; not: {', '.join(sorted(lacking))}" if lacking else said
