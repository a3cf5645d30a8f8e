"""What a run fixes for all components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_corpus.kit.leftovers import PREFIX, Journal
from pytest_corpus.spec.dialects import DIALECTS, Dialect

MAX_NAMESPACES = 10
"""The most namespaces that are held at a time, unless the run is asked for fewer (R115)."""

MIN_NAMESPACES = 3
"""The fewest that a worker holds: tests compare as many."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run fixes: the seed of generated inputs, a pinned schema edition (or None), a name of its own,
    the probe queries of the graph dialects, the seconds after which a write shows (None: to be found out), whether
    a test may take the answer that another one got, the most namespaces that it holds at a time, and what it wrote and
    has not deleted yet."""

    seed: int = 0
    edition: str | None = None
    run: str = "run"
    dialects: Mapping[str, Dialect] = field(default_factory=lambda: DIALECTS)
    settle_s: float | None = None
    remembers: bool = True
    max_namespaces: int = MAX_NAMESPACES
    journal: Journal = field(default_factory=Journal)

    @property
    def prefix(self) -> str:
        """What every name begins with that the suite makes in an adapter's store."""
        return f"{PREFIX}-{self.run}-"
