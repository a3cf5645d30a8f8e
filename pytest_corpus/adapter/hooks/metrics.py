"""A metrics sink that records what an adapter reports (SPECIFICATION 6.4)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.snapshot import items_of, snapshot
from pytest_corpus.redaction import listed


@dataclass(slots=True)
class Observation:
    """One call of `observe`, with the interface's defaults filled in.

    `malformed` says what did not fit the interface; such an observation is kept, not refused, because an
    exception raised into the adapter would change the call that is being watched. `at` is when it came, on the
    monotonic clock, and `turn` the turn of the hooks over the wire that it was sent to.
    """

    component: Any = None
    op: Any = None
    ms: Any = None
    ok: Any = None
    code: Any = "OK"
    extra: Mapping[str, Any] = field(default_factory=dict)
    malformed: str = ""
    at: float = field(default=0.0, compare=False, repr=False)
    turn: int | None = field(default=None, compare=False, repr=False)

    def labels(self) -> list[object]:
        """Everything in it that could carry content."""
        return [self.component, self.op, self.code, self.extra]


@dataclass(slots=True)
class Count:
    """One call of `counter`."""

    component: Any = None
    name: Any = None
    value: Any = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    malformed: str = ""
    at: float = field(default=0.0, compare=False, repr=False)
    turn: int | None = field(default=None, compare=False, repr=False)

    def labels(self) -> list[object]:
        """Everything in it that could carry content."""
        return [self.component, self.name, self.extra]


class RecordingSink:
    """A `MetricsSink` that keeps every observation and counter, in order. It is truthy."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.counts: list[Count] = []
        self.turn: int | None = None

    def observe(self, *args: Any, **kwargs: Any) -> None:
        """Record ``observe(*, component, op, ms, ok, code="OK", extra=None)``."""
        known, malformed = _fit(args, kwargs, ("component", "op", "ms", "ok"), ("code", "extra"))
        self.observations.append(Observation(**known, malformed=malformed, at=time.monotonic(), turn=self.turn))

    def counter(self, *args: Any, **kwargs: Any) -> None:
        """Record ``counter(*, component, name, value=1, extra=None)``."""
        known, malformed = _fit(args, kwargs, ("component", "name"), ("value", "extra"))
        self.counts.append(Count(**known, malformed=malformed, at=time.monotonic(), turn=self.turn))


def _fit(
    args: tuple[Any, ...], kwargs: dict[str, Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    """A plain copy of what the interface knows, and what did not fit it."""
    given = {name if type(name) is str else str.__str__(name): value for name, value in kwargs.items()}
    extra = given.pop("extra", None)
    labels = None if extra is None else items_of(extra)
    faults = ["positional arguments"] if args else []
    if missing := [name for name in required if name not in given]:
        faults.append(f"without {', '.join(missing)}")
    if unknown := [name for name in given if name not in required and name not in optional]:
        faults.append(listed("unknown argument", unknown))
        given = {name: value for name, value in given.items() if name not in unknown}
    if extra is not None and labels is None:
        faults.append("extra is not a mapping")
    known = {name: snapshot(value) for name, value in given.items()}
    known["extra"] = labels or {}
    return known, "; ".join(faults)
