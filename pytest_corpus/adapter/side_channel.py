"""The headers and the standard error of an adapter outside this process."""

import os
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MAX_LINES = 1_000
MAX_LINE = 4_096
"""The number of latest lines that are kept, and of characters of each."""


SETTLE_S = 0.02
"""The time after an answer in which a line still belongs to the call."""

MAX_READ = 4 * 2**20


class SideChannel:
    """Collects texts until they are taken, and remembers the latest lines of standard error.

    Args:
        log: a file that the adapter writes its log to; what it adds from now on counts.
    """

    def __init__(self, log: Path | None = None) -> None:
        self._log, self._at = log, 0
        if log is not None:
            with suppress(OSError):
                self._at = log.stat().st_size
        self.latest: deque[str] = deque(maxlen=20)
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._headers: deque[str] = deque(maxlen=MAX_LINES)

    def line(self, text: str) -> None:
        """Note a line of standard error."""
        self.latest.append(text[:200])
        self._lines.append(text[:MAX_LINE])

    def headers(self, values: Iterable[str]) -> None:
        """Note the headers of an answer."""
        self._headers.extend(value[:MAX_LINE] for value in values)

    def take(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines and the headers that came since the last time."""
        self._read_log()
        lines, headers = tuple(self._lines), tuple(self._headers)
        self._lines.clear()
        self._headers.clear()
        return lines, headers

    def _read_log(self) -> None:
        if self._log is None:
            return
        with suppress(OSError), self._log.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._at:  # begun anew
                self._at = 0
            file.seek(self._at)
            data = file.read(MAX_READ)
            self._at = file.tell()
            for line in data.decode("utf-8", "replace").splitlines():
                self.line(line)
