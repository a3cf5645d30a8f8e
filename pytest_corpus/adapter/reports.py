"""The reports that an adapter sends through the hooks: observations, counters, arrivals at its provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.spec.words import STREAM_OUTCOME

CLOCKS_MS = 50
"""The tolerance for the difference of the suite's clock and the adapter's, in milliseconds (R116)."""


@dataclass(slots=True)
class Observation:
    """One call of `observe`, with the interface's defaults filled in.

    `malformed` describes arguments that do not fit the interface. Such an observation is kept, because an exception
    raised into the adapter would change the call. `at` is the time of the observation on the monotonic clock.
    """

    component: Any = None
    op: Any = None
    ms: Any = None
    ok: Any = None
    code: Any = "OK"
    extra: Mapping[str, Any] = field(default_factory=dict)
    malformed: str = ""
    at: float = field(default=0.0, compare=False, repr=False)

    def labels(self) -> list[object]:
        """Return the parts of the observation in which content may occur."""
        return [self.component, self.op, self.code, self.extra]


@dataclass(slots=True)
class Count:
    """One call of `counter`; its members are as in `Observation`."""

    component: Any = None
    name: Any = None
    value: Any = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    malformed: str = ""
    at: float = field(default=0.0, compare=False, repr=False)

    def labels(self) -> list[object]:
        """Return the parts of the count in which content may occur."""
        return [self.component, self.name, self.extra]

    @property
    def is_outcome(self) -> bool:
        """True if the count reports the final outcome of a stream."""
        return str(self.name).endswith(STREAM_OUTCOME)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One call of `reached`, which an adapter makes when it calls its provider.

    Attributes:
        chunk: the number of the chunk; None if an operation arrived.
        facts: the members of the context that were passed on, `traceparent` and `deadline_ms`; they may be null.
    """

    op: str
    facts: Mapping[str, Any]
    chunk: Any = None
