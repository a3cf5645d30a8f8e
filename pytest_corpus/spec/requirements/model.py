"""The shape of a catalogue entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_corpus.spec.components import COMPONENTS

Level = Literal["MUST", "SHOULD", "MAY"]

HOOKS = ("metrics", "provider")
"""What a requirement may need that a factory asks for by its name."""

LOGS = "logs"
"""What a requirement needs that rests on log records: an adapter whose records can be heard (R74)."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable sentence of the documents.

    Attributes:
        id: stable name, e.g. ``LLM-STREAM-1``; ``COM-...`` for what several components share.
        level: how binding the sentence is.
        text: the sentence in our own words.
        source: document and section of every passage it rests on, rulings (``R7``) included.
        needs: what must be there to test it: the hooks ``metrics`` and ``provider``, ``logs`` that can be
            heard, a way of `spec/transports.py` to the adapter, or the name of a capability flag that must not be
            false.
        components: the components it speaks of.
        hint: what an author usually has to change.
    """

    id: str
    level: Level
    text: str
    source: tuple[str, ...]
    needs: tuple[str, ...] = ()
    components: tuple[str, ...] = COMPONENTS
    hint: str = ""

    @property
    def chapter(self) -> str:
        """The id without its number, e.g. ``LLM-STREAM``."""
        return self.id.rpartition("-")[0]
