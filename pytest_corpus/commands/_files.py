"""Files, folders and stdin that a user names, with one clear sentence for each possible mistake.

An unreadable file raises `CommandError`; content that is not valid JSON becomes a `Document` with a flaw.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pytest_corpus.commands import CommandError
from pytest_corpus.commands._console import size_text
from pytest_corpus.spec.words import BOM
from pytest_corpus.text import bounded

STDIN = "-"  # the name of stdin
MAX_BYTES = 64 * 1024 * 1024  # the default size limit of a document
LINES = (".ndjson", ".jsonl")  # the suffixes of files with one document per line
SUFFIXES = (".json", *LINES)  # the suffixes of the files that are read in a folder
_HANDLES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # names that a shell uses for the output of another program
_SNIFFED = 4096
_SIGNATURES = (
    (b"\x1f\x8b", "is compressed with gzip; unpack it first"),
    (b"PK\x03\x04", "is a zip archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it first"),
    (b"\xff\xfe", "is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16; save it as UTF-8"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON document: its line in a file with several documents (or None), its value, and its flaw if it is not
    valid JSON.
    """

    line: int | None
    value: Any
    flaw: str = ""


def display_name(name: str) -> str:
    """Return the name of a file, or "stdin", for messages."""
    return "stdin" if name == STDIN else name


@contextmanager
def open_file(name: str) -> Iterator[BinaryIO]:
    """Open a regular file or stdin for reading bytes; errors while reading become `CommandError`."""
    if name == STDIN and sys.stdin is None:
        raise CommandError("stdin: is closed; there is nothing to read")
    try:
        if name == STDIN:
            yield sys.stdin.buffer
        else:
            with open(name, "rb") if name.startswith(_HANDLES) else bounded.open_file(Path(name)) as file:
                yield file
    except bounded.FileRefused as error:
        raise CommandError(f"{name}: {error.why}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"{display_name(name)}: cannot be read: {error.strerror or error}") from None


def read_bytes(name: str, limit: int = MAX_BYTES) -> bytes:
    """Read all bytes of a file or of stdin, at most `limit`."""
    with open_file(name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise CommandError(f"{display_name(name)}: {_size_message(limit)}")
    return data


def read_documents(name: str, *, lines: bool, limit: int = MAX_BYTES) -> Iterator[Document]:
    """Yield the JSON document of a file or of stdin; with `lines`, one document for each line that is not blank.

    Lines are read one at a time. An empty file yields one document with a flaw.
    """
    if not lines:
        yield _parse_document(None, read_bytes(name, limit))
        return
    with open_file(name) as file:
        yield from _read_lines(file, limit)


def _read_lines(file: BinaryIO, limit: int) -> Iterator[Document]:
    found, number = False, 0
    while data := file.readline(limit + 2):
        number += 1
        if len(data.rstrip(b"\r\n")) > limit:
            yield Document(number, None, _size_message(limit))
            while data and not data.endswith(b"\n"):
                data = file.readline(limit)
        elif number == 1 and (said := describe_foreign_file(data)):
            yield Document(None, None, said)
            return
        elif data.strip():
            yield _parse_document(number, data)
        else:
            continue
        found = True
    if not found:
        yield Document(None, None, "is empty" if number == 0 else "holds nothing but white space")


def describe_foreign_file(data: bytes) -> str:
    """Return a description of a file that is clearly not UTF-8 text, by its first bytes; otherwise empty."""
    for signature, said in _SIGNATURES:
        if data.startswith(signature):
            return said
    place = data.find(b"\0", 0, _SNIFFED)
    return f"is binary, not JSON: byte {place + 1} is NUL" if place >= 0 else ""


def _parse_document(line: int | None, data: bytes) -> Document:
    from pytest_corpus.text.strict_json import describe_flaw, parse

    if said := describe_foreign_file(data):
        return Document(line, None, said)
    if data and not data.strip():
        return Document(line, None, "holds nothing but white space")
    value, flaw = parse(data)
    if flaw is None:
        return Document(line, value)
    said = describe_flaw(data, flaw)
    if "after document" in said:
        said += "; use --lines for a file with one document per line"
    return Document(line, value, f"{said}; save it without" if data.startswith(BOM) else said)


def _size_message(limit: int) -> str:
    return f"measures more than {size_text(limit)}, the limit for one document; --max-bytes sets another limit"


def list_files(name: str) -> list[str]:
    """Return a list with the file itself, or with the JSON files below a folder, sorted.

    Hidden files and folders are skipped; links to folders are not followed.
    """
    if name == STDIN or not os.path.isdir(name):
        return [name]

    def fail(error: OSError) -> None:
        raise CommandError(f"{error.filename}: the folder cannot be read: {error.strerror}")

    files: list[str] = []
    for here, folders, names in os.walk(name, onerror=fail):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        files += [
            os.path.join(here, each)
            for each in sorted(names)
            if Path(each).suffix in SUFFIXES and not each.startswith(".")
        ]
    if not files:
        raise CommandError(f"{name}: there is no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file in the folder")
    return files
