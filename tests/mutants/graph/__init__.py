"""Mistakes of graph adapters, one file per chapter."""

from pathlib import Path
from typing import Any

from edits import Room

from pytest_corpus.reference.graph.adapter import ReferenceGraph

ROOM = Room(Path(__file__).parent, __name__, ReferenceGraph)


def __getattr__(name: str) -> type[Any]:
    return ROOM.adapter(name)
