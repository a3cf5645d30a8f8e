"""The metrics of a bundle, and their thresholds (R83)."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_corpus.bundles.results import ERROR, PASSED, CaseResult, Sample

RATES = ("pass_rate", "schema_valid_rate", "error_rate", "expected_match_rate")
LATENCIES = ("avg_latency_ms", "max_latency_ms", "p95_latency_ms")
TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")

_PASS_AT = re.compile(r"pass_at_([1-9]\d*)")

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


def names(samples: int, scorers: Iterable[str]) -> list[str]:
    """The metrics that a bundle has."""
    several = [f"pass_at_{number}" for number in range(1, samples + 1)]
    return [*RATES, *LATENCIES, *TOKENS, *several, *(f"score_{name}" for name in scorers)]


def is_rate(name: str) -> bool:
    """True for metrics from 0 to 1."""
    return name in RATES or _PASS_AT.fullmatch(name) is not None


def measure(results: Sequence[CaseResult], total: int, wanted: Iterable[str]) -> dict[str, float | None]:
    """The metrics of a bundle; None where there is no data.

    Args:
        results: those of the cases that have one.
        total: how many cases there are: a case without a result has an error and has not passed.
    """
    return {name: _metric(name, results, total) for name in wanted}


def _metric(name: str, results: Sequence[CaseResult], total: int) -> float | None:
    samples = [sample for result in results for sample in result.samples]
    if name == "pass_rate":
        return _share(sum(result.status == PASSED for result in results), total)
    if name == "error_rate":
        return _share(total - len(results) + sum(result.status == ERROR for result in results), total)
    if name == "schema_valid_rate":
        return _mean_of([sample.schema_valid for sample in samples])
    if name == "expected_match_rate":
        return _mean_of([sample.expected_met for sample in samples])
    if name in LATENCIES:
        return _latency(name, [each.latency_ms for each in samples if each.latency_ms is not None])
    if name in TOKENS:
        given = [number for sample in samples if (number := getattr(sample, name)) is not None]
        return float(sum(given)) if given else None
    if several := _PASS_AT.fullmatch(name):
        return _pass_at(int(several[1]), results, total)
    scores = [sample.scores[key] for sample in samples if (key := name.removeprefix("score_")) in sample.scores]
    return fmean(scores) if scores else None


def _share(number: float, whole: int) -> float | None:
    return number / whole if whole else None


def _mean_of(found: Iterable[bool | None]) -> float | None:
    given = [each for each in found if each is not None]
    return _share(sum(given), len(given))


def _latency(name: str, times: list[float]) -> float | None:
    if not times:
        return None
    p95 = sorted(times)[math.ceil(0.95 * len(times)) - 1]
    return {"avg_latency_ms": fmean(times), "max_latency_ms": max(times)}.get(name, p95)


def _pass_at(count: int, results: Sequence[CaseResult], total: int) -> float | None:
    """The mean chance that one of `count` samples passes, of those that did not come from a cache.

    A case without a result has none, and what a case with an error was not asked any more did not pass. There is no
    data where a case has fewer samples than `count` for another reason.
    """
    chances = []
    for result in results:
        own = independent(result.samples)
        passed = sum(sample.status == PASSED for sample in own)
        size = max(len(own), count) if result.status == ERROR else len(own)
        if size < count:
            return None
        chances.append(1 - math.comb(size - passed, count) / math.comb(size, count))
    return _share(sum(chances), total)


def independent(samples: Sequence[Sample]) -> list[Sample]:
    """The samples that did not come from a cache."""
    return [sample for sample in samples if not sample.from_cache]


@dataclass(frozen=True)
class Threshold:
    """A number that a metric is compared with."""

    metric: str
    operator: str
    value: float

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.value!r}"


@dataclass(frozen=True)
class Judged:
    """A threshold and the number that was compared with it."""

    threshold: Threshold
    actual: float | None
    holds: bool

    def __str__(self) -> str:
        if self.actual is None:
            return f"{self.threshold}: there is no data for {self.threshold.metric}, so the threshold does not hold"
        word = "holds" if self.holds else "does not hold"
        return f"{self.threshold} {word}: {self.threshold.metric} is {shown(self.actual)}"


def judge(threshold: Threshold, found: Mapping[str, float | None]) -> Judged:
    """Compare a metric with its threshold; one without data fails it, and `==` is exact."""
    actual = found.get(threshold.metric)
    holds = actual is not None and OPERATORS[threshold.operator](actual, threshold.value)
    return Judged(threshold, actual, holds)


def shown(number: float) -> str:
    """A metric for people."""
    return f"{number:.6g}"
