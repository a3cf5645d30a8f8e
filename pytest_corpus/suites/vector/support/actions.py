"""The actions of a test in the sandboxes of a vector store, which its findings may rest on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.kit.run_state import Actions

WRITING = "writing"
"""Vectors were upserted."""

READING = "reading"
"""A query was sent, to a place that may be empty."""

FILTERING = "filtering"
"""A query or a deletion by a filter was sent."""

RANKING = "ranking"
"""A metric was named for what was written."""


@dataclass(slots=True)
class VectorActions(Actions):
    """The writes and the reads of a test."""

    def note(self, name: str, args: Mapping[str, Any]) -> None:
        """Note a call of an operation in a sandbox."""
        if name == "upsert":
            self.done.add(WRITING)
        if name in ("query", "batch_query"):
            self.done.add(READING)
        if any("filter" in each for each in (args, *args.get("queries", ()))):
            self.done.add(FILTERING)
