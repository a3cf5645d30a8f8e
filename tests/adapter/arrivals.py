"""What an answer in this process is after it has travelled."""

from __future__ import annotations

from typing import Any

from pytest_corpus.adapter.exchange import Frame
from pytest_corpus.adapter.plain import to_bytes
from pytest_corpus.adapter.reading import read_frame


def arrived(answer: Any) -> Frame:
    """An answer, written as bytes and read by the one reader.

    Raises:
        NotJSON: it cannot be written, or not be read.
    """
    return read_frame(to_bytes(answer), 0.0)
