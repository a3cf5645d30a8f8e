"""What the instances of a component have in common in a run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import MISSING, dataclass, field, fields
from itertools import count
from typing import Any, ClassVar

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.deeds import Deeds
from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.settling import Settle

_NUMBERS = count(1)


@dataclass(slots=True)
class Shared:
    """What was found out of an adapter: the same for an instance and all that replace it.

    Attributes:
        obstacles: by operation, why it cannot be relied on; None where it can.
        deeds: what the current test did.
        settle: how long writes take to be seen, and where something was written.
        known: what was learnt, with the exchanges that showed it (`kit/memory.py`).
        provider_ops: by operation, the ops at which a plain request reaches the provider.
    """

    learnt: ClassVar[tuple[str, ...]] = ("obstacles", "provider_ops", "known")
    """What a failing provider can have made wrong."""

    settle: Settle = field(default_factory=Settle)
    deeds: Deeds = field(default_factory=Deeds)
    obstacles: dict[str, Undecided | None] = field(default_factory=dict)
    provider_ops: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: dict[Hashable, tuple[Any, list[Exchange]]] = field(default_factory=dict)

    def unlearn(self) -> None:
        """Forget what was found out of the adapter while its provider failed: it is found out again."""
        for each in fields(self):
            if each.name in self.learnt:
                empty = each.default if each.default_factory is MISSING else each.default_factory()
                setattr(self, each.name, empty)

    def number(self) -> int:
        """A number that was not given before, to no other adapter of the run either: they may share a provider."""
        return next(_NUMBERS)
