"""Mistakes of vector adapters, one file per chapter."""

from pathlib import Path
from typing import Any

from edits import Room

from pytest_corpus.reference.vector.adapter import ReferenceVector

ROOM = Room(Path(__file__).parent, __name__, ReferenceVector)


def __getattr__(name: str) -> type[Any]:
    return ROOM.adapter(name)
