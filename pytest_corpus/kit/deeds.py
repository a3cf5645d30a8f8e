"""What a test did: what a finding of it may rest on."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Deeds:
    """What the current test did with what it keeps in the adapter, in words of the component.

    Sandboxes note it; `RootCauses` reads it. Components that keep nothing have nothing to note.
    """

    done: set[str] = field(default_factory=set)

    def forget(self) -> None:
        """Begin anew, for another test."""
        self.done.clear()
