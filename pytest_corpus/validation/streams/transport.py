"""Readers that split the bytes of a transport, which arrive in pieces of any size, into the payloads of frames.

A payload is the bytes that should be one JSON frame, or None if it exceeds the size limit of a frame. A reader stores
at most one incomplete payload, and nothing of a payload that is too large.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from pytest_corpus.spec.words import BOM

Payloads = Sequence[bytes | None]


class Reader(ABC):
    """Splits the bytes of one transport into payloads."""

    rest_is_lost: bool
    """True if clients of the transport drop an incomplete payload at the end."""

    events: Sequence[str] = ()
    """The event names of the last payloads; empty if the transport has no events."""

    def __init__(self, max_frame_bytes: int) -> None:
        self._limit = max_frame_bytes

    @abstractmethod
    def feed(self, data: bytes) -> Payloads:
        """Take the next bytes, and return the payloads that are now complete."""

    def frames_of(self, payloads: Payloads) -> Payloads:
        """Return the payloads that are frames, without blank lines."""
        return payloads

    @abstractmethod
    def remaining_payloads(self) -> Payloads:
        """Return the payloads that remain if the stream ends here. The state of the reader stays the same."""

    @property
    @abstractmethod
    def is_over_limit(self) -> bool:
        """True if the incomplete payload is already too large."""


class NdjsonReader(Reader):
    """Newline-delimited JSON: one frame per line (SPECIFICATION 4.2.4.1).

    A line ends with LF or CR LF; the last line may end with the stream. Blank lines are not frames.
    """

    rest_is_lost = False

    def __init__(self, max_frame_bytes: int) -> None:
        super().__init__(max_frame_bytes)
        self._held = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> Payloads:
        cut = data.rfind(b"\n")
        if cut < 0:
            self._hold(data)
            return []
        block, too_long = data[:cut], self._too_long
        if self._held:
            block = bytes(self._held) + block
            self._held.clear()
        self._too_long = False
        if cut + 1 < len(data):
            self._hold(data[cut + 1 :])
        lines = block.split(b"\n")
        if too_long:
            return [None, *self._replace_long_lines(lines[1:])]
        return self._replace_long_lines(lines) if len(block) > self._limit else lines

    def frames_of(self, payloads: Payloads) -> Payloads:
        return [payload for payload in payloads if payload is None or not (payload == b"" or payload.isspace())]

    def remaining_payloads(self) -> Payloads:
        if self._too_long:
            return [None]
        return self._replace_long_lines([bytes(self._held)] if self._held else [])

    @property
    def is_over_limit(self) -> bool:
        return self._too_long

    def _hold(self, data: bytes) -> None:
        if self._too_long:
            return
        self._held += data
        if len(self._held) > self._limit + 1:  # the last byte may be the CR of CR LF
            self._held.clear()
            self._too_long = True

    def _replace_long_lines(self, lines: list[bytes]) -> Payloads:
        return [line if len(line) - line.endswith(b"\r") <= self._limit else None for line in lines]


class SseReader(Reader):
    """Server-sent events: one frame in the ``data`` of each event (SPECIFICATION 4.2.4.2).

    The rules of the HTML standard: Lines end with LF, CR LF or CR. One byte order mark may come first. Lines that begin
    with a colon are comments. The ``data`` lines of an event are joined with LF. Events without ``data``, the fields
    ``id`` and ``retry``, and unknown fields are ignored. An event without its final blank line is dropped.
    """

    rest_is_lost = True

    def __init__(self, max_frame_bytes: int) -> None:
        super().__init__(max_frame_bytes)
        self._begun = False
        self._after_cr = False
        self._line = bytearray()
        self._line_is_too_long = False
        self._data = bytearray()
        self._size = -1
        self._event = ""

    def feed(self, data: bytes) -> Payloads:
        payloads: list[bytes | None] = []
        events: list[str] = []
        self.events = events
        for line in self._split_lines(data):
            if not line:
                if self._size >= 0:
                    payloads.append(bytes(self._data) if self._size <= self._limit else None)
                    events.append(self._event)
                self._data.clear()
                self._size, self._event = -1, ""
            elif line[0] != _COLON:
                self._read_field(line)
        return payloads

    def remaining_payloads(self) -> Payloads:
        ended = SseReader(self._limit)
        ended.__dict__.update(self.__dict__, _line=bytearray(self._line), _data=bytearray(self._data))
        rest = ended.feed(b"\n\n")
        self.events = ended.events
        return rest

    @property
    def is_over_limit(self) -> bool:
        return self._line_is_too_long or self._size > self._limit

    def _split_lines(self, data: bytes) -> list[bytes]:
        if not self._begun:
            data = bytes(self._line) + data
            self._line.clear()
            if len(data) < len(BOM) and BOM.startswith(data):
                self._line += data
                return []
            self._begun = True
            data = data.removeprefix(BOM)
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        lines = data.splitlines()
        if not lines:
            return []
        self._after_cr = data.endswith(b"\r")
        last = b"" if data.endswith((b"\n", b"\r")) else lines.pop()
        if lines and (self._line or self._line_is_too_long):
            lines[0] = self._join(lines[0])
        self._hold(last)
        return lines

    def _hold(self, data: bytes) -> None:
        """Keep the beginning of a line; if the line is too long, keep only enough to recognize its field."""
        if not self._line_is_too_long:
            self._line += data
            if len(self._line) > self._limit + _FIELD_BYTES:
                self._line_is_too_long = True
                del self._line[_FIELD_BYTES:]

    def _join(self, end: bytes) -> bytes:
        """Return the line that ends with `end`. If this line is too long, the event counts as too large."""
        self._hold(end)
        line = bytes(self._line)
        if self._line_is_too_long and line.partition(b":")[0] == b"data":
            self._size = self._limit
        self._line.clear()
        self._line_is_too_long = False
        return line

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            if self._size >= 0:
                value = b"\n" + value
            self._size = max(self._size, 0) + len(value)
            if self._size <= self._limit:
                self._data += value
            else:
                self._data.clear()
        elif name == b"event":
            self._event = value.removeprefix(b" ")[:_FIELD_BYTES].decode(errors="replace")


_COLON = ord(":")
_FIELD_BYTES = 64
