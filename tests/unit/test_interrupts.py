"""A run that is interrupted between two lines of code."""

import sys
from types import FrameType, TracebackType

import pytest

from pytest_corpus.integration.concluding.conclusion_hooks import ConclusionHooks


def frame() -> FrameType:
    """A frame of a function of which some instructions have no line: those that clean up."""
    try:
        return sys._getframe()
    finally:
        repr("")


def test_a_frame_without_a_line_is_left_out() -> None:
    """pytest shows the rest of what was interrupted: it fails where a frame has no line."""
    nowhere = [2 * at for at, (line, *_) in enumerate(frame.__code__.co_positions()) if line is None]
    if not nowhere:
        pytest.skip("this Python knows a line of each instruction")
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interrupt:
        interrupt.__traceback__ = TracebackType(interrupt.__traceback__, frame(), nowhere[-1], -1)
        excinfo = pytest.ExceptionInfo.from_exception(interrupt)
    ConclusionHooks.pytest_keyboard_interrupt(None, excinfo)  # type: ignore[arg-type]
    assert "raise KeyboardInterrupt" in str(excinfo.getrepr())
