"""What an adapter outside this process sends beside its answers: headers, and what it writes to standard error."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

MAX_LINES = 1_000
MAX_LINE = 4_096
"""So many of the latest lines are kept, and so many characters of each."""


class Beside:
    """Collects texts until they are taken, and remembers the latest lines of standard error."""

    def __init__(self) -> None:
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
        lines, headers = tuple(self._lines), tuple(self._headers)
        self._lines.clear()
        self._headers.clear()
        return lines, headers
