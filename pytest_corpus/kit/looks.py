"""Whether a test looked at anything at all: only then does it say that a requirement is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TAKEN: ContextVar[int] = ContextVar("looks", default=0)


def look() -> None:
    """Note that something was looked at which could have been wrong."""
    _TAKEN.set(_TAKEN.get() + 1)


@contextmanager
def counted() -> Iterator[Callable[[], int]]:
    """How many looks are taken from here on."""
    before = _TAKEN.set(0)
    try:
        yield _TAKEN.get
    finally:
        _TAKEN.reset(before)


@contextmanager
def aside() -> Iterator[None]:
    """What is looked at here is not what the test is about."""
    with counted():
        yield
