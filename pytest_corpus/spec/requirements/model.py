"""A requirement of the catalogue, and the table format in which chapters write requirements."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import STREAMING

Level = Literal["MUST", "SHOULD", "MAY"]

HOOKS = ("metrics", "provider")
"""The hooks that a requirement may need; a factory has parameters with these names."""

LOGS = "logs"
"""Requirements about log records need this: the suite must be able to read the adapter's log (R74)."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable sentence of the documents.

    Attributes:
        id: stable name, e.g. ``LLM-STREAM-1``; ``COM-...`` for what several components share.
        level: how binding the sentence is.
        text: the sentence in the suite's words.
        source: document and section of every passage it is based on, including rulings (``R7``).
        needs: preconditions of its tests: the hooks ``metrics`` and ``provider``, ``logs`` that can be read, a
            transport of `spec/transports.py`, or the name of a capability flag that must not be false.
        components: the components to which it applies.
        hint: the change that an author usually has to make.
        quiet: the components for which its tests must run alone. Other calls change caches, statistics or
            complete lists, and so could hide or imitate a violation.
    """

    id: str
    level: Level
    text: str
    source: tuple[str, ...]
    needs: tuple[str, ...] = ()
    components: tuple[str, ...] = COMPONENTS
    hint: str = ""
    quiet: tuple[str, ...] = ()

    @property
    def chapter(self) -> str:
        """The id without its number, e.g. ``LLM-STREAM``."""
        return self.id.rpartition("-")[0]


def _list_pattern(item: str) -> str:
    """Return the pattern of one or more items, separated by a comma and a space."""
    return rf"(?:{item})(?:, (?:{item}))*"


SOURCES = _list_pattern("[A-Z_]+ [A-Z0-9.]+|R[0-9]+")
NEEDS = _list_pattern("[a-z_]+")
SPEAKS_OF = f"streaming|{_list_pattern('|'.join(COMPONENTS))}"

FORMS = (
    ("ID LEVEL: sentence", r"([A-Z]{3}(?:-[A-Z0-9]+)*-[0-9]+) (MUST|SHOULD|MAY): (\S.*)"),
    (
        "  from SOURCE, SOURCE; needs NEED, NEED; for COMPONENT, COMPONENT; quiet",
        rf"  from ({SOURCES})(?:; needs ({NEEDS}))?(?:; for ({SPEAKS_OF}))?(?:; (quiet)(?: for ({SPEAKS_OF}))?)?",
    ),
    ("  hint: advice", r"  hint: (\S.*)"),
)
"""For each of the three lines of an entry, a readable form and a pattern. Parts after a semicolon are optional."""


def read(table: str, module: str, components: tuple[str, ...]) -> Iterator[Requirement]:
    """Read the table of a chapter, in which each entry has three lines.

    A line that begins with four spaces continues the line above it. ``for streaming`` names all components that stream.
    ``quiet`` means all components of the entry, ``quiet for vector`` only one.

    Args:
        table: the text that the chapter assigns to ``REQUIREMENTS``.
        module: the name of the chapter's module, for messages.
        components: the components of an entry that names none.

    Raises:
        ValueError: a line does not have the required form.
    """
    lines = unwrap_lines(table)
    missing = -len(lines) % len(FORMS)
    entry: list[Any] = []
    for place, line in enumerate([*lines, *[(table.count("\n"), "")] * missing]):
        form, pattern = FORMS[place % len(FORMS)]
        entry += match_line(re.compile(pattern), form, line, module)
        if place % len(FORMS) == len(FORMS) - 1:
            name, level, text, source, needs, named, is_quiet, quiet, hint = entry
            own = _parse_components(named) or components
            alone = (_parse_components(quiet) or own) if is_quiet else ()
            yield Requirement(name, level, text, _split_items(source), _split_items(needs), own, hint, alone)
            entry = []


def match_line(pattern: re.Pattern[str], form: str, numbered: tuple[int, str], module: str) -> tuple[Any, ...]:
    """Match a numbered line of a table and return the groups of the pattern. Raises ValueError if it does not match."""
    number, line = numbered
    if match := pattern.fullmatch(line):
        return match.groups()
    raise ValueError(f"{module}: line {number} of the table must have the form `{form}`, but is `{line}`")


def unwrap_lines(table: str) -> list[tuple[int, str]]:
    """Return the lines of a table with their numbers; a line is joined with the lines that continue it."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(table.splitlines()):
        if line.startswith("    ") and lines:
            first, text = lines[-1]
            lines[-1] = (first, f"{text} {line.strip()}")
        elif line:
            lines.append((number, line))
    return lines


def _parse_components(written: str | None) -> tuple[str, ...]:
    return STREAMING if written == "streaming" else _split_items(written)


def _split_items(written: str | None) -> tuple[str, ...]:
    return tuple(written.split(", ")) if written else ()
