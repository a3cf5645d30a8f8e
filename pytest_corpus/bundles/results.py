"""The result of a case, in the form that processes exchange: numbers, ids, and content only on request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pytest_corpus.text.values import to_json_value

PASSED, FAILED, ERROR = "passed", "failed", "error"
NOT_ASKED = "not_asked"
"""The status of a case that did not run, because the thresholds were decided without it."""

NO_SCORES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a sample did not pass.

    Attributes:
        kind: schema, invariant, expected, scorer, provider or budget.
        shape: the explanation without content.
        full: the explanation with content; empty if it would be the same.
    """

    kind: str
    shape: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class CaseContent:
    """The prompts and the answer of one sample."""

    prompt: str
    system: str | None = None
    output: str | None = None
    expected: str | None = None
    remarks: tuple[str, ...] = ()
    """The explanations that judges gave for their scores."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The calls of a provider, their tokens, and their cost by the bundle's prices; None if unknown."""

    calls: int = 0
    tokens: int | None = None
    cost: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of this usage and another one."""
        return Usage(self.calls + other.calls, _sum(self.tokens, other.tokens), _sum(self.cost, other.cost))


def _sum(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other


@dataclass(frozen=True)
class ScorerResult:
    """The result of a scorer that asks a provider: the score, the agreement of several grades, their explanations."""

    score: float
    agreement: float | None = None
    remarks: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.score


class NotScored(Exception):
    """Raised if the provider of a scorer gives no answer."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.shape)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer of a case with its verdict, or the reason why there is no answer.

    Only the last attempt counts for the latency, which is in milliseconds.
    """

    status: str
    reasons: tuple[Reason, ...] = ()
    notes: tuple[str, ...] = ()
    schema_valid: bool | None = None
    expected_met: bool | None = None
    latency_ms: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    finish_reason: str = ""
    attempts: int = 0
    from_cache: bool = False
    extra: bool = False
    """True if the sample was only requested because earlier samples did not decide the case. Rates leave it out."""

    scores: Mapping[str, float] = field(default_factory=lambda: NO_SCORES)
    cost: float | None = None
    """The cost of the answer by the bundle's prices."""

    judging: Usage | None = None
    """The calls, tokens and cost of the scorers."""

    content: CaseContent | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case, with all its samples."""

    case: str
    status: str
    samples: tuple[Sample, ...] = ()
    reasons: tuple[Reason, ...] = ()
    """The reasons why the case did not pass, without the reasons of its samples."""

    calls: int = 0
    cassette: str = ""
    """"replayed", "recorded" or empty."""

    seconds: float = 0.0
    """The duration of the case, without the time of replayed answers."""

    @property
    def every_reason(self) -> list[Reason]:
        """The reasons of the case and of its samples, without duplicates."""
        found = [reason for sample in self.samples for reason in sample.reasons]
        return list(dict.fromkeys((*self.reasons, *found)))

    @property
    def numbers(self) -> dict[str, Any]:
        """The result as a JSON value without content, which `from_json_value` converts back."""
        found: dict[str, Any] = to_json_value(self, ("content", "full"))
        return found


def lost_result(case: str) -> CaseResult:
    """Return the result of a case whose process ended before the case."""
    said = "the process that asked ended before it had an answer; the case is not asked again"
    return CaseResult(case, ERROR, reasons=(Reason("provider", said),), calls=1)
