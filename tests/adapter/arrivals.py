"""An answer in this process as it is after it has travelled."""

from typing import Any

from pytest_corpus.adapter.calls import read_frame
from pytest_corpus.adapter.exchange import Frame
from pytest_corpus.adapter.snapshot import to_bytes


def arrived(answer: Any) -> Frame:
    """An answer, written as bytes and read by the one reader. Raises NotJSON if that fails."""
    return read_frame(to_bytes(answer), 0.0)
