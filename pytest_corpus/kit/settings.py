"""What a run fixes for all components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_corpus.spec.dialects import DIALECTS, Dialect


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run fixes: the seed of generated inputs, a pinned schema edition (or None), a name of its own,
    the probe queries of the graph dialects, the seconds after which a write shows (None: to be found out), and whether
    a test may take the answer that another one got."""

    seed: int = 0
    edition: str | None = None
    run: str = "run"
    dialects: Mapping[str, Dialect] = field(default_factory=lambda: DIALECTS)
    settle_s: float | None = None
    remembers: bool = True
