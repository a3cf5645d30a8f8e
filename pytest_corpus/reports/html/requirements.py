"""The requirements of a report in its HTML page: findings, open requirements, all requirements, their sources."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.difference import EarlierReport
from pytest_corpus.reports.finding_text import evidence_lines
from pytest_corpus.spec.components import TITLES
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.obstacles import with_remedy
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.verdict import counting_levels

MOST_BLOCKING = 8  # the most violations in the list of what to fix first

Entry = dict[str, Any]


@dataclass(frozen=True)
class PageContent:
    """A report as the page shows it, with an earlier report to compare with and the evidence of its findings."""

    document: view.Document
    earlier: EarlierReport | None = None
    evidence: tuple[Finding, ...] = ()

    def change_of(self, entry: Entry) -> str:
        """Return the change of a requirement since the earlier run; empty if there is none."""
        return self.earlier.change_of(entry) if self.earlier else ""

    def is_binding(self, level: str) -> bool:
        """True if violations of a level influence the verdict."""
        return level in counting_levels(self.document["level"])

    @cached_property
    def most_blocking(self) -> list[tuple[Entry, int]]:
        """The violated requirements that block the most others, each with the number of requirements that it blocks."""
        blocks = view.blocked_counts(self.document)
        found = [(entry, blocks[entry["component"], entry["id"]]) for entry in view.order_violations(self.document)]
        return [(entry, number) for entry, number in found if number][:MOST_BLOCKING]

    @cached_property
    def violated_groups(self) -> dict[tuple[str, str], list[Entry]]:
        """The violated requirements by level and component, in the order in which to repair them."""
        groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in view.order_violations(self.document):
            groups[entry["level"], entry["component"]].append(entry)
        return groups

    @property
    def violations_by_level(self) -> str:
        """The number of violated requirements of each level, as text."""
        return view.count_by_level(view.order_violations(self.document))

    @cached_property
    def chapters(self) -> dict[tuple[str, str], list[Entry]]:
        """All requirements by component and chapter."""
        groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in sorted(self.document["requirements"], key=lambda entry: list(TITLES).index(entry["component"])):
            groups[entry["component"], view.chapter_title(entry["id"])].append(entry)
        return groups

    @cached_property
    def causes(self) -> list[tuple[tuple[str, str, str], int]]:
        """The reasons why requirements are not assessed, each with the number of requirements, most frequent first.

        Each entry has a kind ("blocked", "keyword" or "reason"), a component and a text.
        """
        entries = view.requirements_of_status(self.document, "not_assessed")
        return Counter(cause for entry in entries for cause in _causes(entry)).most_common()

    @cached_property
    def passages(self) -> dict[str, list[tuple[str, list[Entry]]]]:
        """For each document, the cited sections with the requirements that cite them."""
        resting: dict[str, dict[str, Entry]] = defaultdict(dict)
        for entry in self.document["requirements"]:
            for source in entry["source"]:
                resting[source][entry["id"]] = entry
        found: dict[str, list[str]] = {name: [] for name in SECTIONS}
        for source in resting:
            document, section, _ = (*source.split(" ", 1), "", "")[:3]
            found.setdefault(document if section else "Rulings", []).append(source)
        return {
            name: [(source, [*resting[source].values()]) for source in sorted(sources, key=_section_key)]
            for name, sources in found.items()
            if sources
        }

    def reason(self, entry: Entry) -> str:
        """Return the reason for a requirement's status; if the requirement is not assessed, also what would help."""
        return with_remedy(entry["reason"]) if entry["status"] == "not_assessed" else str(entry["reason"])

    def evidence_lines(self, entry: Entry, finding: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
        """Yield the evidence of a finding: a label and its lines."""
        if seen := view.evidence_of(self.evidence, entry, finding):
            for label, rows in groupby(evidence_lines(seen), key=itemgetter(0)):
                yield label, [line for _, said in rows for line in _split_evidence(said)]

    def script(self, entry: Entry, finding: dict[str, str]) -> tuple[str, ...]:
        """Return commands that send the request of a finding again; empty unless the evidence is complete."""
        seen = view.evidence_of(self.evidence, entry, finding)
        return seen.script if seen else ()


def _section_key(source: str) -> list[tuple[int, str]]:
    section = source.rpartition(" ")[2].lstrip("R")
    return [(int(part) if part.isdigit() else 0, part) for part in section.split(".")]


def _causes(entry: Entry) -> list[tuple[str, str, str]]:
    if entry.get("blocked_by"):
        return [("blocked", entry["component"], name) for name in entry["blocked_by"]]
    if keyword := entry.get("keyword"):
        return [("keyword", "", keyword)]
    return [("reason", "", with_remedy(entry.get("reason") or "no reason was noted"))]


def _split_evidence(said: str) -> list[str]:
    """Return the lines of a text of evidence; a stream has one line for each frame."""
    try:
        frames = json.loads(said) if said.startswith("[") else None
    except (ValueError, RecursionError):
        frames = None
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in frames or [said]]
