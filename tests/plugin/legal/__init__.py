"""Legal adapters of another shape than the references, as rows of edits (`edits.py` describes the form).

`[shape]` marks those that the whole suite runs against, `[scope=LLM-*]` says which requirements a difference bears on.
"""

from pathlib import Path
from random import Random
from typing import Any

from edits import Room, Row

from pytest_corpus.reference.llm.adapter import ReferenceLLM

ROOM = Room(Path(__file__).parent, __name__, ReferenceLLM)


APART = ("LongWinded", "KeepsAlive", "Variables", "FoldedLinks", "AwayOnce", "UsageLeftOut")
"""Rows that are not legal by themselves: in one test alone, or with options."""

TOGETHER = 3
"""The number of rows in a combination."""


def __getattr__(name: str) -> type[Any]:
    if name.startswith("combined_"):
        _, component, seed = name.split("_")
        return combined(component, int(seed))
    return ROOM.adapter(name)


def combined(component: str, seed: int) -> type[Any]:
    """An adapter that differs from the reference as several rows of one component do, drawn by a seed."""
    named = [name for file in ROOM.files for name in file.rows if name not in APART and not name.startswith("Closed")]
    rows = [row for row in map(ROOM.adapter, named) if row.component == component]
    chance = Random(seed)
    while True:
        drawn = chance.sample(rows, TOGETHER)
        if not any(one is not other and issubclass(one, other) for one in drawn for other in drawn):
            return type(" and ".join(row.__name__ for row in drawn), tuple(drawn), {})


def marked(file: str, option: str) -> list[Row]:
    """The rows of a file that have an option."""
    return [row for each in ROOM.files if each.path.stem == file for row in each.rows.values() if option in row.options]
