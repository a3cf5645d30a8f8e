"""Findings of checks of a tree of files, and strict reading of the files."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_corpus import resources
from pytest_corpus.redaction.values import printable
from pytest_corpus.text import strict_json


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in a tree of files.

    Attributes:
        file: the file, relative to the root of the tree.
        rule: the name of the rule that it breaks.
        message: what is wrong and what to do, without any content of the file that may be a secret.
        path: where in the file: a JSON pointer in a schema, keys joined by dots in a golden; empty for the whole.
    """

    file: str
    rule: str
    message: str
    path: str = ""

    def __str__(self) -> str:
        """One line, for any characters in file names and keys."""
        where = f"{self.file}: {self.path}" if self.path else self.file
        return printable(f"{where}: {self.message} [{self.rule}]")

    def as_json(self) -> dict[str, str]:
        """The finding as an object of its four fields."""
        return asdict(self)


def root_of(given: Path | str | None, variable: str, name: str) -> Path:
    """The folder given, the one that a variable names, or the shipped one. Raises NotADirectoryError."""
    named = os.environ.get(variable) if given is None else None
    root = Path(given or named or resources.folder(name))
    if not root.is_dir():
        by = f", which {variable} names," if named else ""
        raise NotADirectoryError(f"{root}{by} is not a folder; name one that holds the files of {name}/")
    return root


def files_below(root: Path) -> tuple[str, ...]:
    """Every file below a folder, relative to it, in order; those whose name begins with a dot are none of ours."""
    found = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    return tuple(sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)))


def drift(listed: Iterable[str], found: Iterable[str], table: str) -> Iterator[Finding]:
    """Files of the table that are not there, and files that the table does not have (SCHEMA 7.3; R41)."""
    rows, files = set(listed), set(found)
    for file in sorted(rows - files):
        yield Finding(file, "missing", f"does not exist, but {table} lists it: restore the file")
    for file in sorted(files - rows):
        yield Finding(file, "orphaned", f"is not in {table}: add a row, or remove the file")


def read_bytes(path: Path, limit: int) -> tuple[bytes, str, str]:
    """The bytes of a file; where there are none, the rule that it breaks and why: it cannot be read, or is too big."""
    try:
        if not path.is_file():
            return b"", "json", "is not a regular file" if path.exists() else "does not exist"
        if (size := path.stat().st_size) > limit:
            return b"", "size", f"has {size} bytes, and {limit} are the most"
        return path.read_bytes(), "", ""
    except OSError as fault:
        return b"", "json", f"cannot be read: {fault.strerror}"


def parsed(data: bytes) -> tuple[Any, str]:
    """The value of a JSON document and what is wrong with it, if anything (RFC 8259, 7493)."""
    value, flaw = strict_json.read(data)
    if flaw is None:
        return value, ""
    return value, f"{flaw.path} {flaw.message}" if flaw.path else flaw.message
