"""Shows the progress of a run in a line below pytest's output, if a person watches it in a terminal."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import suppress

import pytest

BAR = 24  # the characters of the bar
EVERY_S = 0.1  # the shortest time between two changes of the line

Hook = Generator[None, object, object]

ABOVE, CLEARED = "\x1b[1A", "\r\x1b[2K"
"""Terminal sequences that move the cursor one line up, and clear its line."""


class ProgressBar:
    """Draws a line below pytest's current line, and removes it before pytest writes again.

    It writes directly to the terminal, so pytest does not capture, count or copy it.
    """

    def __init__(self, config: pytest.Config, text: Callable[[], str]) -> None:
        self._writer, self._text = config.get_terminal_writer(), text
        self._terminal: int | None = None
        self._made, self._line, self._is_shown = 0.0, "", False
        with suppress(OSError):  # the process has no terminal
            self._terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)

    def _put_line(self, line: str) -> None:
        """Write a text below the current line, and move the cursor back."""
        column = self._writer.width_of_current_line
        back = f"{ABOVE}\r" + (f"\x1b[{column}C" if column else "")
        if self._terminal is not None:
            with suppress(OSError):
                os.write(self._terminal, f"\n{CLEARED}{line}{back}".encode())

    def remove(self) -> None:
        """Clear the line, if it is shown."""
        if self._is_shown:
            self._put_line("")
            self._is_shown = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def _hide_during_hook(self) -> Hook:
        self.remove()
        result = yield
        now = time.monotonic()
        if not self._line or now - self._made >= EVERY_S:
            self._made, self._line = now, self._text()
        if self._line:
            self._put_line(self._line[: self._writer.fullwidth - 1])
            self._is_shown = True
        return result

    pytest_runtest_logstart = pytest_runtest_logreport = pytest_runtest_logfinish = _hide_during_hook

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self.remove()

    def pytest_unconfigure(self) -> None:
        self.remove()
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None


def draw_bar(done: int, total: int) -> str:
    """Return the fraction of finished tests as a bar of characters."""
    full = BAR * done // total if total else 0
    return "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * full + "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (BAR - full)
