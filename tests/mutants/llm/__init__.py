"""Mistakes of llm adapters, one file per chapter."""

from pathlib import Path
from typing import Any

from edits import Room

from pytest_corpus.reference.llm.adapter import ReferenceLLM

ROOM = Room(Path(__file__).parent, __name__, ReferenceLLM)


def __getattr__(name: str) -> type[Any]:
    return ROOM.adapter(name)
