"""The sections of the documents, and every normative sentence in them, with the requirements that test it.

The files in docs/coverage/ have a row for each sentence: `SECTION LEVEL: sentence | ID ID-2,4:6 tool | what is not
tested`, without the last part if all of it is tested, or `SECTION LEVEL: sentence | not: reason`. `ID/Mutant` is a
mutant that breaks just this sentence. The other sources of a requirement are not repeated there.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.requirements.model import Level, match_line, unwrap_lines
from site_pages import fill

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "coverage"

FILES = {
    "BEHAVIORAL_CONFORMANCE": ("behavioral_conformance",),
    "SCHEMA": ("schema",),
    "ERRORS": ("errors",),
    "SPECIFICATION": ("specification_wire", "specification_components", "specification_patterns"),
}
"""The files that hold the sentences of a document, in the order of its sections."""

REASONS = {
    "unseen": "cannot be seen from outside an adapter",
    "process": "is a matter of how the author works",
    "clients": "asks clients, not adapters",
    "gateways": "asks gateways and routers, not adapters",
    "documents": "speaks of the documents themselves",
    "operator": "asks the operator of the adapter",
    "free": "allows something; what it allows is accepted",
    "too long": "would take longer than a test run",
    "yet": "could be tested, and is not yet",
}
"""The words of a row for why nothing tests its sentence; the full reason follows the word "it"."""

TOOLS = {
    "schemas": "the shipped schemas, which every answer and golden file must meet",
    "lint": "`pytest-corpus schema lint`, and the schema suite",
    "goldens": "`pytest-corpus golden check`, and the schema suite",
    "streams": "the stream validator",
    "registry": "the schema registry, tested by the project's own tests",
    "tools": "another tool of this package, tested by the project's own tests",
    "run": "the run, its verdict and its reports, tested by the project's own tests",
}
"""The names in rows that are not requirements."""

FORM = "SECTION LEVEL: sentence | ID ID-2,4:6 tool | what is not tested"
ROW = re.compile(rf"(\S+) (MUST|SHOULD|MAY): ([^|]+) \| (?:not: ({'|'.join(REASONS)})|((?!not:)[^|]+)(?: \| ([^|]+))?)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One normative sentence, or a row of a normative table or list.

    Attributes:
        section: the number of the section, as in `spec/documents.py`.
        level: MUST if the document demands it in any words, SHOULD, or MAY.
        text: the sentence in short words of our own.
        asked_by: ids of requirements, and names in `TOOLS`.
        mutants: ids with the names of mutants that break exactly this sentence.
        missing: the part that no requirement tests; empty if all of it is tested, or none.
        reason: one of `REASONS`, if nothing tests any of it.
    """

    section: str
    level: Level
    text: str
    asked_by: tuple[str, ...]
    mutants: tuple[tuple[str, str], ...] = ()
    missing: str = ""
    reason: str = ""

    @property
    def status(self) -> Literal["asked", "partly", "not"]:
        """The extent to which it is tested."""
        return "not" if self.reason else "partly" if self.missing else "asked"


def pages() -> dict[str, str]:
    """The pages, by their paths below docs/."""
    everything = tuple(sentence for document in FILES for sentence in sentences(document))
    untested = Counter(sentence.reason for sentence in everything if sentence.reason)
    coverage = fill(
        "coverage.md",
        counts=[*(_counts(document, sentences(document)) for document in FILES), _counts("all", everything)],
        reasons=[(f"it {reason}", str(untested[reason])) for reason in REASONS.values()],
        tools=TOOLS.items(),
        documents={document: list(_sections(document)) for document in FILES},
    )
    citing = defaultdict(list)
    for entry in catalogue().values():
        for source in entry.source:
            citing[source].append(entry.id)
    sections = fill("sections.md", documents=SECTIONS, citing=citing)
    return {"documents/coverage.md": coverage, "documents/sections.md": sections}


def _counts(name: str, counted: tuple[Sentence, ...]) -> tuple[str, ...]:
    found = Counter(sentence.status for sentence in counted)
    return name, str(len(counted)), *(str(found[status]) for status in ("asked", "partly", "not"))


def _sections(document: str) -> Iterator[tuple[str, str, list[tuple[str, ...]], list[str]]]:
    """Yield each section with the rows of its sentences, and the other requirements that cite it."""
    for number, title in SECTIONS[document].items():
        here = [sentence for sentence in sentences(document) if sentence.section == number]
        rows = [(sentence.level, sentence.text, _tested_by(sentence)) for sentence in here]
        yield number, title, rows, list(map(_name, _others(document, number)))


def _others(document: str, section: str) -> list[str]:
    """The requirements that cite a section but stand at no sentence of it or of its subsections."""
    near = (each for each in sentences(document) if f"{each.section}.".startswith(f"{section}."))
    named = {each for sentence in near for each in sentence.asked_by}
    citing = (entry.id for entry in catalogue().values() if f"{document} {section}" in entry.source)
    return [each for each in citing if each not in named]


def _tested_by(sentence: Sentence) -> str:
    if sentence.reason:
        return f"**not**: it {sentence.reason}"
    order = [*catalogue(), *TOOLS]
    names = ", ".join(_name(each) for each in sorted(sentence.asked_by, key=order.index))
    return f"*partly* {names}; not: {sentence.missing}" if sentence.missing else names


def _name(asking: str) -> str:
    weak = asking in catalogue() and catalogue()[asking].level != "MUST"
    return f"{asking}\\*" if weak else asking


@cache
def sentences(document: str) -> tuple[Sentence, ...]:
    """The sentences of a document, section by section."""
    files = (FOLDER / f"{name}.txt" for name in FILES[document])
    return tuple(row for file in files for row in read(file.read_text("utf-8"), file.name))


def read(rows: str, file: str) -> Iterator[Sentence]:
    """Read the rows of a file; a line that begins with four spaces continues the one above it.

    Raises:
        ValueError: a row does not have its form.
    """
    for line in unwrap_lines(f"\n{rows}"):
        section, level, text, reason, asked_by, missing = match_line(ROW, FORM, line, file)
        named = [word.partition("/") for word in (asked_by or "").split()]
        mutants = tuple((name, mutant) for name, _, mutant in named if mutant)
        ids = dict.fromkeys(each for word, _, _ in named for each in _ids(word))
        yield Sentence(section, level, text, tuple(ids), mutants, missing or "", REASONS.get(reason, ""))


def _ids(word: str) -> Iterator[str]:
    """The names that a word of a row means: ``LLM-MSG-1,3:5`` means four ids."""
    chapter, _, numbers = word.rpartition("-")
    for run in numbers.split(",") if chapter else ():
        first, _, last = run.partition(":")
        yield from (f"{chapter}-{number}" for number in range(int(first), int(last or first) + 1))
    if not chapter:
        yield word
