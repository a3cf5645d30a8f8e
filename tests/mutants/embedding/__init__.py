"""Mistakes of embedding adapters, one file per chapter."""

from pathlib import Path
from typing import Any

from edits import Room

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding

ROOM = Room(Path(__file__).parent, __name__, ReferenceEmbedding)


def __getattr__(name: str) -> type[Any]:
    return ROOM.adapter(name)
