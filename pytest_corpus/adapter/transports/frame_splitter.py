"""From the bytes of a stream to its frames: lines (NDJSON), or the data of events (SSE)."""

import re
from collections.abc import Iterator
from typing import Protocol

from pytest_corpus.spec.wire_format import BOM

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Splitter(Protocol):
    """Takes bytes as they come and gives the frames that they complete.

    Attributes:
        waiting: how many bytes there are of what is still incomplete.
    """

    waiting: int

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def end(self) -> Iterator[bytes]: ...


class Lines:
    """Each line is a frame; a blank one is passed over, and the last need not end in a line feed."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for line in whole:
            complete = b"".join((*self._parts, line))
            self._parts.clear()
            if complete := complete.removesuffix(b"\r"):
                yield complete
        if rest:
            self._parts.append(rest)
        self.waiting = sum(map(len, self._parts)) if whole else self.waiting + len(rest)

    def end(self) -> Iterator[bytes]:
        rest = b"".join(self._parts).removesuffix(b"\r")
        if rest:
            yield rest


class Events:
    """The `data` of each event is a frame; comments and other fields are passed over (WHATWG HTML 9.2.6).

    An event without data is none, nor is one that the end of the stream cuts off before its blank line (R87): its
    reader never gets it.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._begun = self._ended_in_cr = False
        self.waiting = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._ended_in_cr and data:  # a line feed now is the other half of that line ending
            data, self._ended_in_cr = data.removeprefix(b"\n"), False
        searched = len(self._rest) if self._begun else 0
        self._rest += data
        if not self._begun:
            if len(self._rest) < len(BOM) and BOM.startswith(bytes(self._rest)):
                return
            self._begun = True
            if self._rest.startswith(BOM):
                del self._rest[: len(BOM)]
        start = 0
        while found := _LINE_END.search(self._rest, max(start, searched)):
            self._ended_in_cr = found[0] == b"\r" and found.end() == len(self._rest)
            line = bytes(self._rest[start : found.start()])
            start = found.end()
            yield from self._line(line)
        del self._rest[:start]
        self.waiting = len(self._rest) + sum(map(len, self._data))

    def end(self) -> Iterator[bytes]:
        yield from ()

    def _line(self, line: bytes) -> Iterator[bytes]:
        if not line:
            if self._data:
                frame = b"\n".join(self._data)
                self._data.clear()
                yield frame
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
