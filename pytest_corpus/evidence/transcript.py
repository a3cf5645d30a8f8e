"""The file of a transcript: JSON lines, from a header to a line with their digest (`docs/evidence.md`)."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from pytest_corpus.evidence.recorder import dumps
from pytest_corpus.text.problems import PlainError

FORMAT = "1.0"
"""The version of the format."""

SUFFIXES = (".jsonl", ".jsonl.gz")

FLUSHED = 1 << 16
"""After this number of characters what was written can be read, also if the run is killed."""

KINDS = ("header", "adapter", "exchange", "test", "totals", "end")


class TranscriptError(PlainError, ValueError):
    """A transcript that cannot be believed or read: one sentence that says why and where."""


class Writer:
    """Writes a transcript as the run goes on. Nothing is written before the first line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sha256 = ""
        self.lines = 0
        self._exchanges = 0
        self._unflushed = 0
        self._digest = hashlib.sha256()
        self._raw: IO[bytes] | None = None
        self._file: IO[bytes] | None = None

    def write(self, members: Mapping[str, Any]) -> None:
        """Write a line. Raises OSError if the file cannot be written."""
        self.write_lines(dumps(members) + "\n")

    def write_lines(self, text: str) -> None:
        """Write lines that another process made; each gets its number. Raises OSError if the file cannot be written."""
        if self._file is None:
            self._raw = self.path.open("wb")
            zipped = self.path.name.endswith(".gz")
            self._file = gzip.GzipFile("", "wb", 6, self._raw, mtime=0) if zipped else self._raw  # type: ignore[assignment]
        assert self._file is not None
        for line in text.removesuffix("\n").split("\n"):  # a text may hold other line separators
            self.lines += 1
            self._exchanges += line.startswith('{"kind":"exchange"')
            data = f'{{"n":{self.lines},{line[1:]}\n'.encode("utf-8", "backslashreplace")
            self._digest.update(data)
            self._file.write(data)
        self._unflushed += len(text)
        if self._unflushed > FLUSHED:
            self._unflushed = 0
            self._file.flush()

    def close(self) -> None:
        """Write the last line and close the file. Raises OSError if the file cannot be written."""
        if self._file is None:
            return
        self.write(
            {"kind": "end", "lines": self.lines, "exchanges": self._exchanges, "sha256": self._digest.hexdigest()}
        )
        self.abandon()
        self.sha256 = file_digest(self.path)

    def abandon(self) -> None:
        """Close the file as it is."""
        for file in (self._file, self._raw):
            if file is not None:
                file.close()
        self._file = self._raw = None


@dataclass(slots=True)
class TestTrace:
    """The record of one test: its exchanges in order, and the line that ends it."""

    __test__ = False

    exchanges: list[dict[str, Any]] = field(default_factory=list)
    ended: dict[str, Any] | None = None

    @property
    def facts(self) -> set[str]:
        """The facts that it found out."""
        read = self.ended["readings"] if self.ended else {}
        return {each["fact"] for each in self.exchanges if "fact" in each} | set(read) - {""}

    @property
    def process(self) -> str:
        """The process that ran it."""
        return str(self.ended["process"]) if self.ended else ""


Key = tuple[str, str, int]
"""An adapter's label, a test, a repetition."""


@dataclass(slots=True)
class Transcript:
    """A transcript that was read.

    Attributes:
        header: its first line.
        adapters: the lines on adapters, by label.
        tests: the tests in the order in which they ended; those of each process together.
        totals: what the run came to for each adapter, by label.
        complete: the last line is there: the run was not killed.
        sha256: the digest of the file.
    """

    header: dict[str, Any]
    adapters: dict[str, dict[str, Any]] = field(default_factory=dict)
    tests: dict[Key, TestTrace] = field(default_factory=dict)
    totals: dict[str, dict[str, Any]] = field(default_factory=dict)
    complete: bool = False
    sha256: str = ""


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Transcript:
    """Read a transcript and check that it is as it was written.

    Raises:
        TranscriptError: it is not a transcript, or a line was changed, removed, added or moved.
        OSError: the file cannot be read.
    """
    found: Transcript | None = None
    clocks: dict[str, float] = {}
    for number, line, digest in _lines(path):
        where = f"{path.name}, line {number}"
        if found is None:
            if line["kind"] != "header" or line.get("format") != FORMAT:
                raise TranscriptError(f"{where}: not the header of a transcript of format {FORMAT}")
            found = Transcript(line, sha256=file_digest(path))
            continue
        if found.complete:
            raise TranscriptError(f"{where}: a line after the last one")
        _take(found, line, where, digest, clocks)
    if found is None:
        raise TranscriptError(f"{path.name}: empty, not a transcript")
    return found


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Each line with its number and the digest of all before it; a last line that was cut off is left out."""
    digest = hashlib.sha256()
    opened = gzip.open if path.name.endswith(".gz") else open
    number = 0
    with opened(path, "rb") as file:
        try:
            for data in file:
                number += 1
                line = _parsed(data)
                if line is None and not data.endswith(b"\n"):
                    return
                if line is None or line.get("kind") not in KINDS:
                    raise TranscriptError(f"{path.name}, line {number}: not a line of a transcript")
                if line.get("n") != number:
                    numbered = f"{path.name}, line {number}: its number is {line.get('n')}"
                    raise TranscriptError(f"{numbered}, so lines were removed, added or moved")
                yield number, line, digest.hexdigest()
                digest.update(data)
        except EOFError:  # the run was killed
            return
        except (gzip.BadGzipFile, zlib.error):
            raise TranscriptError(f"{path.name}: not a gzip file, or damaged") from None


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        line = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            line = json.loads(data)
        except ValueError:
            return None
    return line if isinstance(line, dict) else None


def _take(found: Transcript, line: dict[str, Any], where: str, digest: str, clocks: dict[str, float]) -> None:
    kind = line["kind"]
    try:
        if kind == "exchange":
            if line["at"] < clocks.get(line["process"], 0.0):
                raise TranscriptError(f"{where}: its time is earlier than that of the exchange before")
            clocks[line["process"]] = line["at"]
            trace = found.tests.setdefault(key_of(line), TestTrace())
            if trace.ended is not None:
                raise TranscriptError(f"{where}: an exchange of a test that has ended")
            trace.exchanges.append(line)
        elif kind == "test":
            trace = found.tests.setdefault(key_of(line), TestTrace())
            if trace.ended is not None or line["exchanges"] != len(trace.exchanges):
                raise TranscriptError(
                    f"{where}: the test has {line['exchanges']} exchanges, {len(trace.exchanges)} are here"
                )
            trace.ended = line
        elif kind == "adapter":
            found.adapters.setdefault(line["adapter"], line)
            stated = {each["label"]: each["capabilities"] for each in found.header["adapters"]}
            if stated.get(line["adapter"]) not in (None, {}, line["capabilities"]):
                raise TranscriptError(f"{where}: its capabilities differ from those of the header")
        elif kind == "totals":
            found.totals[line["adapter"]] = line
        elif kind == "end":
            if line["sha256"] != digest:
                raise TranscriptError(f"{where}: the digest is another one, so the transcript was changed")
            found.complete = True
        else:
            raise TranscriptError(f"{where}: a second header")
    except (KeyError, TypeError) as error:
        raise TranscriptError(f"{where}: {kind} without {error}") from None


def key_of(line: Mapping[str, Any]) -> Key:
    """The adapter, test and repetition that a line belongs to."""
    return str(line["adapter"]), str(line["test"]), int(line["repetition"])
