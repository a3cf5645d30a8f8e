"""The end of a test, and what was seen while it ran."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.evidence.recorder import RecordedTest
from pytest_corpus.integration.running.evidence import Sighting
from pytest_corpus.kit.outcomes import NotAssessed, Undecided
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.verdict.ledger import Outcome, TestRecord


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a test's body: `raised` is the exception that pytest gets, `sighting` the cause of the outcome."""

    outcome: Outcome = "not_assessed"
    undecided: Undecided | None = None
    broken_off: str = ""
    raised: BaseException | None = None
    sighting: Sighting | None = None


UNFINISHED = Ending(undecided=NotAssessed("the test did not finish"))
REPLACED = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the arguments of tests")
NOT_RUN = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the body of tests")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a test: its record, how each finding was seen, the secrets to mask, the exception raised.

    `recorded` is for the transcript, and `places` the place of the exchange there that shows each finding.
    """

    record: TestRecord
    sightings: tuple[Sighting, ...] = ()
    secrets: frozenset[str] = frozenset()
    raised: BaseException | None = None
    recorded: RecordedTest | None = None
    places: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True)
class Observed:
    """The observations of a test, collected while it runs."""

    sightings: list[Sighting] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    editions: frozenset[str] = frozenset(EDITIONS)
    made: list[Exchange] = field(default_factory=list)
    recalled: set[Exchange] = field(default_factory=set)

    @property
    def judged(self) -> Iterator[Exchange]:
        """The exchanges that show the findings."""
        return (exchange for each in self.sightings for exchange in each.violation.exchanges)
