"""What the tests of a chapter are about, as the run sees it: a component of an adapter, or a client library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.usage.outages import Outages
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.spec.requirements import Requirement


class Target(Protocol):
    """What every test begins and ends with."""

    @property
    def clients(self) -> list[AdapterClient]:
        """Every instance of an adapter that the current test speaks to."""

    @property
    def calls(self) -> int:
        """How often the adapter was called so far, in all tests."""

    editions: set[str]
    """The schema editions that everything that was successful in the current test is valid under."""

    @property
    def outages(self) -> Outages:
        """When the provider behind the adapter was away."""

    @property
    def disturbances(self) -> int:
        """How often something failed for a reason that may pass: in all tests, and in answers of the current one."""

    @property
    def settle_s(self) -> float | None:
        """The seconds after which a write shows (R46); None where nothing that was written was looked at."""

    @property
    def missed_s(self) -> float:
        """How many seconds a plain write was looked for that did not show at all; 0 where all of them showed."""

    def gate(self, requirement: Requirement) -> None:
        """Go on only where what a requirement needs is there.

        Raises:
            Undecided: it is not.
        """

    def audit(self) -> Iterator[tuple[str, Violation, Exchange]]:
        """What everything that was exchanged in the current test breaks, whatever it was asked for."""

    def begin(self, *, unlearn: bool = False) -> None:
        """Forget what the test before did; `unlearn`: also what was found out of the adapter."""

    def close_fresh(self) -> None:
        """Close what was opened for the current test alone."""

    def tidy(self) -> None:
        """Remove what the tests left behind."""
