"""A normative sentence and what becomes of it."""

import re
from dataclasses import dataclass
from typing import Literal

Level = Literal["MUST", "SHOULD", "MAY"]

UNSEEN = "cannot be seen from outside an adapter"
PROCESS = "is a matter of how the author works"
CLIENTS = "asks clients, not adapters"
GATEWAYS = "asks gateways and routers, not adapters"
DOCUMENTS = "speaks of the documents themselves"
TRANSPORT = "is a matter of the transport, and not of the wire that the suite speaks"
OPERATOR = "asks whoever operates the adapter"
FREE = "allows something; what it allows is accepted"
TOO_LONG = "would take longer than a test run"
YET = "could be asked, and is not yet"

REASONS = (UNSEEN, PROCESS, CLIENTS, GATEWAYS, DOCUMENTS, TRANSPORT, OPERATOR, FREE, TOO_LONG, YET)
"""Why no requirement asks a sentence."""

TOOLS = {
    "schemas": "the shipped schemas, to which every answer and golden file is held",
    "lint": "`pytest-corpus schema lint`, and the schema suite",
    "goldens": "`pytest-corpus golden check`, and the schema suite",
    "streams": "the stream validator",
    "registry": "the schema registry; the project's own tests hold it to this",
    "tools": "another tool of this package; the project's own tests hold it to this",
    "run": "the run, its verdict and its reports; the project's own tests hold them to this",
}
"""What asks or does besides requirements."""

_RANGE = re.compile(r"(.+-)(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One normative sentence, or a row of a normative table or list.

    Attributes:
        section: the number of the section, as in `spec/documents.py`.
        level: MUST where the document demands it in any words, SHOULD, or MAY.
        text: what it says, in short words of our own.
        asked_by: ids of requirements, and names in `TOOLS`.
        missing: the part that no requirement asks; empty if all of it is asked, or none.
        reason: one of `REASONS`, where no requirement asks any of it.
    """

    section: str
    level: Level
    text: str
    asked_by: tuple[str, ...]
    missing: str = ""
    reason: str = ""

    @property
    def status(self) -> Literal["asked", "partly", "not"]:
        """How much of it is asked."""
        return "not" if self.reason else "partly" if self.missing else "asked"


def must(section: str, text: str, asked_by: str, missing: str = "") -> Sentence:
    """A sentence that demands; `asked_by` is separated by spaces, and ``LLM-MSG-1:3`` means three ids."""
    return Sentence(section, "MUST", text, _expanded(asked_by), missing)


def should(section: str, text: str, asked_by: str, missing: str = "") -> Sentence:
    """A sentence that recommends; otherwise as `must`."""
    return Sentence(section, "SHOULD", text, _expanded(asked_by), missing)


def not_asked(level: Level, section: str, text: str, reason: str) -> Sentence:
    """A sentence that no requirement asks, and the reason."""
    return Sentence(section, level, text, (), reason=reason)


def _expanded(asked_by: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in asked_by.split():
        match = _RANGE.fullmatch(word)
        if match:
            found += [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        else:
            found.append(word)
    return tuple(found)
