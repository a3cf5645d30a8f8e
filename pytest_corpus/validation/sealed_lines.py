"""Evidence files, such as transcripts, that a run writes line by line.

The lines are numbered JSON objects between a header and a last line with a digest (the seal), so changes are detected.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.schema.evidence import first_flaw

SUFFIXES = (".jsonl", ".jsonl.gz")

FLUSH_AFTER = 1 << 16
"""The number of characters after which the file is flushed, so that a killed run leaves readable lines."""


def dumps(members: Mapping[str, Any]) -> str:
    """Return compact JSON in one line."""
    import orjson  # light commands do without it

    try:
        return orjson.dumps(members).decode()
    except TypeError:  # a lone surrogate, which json writes as an escape
        return json.dumps(members, separators=(",", ":"))


class Writer:
    """Writes an evidence file during the run. The first line creates the file."""

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
        """Number and write lines of one or several processes. Raises OSError if the file cannot be written."""
        if self._file is None:
            self._raw = open(self.path, "wb", opener=_open_private)  # noqa: SIM115 - open until the run ends
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
        if self._unflushed > FLUSH_AFTER:
            self._unflushed = 0
            self._file.flush()

    def close(self) -> None:
        """Write the last line, with the digest, and close the file. Raises OSError if the file cannot be written."""
        if self._file is None:
            return
        self.write(
            {"kind": "end", "lines": self.lines, "exchanges": self._exchanges, "sha256": self._digest.hexdigest()}
        )
        for file in (self._file, self._raw):
            if file is not None:
                file.close()
        self._file = self._raw = None
        self.sha256 = file_digest(self.path)

    def abandon(self) -> None:
        """Close the file without the last line. Unwritten data may be lost, for example if the disk is full."""
        for file in (self._file, self._raw):
            with suppress(OSError):
                if file is not None:
                    file.close()
        self._file = self._raw = None


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, because it contains requests and answers."""
    handle = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(handle).st_mode) and hasattr(os, "fchmod"):
        os.fchmod(handle, 0o600)  # the file may exist with other permissions
    return handle


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file that was just written."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of evidence file: its name, the kinds of its lines, the maximum number of lines, and its error class."""

    name: str
    kinds: tuple[str, ...]
    most_lines: int
    error: type[PlainError]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an evidence file.

    Attributes:
        of: the kind of file.
        where: the file name and line number, for messages.
        data: the bytes of the line.
        members: the parsed line.
        digest: the digest of all previous lines.
    """

    of: Kind
    where: str
    data: bytes
    members: dict[str, Any]
    digest: str

    @property
    def kind(self) -> str:
        """The kind of the line."""
        return str(self.members["kind"])

    def refusal(self, why: str) -> PlainError:
        """Return the error that refuses the file because of this line."""
        return self.of.error(f"{self.where}: {why}")

    def check(self, schema: str, part: str) -> None:
        """Validate the line by a part of a schema. Raises `of.error`."""
        if said := first_flaw(schema, self.members, part):
            raise self.refusal(f"not as a line of the kind {self.kind} must be: {said}")

    def check_seal(self) -> None:
        """Compare the digest in the line with the digest of the previous lines. Raises `of.error`."""
        if self.members["sha256"] != self.digest:
            raise self.refusal(f"the digest is another one, so the {self.of.name} was changed")


def read_sealed_lines(path: Path, of: Kind, take: Callable[[bytes], object]) -> Iterator[Line]:
    """Yield each line of an evidence file. An incomplete last line is left out.

    Args:
        take: is called with the bytes of the file, as they are read.

    Raises:
        FileRefused: the file cannot be read or exceeds the limits.
        PlainError: the file is of another kind, or lines were removed, added or moved. The class is `of.error`.
    """
    digest = hashlib.sha256()
    for number, data in enumerate(bounded.read_lines(path, take=take), 1):
        where = f"{path.name}, line {number}"
        if number > of.most_lines:
            raise of.error(f"{where}: a {of.name} has at most {of.most_lines:,} lines")
        try:
            members = bounded.parse_value(data)
        except ValueError as error:
            if not data.endswith(b"\n"):
                continue
            raise of.error(f"{where}: not a line of a {of.name}: {error}") from None
        if not isinstance(members, dict) or members.get("kind") not in of.kinds:
            raise of.error(f"{where}: not a line of a {of.name}")
        if members.get("n") != number:
            numbered = f"{where}: its number is {str(members.get('n'))[:20]}"
            raise of.error(f"{numbered}, so lines were removed, added or moved")
        yield Line(of, where, data, members, digest.hexdigest())
        digest.update(data)
