"""Legal adapters of another shape than the references, as rows of edits (`edits.py` describes the form).

`[shape]` marks those that the whole suite runs against, `[scope=LLM-*]` says which requirements a difference bears on.
"""

from pathlib import Path
from typing import Any

from edits import Room, Row

from pytest_corpus.reference.llm.adapter import ReferenceLLM

ROOM = Room(Path(__file__).parent, __name__, ReferenceLLM)


def __getattr__(name: str) -> type[Any]:
    return ROOM.adapter(name)


def marked(file: str, option: str) -> list[Row]:
    """The rows of a file that have an option."""
    return [row for each in ROOM.files if each.path.stem == file for row in each.rows.values() if option in row.options]
