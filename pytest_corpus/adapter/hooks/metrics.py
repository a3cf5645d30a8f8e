"""A metrics sink that records the adapter's reports (SPECIFICATION 6.4)."""

import time
from typing import Any

from pytest_corpus.adapter.reports import Count, Observation
from pytest_corpus.adapter.scope import Attribution
from pytest_corpus.adapter.snapshot import items_of, snapshot
from pytest_corpus.redaction import list_keys

__all__ = ["Count", "Observation", "RecordingSink"]


class RecordingSink:
    """A `MetricsSink` that keeps all observations and counters in order, and assigns each to its call.

    Attributes:
        attribution: knows the calls of the adapter.
    """

    def __init__(self) -> None:
        self.attribution = Attribution()
        self.observations: list[Observation] = []
        self.counts: list[Count] = []

    def observe(self, *args: Any, **kwargs: Any) -> None:
        """Record ``observe(*, component, op, ms, ok, code="OK", extra=None)``."""
        known, malformed = _match_arguments(args, kwargs, ("component", "op", "ms", "ok"), ("code", "extra"))
        seen = Observation(**known, malformed=malformed, at=time.monotonic())
        self.observations.append(seen)
        if (call := self.attribution.call_of_report(seen)) is not None:
            call.observations.append(seen)

    def counter(self, *args: Any, **kwargs: Any) -> None:
        """Record ``counter(*, component, name, value=1, extra=None)``."""
        known, malformed = _match_arguments(args, kwargs, ("component", "name"), ("value", "extra"))
        count = Count(**known, malformed=malformed, at=time.monotonic())
        self.counts.append(count)
        if (call := self.attribution.call_of_report(count)) is not None:
            call.counts.append(count)

    def forget(self) -> None:
        """Drop all records; calls keep the records that belong to them."""
        self.observations.clear()
        self.counts.clear()


def _match_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    """Return a plain copy of the arguments, and a text about arguments that do not fit the interface."""
    given = {name if type(name) is str else str.__str__(name): value for name, value in kwargs.items()}
    extra = given.pop("extra", None)
    labels = None if extra is None else items_of(extra)
    faults = ["positional arguments"] if args else []
    if missing := [name for name in required if name not in given]:
        faults.append(f"without {', '.join(missing)}")
    if unknown := [name for name in given if name not in required and name not in optional]:
        faults.append(list_keys("unknown argument", unknown))
        given = {name: value for name, value in given.items() if name not in unknown}
    if extra is not None and labels is None:
        faults.append("extra is not a mapping")
    known = {name: snapshot(value) for name, value in given.items()}
    known["extra"] = labels or {}
    return known, "; ".join(faults)
