"""Reads untrusted files within limits: regular files only, with limits on bytes, values, depth and digits.

Reading never blocks: pipes, devices and sockets are refused, also behind symbolic links.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pytest_corpus.text.problems import MAX_DEPTH, TOO_DEEP, PlainError

LARGEST = 16 * 2**20
"""The largest size of a document, or of a line, in bytes."""

LARGEST_OF_LINES = 128 * 2**20
"""The largest size of a file of lines after unpacking, in bytes."""

MOST_VALUES = 400_000
"""The largest number of values in a document. Even a short value may need some hundred bytes of memory."""

MOST_DIGITS = 308
"""The most digits of a number; an integer with this number of digits is within the range of a double."""

_CHUNK = 2**20
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * (MOST_DIGITS + 1)


FOLDER = "is a folder, not a file"


class FileRefused(PlainError, ValueError):
    """A file that was not read, with the reason in `why`.

    `missing` means that there is no regular file at the path, `is_too_large` that the file exceeds its limit.
    """

    def __init__(self, path: Path, why: str, *, missing: bool = False, too_large: bool = False) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why, self.missing, self.is_folder = path, why, missing, why == FOLDER
        self.is_too_large = too_large


def describe_size_limit(most: int) -> str:
    """Return the end of a sentence about a file with more than `most` bytes."""
    return f"is larger than {_size_text(most)}, the limit for such a file"


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading bytes. Raises FileRefused."""
    try:
        _check_kind(path, os.stat(path).st_mode)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        file = os.fdopen(handle, "rb")
        try:
            _check_kind(path, os.fstat(handle).st_mode)  # another file may have taken the name
        except BaseException:
            file.close()
            raise
        return file
    except FileRefused:
        raise
    except FileNotFoundError:
        raise FileRefused(path, "there is no such file", missing=True) from None
    except PermissionError:
        raise FileRefused(path, "you may not read it; its permissions forbid it", missing=True) from None
    except OSError as error:
        raise FileRefused(path, f"cannot be read: {error.strerror}", missing=True) from None
    except ValueError:
        raise FileRefused(path, "no file can have this name", missing=True) from None


def read_contents(path: Path, most: int = LARGEST) -> bytes:
    """Return the bytes of a file of at most `most` bytes. Raises FileRefused."""
    with open_file(path) as file:
        data = _read(path, file, most + 1)
    if len(data) > most:
        raise FileRefused(path, describe_size_limit(most), too_large=True)
    return data


def read_lines(
    path: Path,
    most: int = LARGEST_OF_LINES,
    longest: int = LARGEST,
    *,
    take: Callable[[bytes], object] = lambda _: None,
) -> Iterator[bytes]:
    """Yield the lines of a file, unpacked if its name ends in ``.gz``; the last line may be incomplete.

    A packed file that is cut off yields the lines before the cut. `take` is called with each piece of the packed bytes.
    Raises FileRefused.
    """
    with open_file(path) as file:
        packed = _pieces(path, file, most, take)
        held: list[bytes] = []
        size = total = 0
        for chunk in _unpack(path, packed) if path.name.endswith(".gz") else packed:
            total += len(chunk)
            if total > most:
                raise FileRefused(path, f"has more than {_size_text(most)} of lines, the limit for such a file")
            first, *others = chunk.split(b"\n")
            held.append(first)
            size += len(first)
            for each in others:
                if size <= longest:
                    yield b"".join(held) + b"\n"
                held, size = [each], len(each)
            if size > longest:
                raise FileRefused(path, f"has a line of more than {_size_text(longest)}, the limit for a line")
        if size:
            yield b"".join(held)


