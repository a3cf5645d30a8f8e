"""The findings of a run with their evidence, in the process that concludes it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pytest_corpus.integration.declaring.properties import EVIDENCE
from pytest_corpus.verdict import evidence
from pytest_corpus.verdict.evidence import Evidence
from pytest_corpus.verdict.ledger import Finding, TestRecord


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding of one test, with its evidence if that arrived."""

    record: TestRecord
    finding: Finding
    evidence: Evidence | None
    node: str


class Findings:
    """The findings of the tests, in the order in which they ran; `nodes` are the ids of the finished tests."""

    def __init__(self) -> None:
        self.every: list[Seen] = []
        self.nodes: set[str] = set()
        self.evidence: list[Evidence] = []

    def take(self, record: TestRecord, report: pytest.TestReport) -> None:
        """Take the evidence that a report carries."""
        self.nodes.add(report.nodeid)
        found: tuple[Evidence, ...] = ()
        for name, text in report.user_properties:
            if name == EVIDENCE:
                try:
                    found = evidence.load(text)
                except ValueError:
                    continue
        behind = found if len(found) == len(record.findings) else (None,) * len(record.findings)
        self.evidence += found
        for finding, each in zip(record.findings, behind, strict=True):
            self.every.append(Seen(record, finding, each, report.nodeid))

    def of(self, adapter: str) -> Iterator[Seen]:
        """The findings of one adapter."""
        return (each for each in self.every if each.record.adapter == adapter)
