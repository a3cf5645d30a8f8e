"""The end of a test, and the observations during it."""

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
    """The end of a test's function.

    Attributes:
        undecided: the reason why the test has no result, if it has none.
        broken_off: the reason why another plugin or an error ended the test; otherwise empty.
        raised: the exception for pytest, or None.
        violation: the violation that determined the outcome, or None.
    """

    outcome: Outcome = "not_assessed"
    undecided: Undecided | None = None
    broken_off: str = ""
    raised: BaseException | None = None
    violation: Violation | None = None


UNFINISHED = Ending(undecided=NotAssessed("the test did not finish"))
REPLACED = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the arguments of tests")
NOT_RUN = Ending(undecided=UNFINISHED.undecided, broken_off="another plugin replaced the body of tests")


def ending_after_mistake(reason: str, mistake: EscapedException, *, full: bool) -> Ending:
    """Return the end of a test during which an endpoint written by the adapter's author raised an exception.

    If `full`, the exception's message is included.
    """
    lines = [f"{reason}. Nothing that depends on it is judged.", *traceback_of(mistake, secret_values(os.environ))]
    said = mask_secrets(mistake.message, secret_values(os.environ)) if full else ""
    text = "\n  ".join([*lines, f"{mistake.type}{f': {said}' if said else ''}"])
    return Ending("not_assessed", NotAssessed(reason), reason, pytest.fail.Exception(text, pytrace=False))


@dataclass(slots=True)
class Notes:
    """The observations during a test.

    Attributes:
        secrets: the secrets that the test sent, which must be masked.
        editions: the schema versions under which all successful answers are valid.
        made: the exchanges of the test, including `recalled` ones that other tests made.
    """

    violations: list[Violation] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    editions: frozenset[str] = frozenset(SCHEMA_VERSIONS)
    made: list[Exchange] = field(default_factory=list)
    recalled: set[Exchange] = field(default_factory=set)

    @property
    def judged_exchanges(self) -> Iterator[Exchange]:
        """The exchanges that show the violations."""
        return (exchange for each in self.violations for exchange in each.exchanges)


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of a test.

    Attributes:
        notes: the observations. Their violations have the same order as the findings in `record`.
        raised: the exception for pytest, or None.
        recorded: the requests and answers for the transcript.
        positions: for each finding, the position in the transcript of the exchange that shows it.
    """

    record: TestRecord
    notes: Notes
    raised: BaseException | None = None
    recorded: RecordedTest | None = None
    positions: tuple[dict[str, Any], ...] = ()
