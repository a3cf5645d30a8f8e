"""What the tests of a chapter are about, as the run sees it: a component of an adapter, or a client library."""

from __future__ import annotations

from typing import Protocol

from pytest_corpus.adapter.client import AdapterClient


class Target(Protocol):
    """What every test begins and ends with."""

    @property
    def clients(self) -> list[AdapterClient]:
        """Every instance of an adapter that the current test speaks to."""

    def begin(self) -> None:
        """Forget what the test before did."""

    def close_fresh(self) -> None:
        """Close what was opened for the current test alone."""

    def tidy(self) -> None:
        """Remove what the tests left behind."""
