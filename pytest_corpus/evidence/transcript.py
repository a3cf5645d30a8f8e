"""The file format of a transcript: JSON lines between a header and a digest (`docs/evidence.md`)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.sealed_lines import Kind, Line, read_sealed_lines

FORMAT = "1.0"
"""The version of the format."""

SCHEMA = "transcript/transcript"

PARTS = {"handle": "Call", "handle_stream": "Call", "together": "Together", "raw": "Raw"}
"""Maps an entry point to the name of the schema definition for its exchanges."""

MOST_LINES = 150_000
"""The largest number of lines in a transcript; a run of all components has about 10,000."""

KINDS = ("header", "adapter", "exchange", "test", "totals", "end")


class TranscriptError(PlainError, ValueError):
    """A transcript that is altered or unreadable. One sentence gives the reason and the place."""


FILE = Kind("transcript", KINDS, MOST_LINES, TranscriptError)


@dataclass(slots=True)
class TestTrace:
    """The record of one test: its exchanges in order, and its last line, which has the result.

    Lines are stored as text and parsed when they are needed, because values need many times the memory of their text.

    Attributes:
        process: the process that ran the test.
        by_fact: for each shared fact, the lines of exchanges that determined it; an empty name has the other lines.
    """

    __test__ = False

    process: str = ""
    by_fact: dict[str, list[bytes]] = field(default_factory=dict)
    _lines: list[bytes] = field(default_factory=list)
    _ended: bytes = b""

    def add(self, line: Mapping[str, Any], data: bytes) -> None:
        """Add an exchange: its parsed line and the text of the line."""
        self._lines.append(data)
        self.by_fact.setdefault(line.get("fact", ""), []).append(data)

    def end(self, line: Mapping[str, Any], data: bytes) -> None:
        """Add the last line of the test: parsed, and its text."""
        self.process, self._ended = line["process"], data
        for fact in line["readings"]:
            self.by_fact.setdefault(fact, [])

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def has_ended(self) -> bool:
        """True if the record has the last line of the test."""
        return bool(self._ended)

    @property
    def exchanges(self) -> list[dict[str, Any]]:
        """The parsed exchanges of the test."""
        return [parse_line(data) for data in self._lines]

    @property
    def last_line(self) -> dict[str, Any] | None:
        """The parsed last line of the test; None if it is missing."""
        return parse_line(self._ended) if self._ended else None


Key = tuple[str, str, int]
"""The identity of a recorded test: the adapter's label, the test's name, the number of the repetition."""


@dataclass(slots=True)
class Transcript:
    """A parsed transcript.

    Attributes:
        header: the first line.
        adapters: the lines about adapters, by label.
        tests: the tests in the order in which they ended, grouped by process.
        totals: the result of the run for each adapter, by label.
        complete: True if the last line exists, so that the run was not killed.
        sha256: the digest of the file.
    """

    header: dict[str, Any]
    adapters: dict[str, dict[str, Any]] = field(default_factory=dict)
    tests: dict[Key, TestTrace] = field(default_factory=dict)
    totals: dict[str, dict[str, Any]] = field(default_factory=dict)
    complete: bool = False
    sha256: str = ""


def read(path: Path) -> Transcript:
    """Read a transcript and check that it was not altered.

    Raises:
        TranscriptError: the file is not a transcript, or a line was changed, removed, added or moved.
        FileRefused: the file cannot be read, or exceeds the limits of a transcript.
    """
    found: _TranscriptReader | None = None
    whole = hashlib.sha256()
    for line in read_sealed_lines(path, FILE, whole.update):
        if found is None:
            if line.kind != "header" or line.members.get("format") != FORMAT:
                raise line.refusal(f"not the header of a transcript of format {FORMAT}")
            _check_line(line)
            found = _TranscriptReader(Transcript(line.members))
            continue
        if found.transcript.complete:
            raise line.refusal("a line after the last one")
        _check_line(line)
        found.add_line(line)
    if found is None:
        raise TranscriptError(f"{path.name}: empty, not a transcript")
    found.transcript.sha256 = whole.hexdigest()
    return found.transcript


def parse_line(data: bytes) -> dict[str, Any]:
    """Parse the text of a line. Raises ValueError if it is not a JSON object."""
    try:
        line = orjson.loads(data)
    except orjson.JSONDecodeError:  # for example a lone surrogate
        line = bounded.parse_value(data)
    if not isinstance(line, dict):
        raise ValueError("is not a line of a transcript")
    return line


def _check_line(line: Line) -> None:
    """Validate a line by `schemas/transcript/transcript.schema.json`."""
    members, part = line.members, line.kind.title()
    if line.kind == "exchange":
        part = PARTS.get(str(members.get("entry_point")), "Unanswered")
    line.check(SCHEMA, part)


class _TranscriptReader:
    """A transcript that is being read, with the state that is needed to check each next line."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._clocks: dict[str, float] = {}
        self._held = 0

    def add_line(self, line: Line) -> None:
        """Add the next line. Raises TranscriptError if it does not fit the previous lines."""
        found, members = self.transcript, line.members
        if line.kind in ("exchange", "test", "totals") and members["adapter"] not in found.adapters:
            raise line.refusal("of an adapter that no line before it introduces")
        if line.kind == "exchange":
            self._add_exchange(line)
        elif line.kind == "test":
            self._add_test(line)
        elif line.kind == "adapter":
            self._add_adapter(line)
        elif line.kind == "totals":
            self._count_kept_values(line)
            found.totals[members["adapter"]] = members
        elif line.kind == "end":
            line.check_seal()
            found.complete = True
        else:
            raise line.refusal("a second header")

    def _add_exchange(self, line: Line) -> None:
        at, process = line.members["at"], line.members["process"]
        if at < self._clocks.get(process, 0.0):
            raise line.refusal("its time is earlier than that of the exchange before")
        self._clocks[process] = at
        trace = self.transcript.tests.setdefault(key_of(line.members), TestTrace())
        if trace.has_ended:
            raise line.refusal("an exchange of a test that has ended")
        trace.add(line.members, line.data)

    def _add_test(self, line: Line) -> None:
        trace, stated = self.transcript.tests.setdefault(key_of(line.members), TestTrace()), line.members["exchanges"]
        if trace.has_ended or stated != len(trace):
            raise line.refusal(f"the test has {stated} exchanges, {len(trace)} are here")
        trace.end(line.members, line.data)

    def _add_adapter(self, line: Line) -> None:
        self._count_kept_values(line)
        label, found = line.members["adapter"], self.transcript
        if "\0" in label or label.encode("utf-8", "replace").decode() != label:
            raise line.refusal("its adapter has a name that no run can give")
        found.adapters.setdefault(label, line.members)
        stated = {each["label"]: each["capabilities"] for each in found.header["adapters"]}
        if stated.get(label) not in (None, {}, line.members["capabilities"]):
            raise line.refusal("its capabilities differ from the header")

    def _count_kept_values(self, line: Line) -> None:
        """Count the values of lines that stay in memory, and refuse too many."""
        self._held += bounded.count_values(line.data)
        if self._held > bounded.MOST_VALUES:
            raise line.refusal("more lines of adapters and totals than a run writes")


def key_of(line: Mapping[str, Any]) -> Key:
    """Return the identity of the test that a line belongs to."""
    return line["adapter"], line["test"], int(line["repetition"])