def parse_value(data: bytes) -> Any:
    """Parse a JSON document with finite numbers; strings may contain lone surrogates.

    Raises:
        ValueError: the document is refused. The message is the end of a sentence.
    """
    import orjson  # here, because light commands do not need it

    if count_values(data) > MOST_VALUES:
        raise ValueError(f"has more than {MOST_VALUES:,} values, the limit for such a file")
    if has_long_digits(data) and has_long_digits(_STRING.sub(b'""', data)):
        raise ValueError(f"has a number of more than {MOST_DIGITS} digits")
    if measure_depth(data) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "surrogate" in error.msg:
            return _parse_leniently(data)
        raise ValueError(f"is not JSON: {error.msg}") from None


def read_document(path: Path, most: int = LARGEST) -> Any:
    """Return the value of a JSON file. Raises FileRefused."""
    try:
        return parse_value(read_contents(path, most))
    except FileRefused:
        raise
    except ValueError as error:
        raise FileRefused(path, str(error)) from None


def count_values(data: bytes, most: int = MOST_VALUES) -> int:
    """Return a number that is above `most` if, and only if, a JSON document has more than `most` values."""
    if (number := 1 + _count_separators(data)) <= most:
        return number
    number, end = 1, 0
    for strings, found in enumerate(_STRING.finditer(data)):
        number += _count_separators(data[end : found.start()])
        end = found.end()
        if number > most or strings > 2 * most:  # a value has at most two strings: its key and itself
            return max(number, most + 1)
    return number + _count_separators(data[end:])


def measure_depth(data: bytes) -> int:
    """Return how deeply brackets are nested outside of strings, at most `MAX_DEPTH` + 1.

    The result is 0 if the document has too few brackets to exceed `MAX_DEPTH`.
    """
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return 0
    deep = deepest = 0
    for bracket in _STRING.sub(b"", data).translate(None, _NO_BRACKETS):
        deep += 1 if bracket in b"[{" else -1
        deepest = max(deepest, deep)
        if deepest > MAX_DEPTH:
            break
    return deepest


_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _count_separators(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{") + data.count(b",")


def has_long_digits(data: bytes) -> bool:
    """True if there is a run of digits that may be a number of more than `MOST_DIGITS` digits."""
    return len(data) > MOST_DIGITS and _LONG_NUMBER in data.translate(ZEROS)


def _parse_leniently(data: bytes) -> Any:
    """Parse a document that contains a lone surrogate, which orjson refuses."""
    import json

    def refuse_number(text: str) -> Any:
        raise ValueError(f"has the number {text[:20]}, which JSON does not have")

    def finite(text: str) -> float:
        number = float(text)
        return number if abs(number) != float("inf") else refuse_number(text)

    try:
        return json.loads(data.decode(), parse_constant=refuse_number, parse_float=finite)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise FileRefused(path, FOLDER, missing=True)
    if not stat.S_ISREG(mode):
        raise FileRefused(path, "is a pipe, a device or a socket, not a regular file")


def _read(path: Path, file: BinaryIO, most: int) -> bytes:
    try:
        return file.read(most) or b""
    except OSError as error:
        raise FileRefused(path, f"cannot be read: {error.strerror}", missing=True) from None


def _pieces(path: Path, file: BinaryIO, most: int, take: Callable[[bytes], object]) -> Iterator[bytes]:
    total = 0
    while data := _read(path, file, _CHUNK):
        total += len(data)
        if total > most:
            raise FileRefused(path, describe_size_limit(most), too_large=True)
        take(data)
        yield data


def _unpack(path: Path, packed: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip file that has exactly one member; the suite writes no other gzip files."""
    engine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        for piece in packed:
            chunk = piece
            while chunk:
                yield engine.decompress(chunk, _CHUNK)
                chunk = engine.unconsumed_tail
                if engine.eof:
                    if engine.unused_data or next(packed, b""):
                        raise FileRefused(path, "goes on after the end of what was packed, so it was changed")
                    return
    except zlib.error:
        raise FileRefused(path, "not a gzip file, or damaged") from None


def _size_text(number: int) -> str:
    return f"{number // 2**20} MiB" if number >= 2**20 else f"{number // 2**10} KiB"
