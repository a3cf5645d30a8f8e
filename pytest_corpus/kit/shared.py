"""What the instances of a component have in common in a run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.deeds import Deeds
from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.settling import Settle


@dataclass(slots=True)
class Shared:
    """What was found out of an adapter, and how much was made: the same for an instance and all that replace it.

    Attributes:
        made: how many names were made, so that each is new.
        obstacles: by operation, why it cannot be relied on; None where it can.
        deeds: what the current test did.
        settle: how long writes take to be seen, and where something was written.
        known: what was learnt, with the exchanges that showed it (`kit/memory.py`).
        provider_ops: by operation, the ops at which a plain request reaches the provider.
    """

    made: int = 0
    settle: Settle = field(default_factory=Settle)
    deeds: Deeds = field(default_factory=Deeds)
    obstacles: dict[str, Undecided | None] = field(default_factory=dict)
    provider_ops: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: dict[Hashable, tuple[Any, list[Exchange]]] = field(default_factory=dict)

    def number(self) -> int:
        """A number that was not given before."""
        self.made += 1
        return self.made
