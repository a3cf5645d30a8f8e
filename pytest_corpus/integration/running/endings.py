"""The end of a test, and its observations."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.tracebacks import EscapedException, traceback_of
from pytest_corpus.evidence.recorder import RecordedTest
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation
from pytest_corpus.redaction import mask_secrets, secret_values
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.verdict.ledger import Outcome, TestRecord


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a test's body: `raised` is the exception for pytest, `violation` the cause of the outcome."""

    outcome: Outcome = "not_assessed"
    undecided: Undecided | None = None
    broken_off: str = ""
    raised: BaseException | None = None
    violation: Violation | None = None


UNFINISHED = Ending(undecided=NotAssessed("the test did not finish"))
REPLACED = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the arguments of tests")
NOT_RUN = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the body of tests")


def misled_ending(reason: str, mistake: EscapedException, *, full: bool) -> Ending:
    """Return the end of a test in which an endpoint of the author raised; `full` includes the exception's message."""
    lines = [f"{reason}. Nothing that depends on it is judged.", *traceback_of(mistake, secret_values(os.environ))]
    said = mask_secrets(mistake.message, secret_values(os.environ)) if full else ""
    text = "\n  ".join([*lines, f"{mistake.type}{f': {said}' if said else ''}"])
    return Ending("not_assessed", NotAssessed(reason), reason, pytest.fail.Exception(text, pytrace=False))


@dataclass(slots=True)
class Notes:
    """The observations of a test during its run.

    Attributes:
        secrets: the secrets that the test planted, to be masked.
        editions: the schema versions under which all successful answers are valid.
        made: the exchanges of the test, including `recalled` exchanges of other tests.
    """

    violations: list[Violation] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    editions: frozenset[str] = frozenset(SCHEMA_VERSIONS)
    made: list[Exchange] = field(default_factory=list)
    recalled: set[Exchange] = field(default_factory=set)

    @property
    def judged_exchanges(self) -> Iterator[Exchange]:
        """The exchanges that show the findings."""
        return (exchange for each in self.violations for exchange in each.exchanges)


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of a test: its record, its observations, the raised exception.

    The noted violations belong to the record's findings, in the same order. `recorded` is for the
    transcript; `places` has, for each finding, the place in the transcript of the exchange that shows it.
    """

    record: TestRecord
    notes: Notes
    raised: BaseException | None = None
    recorded: RecordedTest | None = None
    places: tuple[dict[str, Any], ...] = ()
