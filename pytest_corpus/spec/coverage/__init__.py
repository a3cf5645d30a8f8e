"""Every normative sentence of the documents, and what tests it: the source of the page Coverage.

One row a sentence: `SECTION LEVEL: sentence | ID ID-2,4:6 tool | what is not tested`, without the last part if all
of it is tested, or `SECTION LEVEL: sentence | not: reason`. `ID/Mutant` is a mutant that breaks just this sentence.
The other sources of a requirement are not repeated here. Nothing at run time needs this; the plugin does not import it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Literal

from pytest_corpus.spec.requirements.model import Level, matched, unwrapped

MODULES = MappingProxyType(
    {
        "BEHAVIORAL_CONFORMANCE": ("behavioral_conformance",),
        "SCHEMA": ("schema",),
        "ERRORS": ("errors",),
        "SPECIFICATION": ("specification_wire", "specification_components", "specification_patterns"),
    }
)
"""The modules that hold the sentences of a document, in the order of its sections."""

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


def sentences(document: str) -> tuple[Sentence, ...]:
    """The sentences of a document, section by section."""
    modules = (import_module(f"{__name__}.{name}") for name in MODULES[document])
    return tuple(row for module in modules for row in read(module.SENTENCES, module.__name__))


def read(table: str, module: str) -> Iterator[Sentence]:
    """Read a table of rows; a line that begins with four spaces continues the one above it.

    Raises:
        ValueError: a row does not have its form.
    """
    for line in unwrapped(table):
        section, level, text, reason, asked_by, missing = matched(ROW, FORM, line, module)
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
