"""The result of a case, in the form that processes exchange: numbers, ids, and content only on request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pytest_corpus.text.values import to_json_value

PASSED, FAILED, ERROR = "passed", "failed", "error"
NOT_ASKED = "not_asked"
"""The status of a case that was not asked because the thresholds were decided without it."""

NO_SCORES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a sample did not pass. `kind` is schema, invariant, expected, scorer or provider.

    `shape` explains it without content, `full` with content.
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
    """The reasons of judges."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of a provider: its token counts, and the cost by the bundle's prices. None means unknown."""

    calls: int = 0
    tokens: int | None = None
    cost: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both uses."""
        return Usage(self.calls + other.calls, _sum(self.tokens, other.tokens), _sum(self.cost, other.cost))


def _sum(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other


@dataclass(frozen=True)
class Scored:
    """The score of a scorer that asks a provider, the agreement of its samples, and their reasons."""

    score: float
    agreement: float | None = None
    remarks: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.score


class NotScored(Exception):
    """A scorer whose provider gave no answer."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.shape)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer of a case, or the reason why it is missing. Times are in milliseconds, of the last attempt only."""

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
    """Asked only because the samples before did not decide its case, and so no fair sample of the answers."""

    scores: Mapping[str, float] = field(default_factory=lambda: NO_SCORES)
    cost: float | None = None
    """The cost of the answer by the bundle's prices."""

    judging: Usage | None = None
    """The use of providers by scorers."""

    content: CaseContent | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case, with all its samples."""

    case: str
    status: str
    samples: tuple[Sample, ...] = ()
    reasons: tuple[Reason, ...] = ()
    """Reasons of the case besides those of its samples."""

    calls: int = 0
    cassette: str = ""
    """replayed, recorded, or nothing."""

    seconds: float = 0.0
    """The time that it took, as far as answers that were kept say so."""

    @property
    def every_reason(self) -> list[Reason]:
        """Return the reasons why the case did not pass, each once."""
        found = [reason for sample in self.samples for reason in sample.reasons]
        return list(dict.fromkeys((*self.reasons, *found)))

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the result as a short JSON value without content; `from_json_value` reads this value."""
        found: dict[str, Any] = to_json_value(self, ("content", "full"))
        return found


def lost_result(case: str) -> CaseResult:
    """Return the result of a case whose process ended before the case did."""
    said = "the process that asked ended before it had an answer; the case is not asked again"
    return CaseResult(case, ERROR, reasons=(Reason("provider", said),), calls=1)
