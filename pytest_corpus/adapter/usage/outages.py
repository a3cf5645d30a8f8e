"""The record of how a provider's outages show, the same for all components and instances of one adapter."""

import time
from dataclasses import dataclass, field

from pytest_corpus.adapter import inputs


@dataclass(slots=True)
class Outages:
    """Calls that failed although they may be made again, and since when.

    Attributes:
        worked: the operations that succeeded in this run, capabilities and health apart.
        interruptions: how many unplanned retryable answers were not the adapter's own.
        began: when the last call began that failed so, on the monotonic clock.
        clock: when it failed, as a time of day such as ``14:03:12``; empty before the first failure.
        waited_s: the seconds that this run has waited for the provider.
        own: the operations that answer some requests so although a plain call works, and how often that was seen.
        lasting: the provider did not come back, so no more calls are made.
        never: waiting does not help: a new instance of the adapter works, or nothing ever worked.
    """

    worked: dict[str, None] = field(default_factory=dict)
    interruptions: int = 0
    began: float = 0.0
    clock: str = ""
    waited_s: float = 0.0
    own: dict[str, int] = field(default_factory=dict)
    lasting: bool = False
    never: bool = False

    def begin(self, began: float) -> None:
        """Note that a call failed that began at a time of the monotonic clock."""
        self.began, self.clock = began, inputs.read("clock", lambda: time.strftime("%H:%M:%S"))

    @property
    def said(self) -> str:
        """The outage in a few words, for a person."""
        return f"the provider {'has been unavailable since' if self.lasting else 'was unavailable at'} {self.clock}"
