"""The metrics of a bundle, their thresholds (R83) and confidence intervals. scipy is imported when it is needed."""

import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from pytest_corpus.bundles.results import ERROR, PASSED, CaseResult, Sample

Interval = tuple[float, float]
Cases = Sequence[Sequence[float]]
"""For each case the numbers of its samples (at least one)."""


@cache
def is_scipy_installed() -> bool:
    """True if scipy is installed."""
    return find_spec("scipy") is not None


def _case_means(cases: Cases) -> tuple[float, Any]:
    """Return the mean of all numbers, and one number per case, whose spread shows how uncertain the mean is.

    Samples of one case are similar, so each case counts as one observation (linearised ratio of sums).
    """
    import numpy as np

    sums, counts = (np.fromiter(map(each, cases), float, len(cases)) for each in (math.fsum, len))
    mean = float(sums.sum() / counts.sum())
    return mean, mean + (sums - mean * counts) / counts.mean()


def rate_interval(cases: Cases, confidence: float) -> Interval:
    """Return Wilson's interval of a rate. If cases differ much, more samples per case hardly narrow the interval."""
    from scipy.stats import binomtest

    mean, values = _case_means(cases)
    variance = float(values.var()) / len(cases)
    most = sum(map(len, cases))
    size = len(cases) if mean in (0, 1) else most if variance == 0 else mean * (1 - mean) / variance
    size = max(1, math.floor(min(size, most) + 1e-6))
    hits = mean * size
    low, high = (
        binomtest(min(size, max(0, count)), size).proportion_ci(confidence, method="wilson")
        for count in (math.floor(hits + 1e-6), math.ceil(hits - 1e-6))
    )
    return float(low.low), float(high.high)


def mean_interval(cases: Cases, confidence: float) -> Interval | None:
    """Return Student's interval of a mean; None if there is only one case."""
    from scipy.stats import ttest_1samp

    mean, values = _case_means(cases)
    if len(cases) < 2:
        return None
    if values.max() - values.min() <= 1e-12 * max(1.0, abs(mean)):
        return mean, mean
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ttest_1samp(values, mean).confidence_interval(confidence)
    return float(found.low), float(found.high)


def log_evidence(hits: Any, size: Any, rate: Any) -> Any:
    """Return the logarithm of the evidence against `rate` after `hits` in `size` trials, by Robbins' mixture test.

    The mixture gives equal weight to all rates above `rate` if `hits / size` is above it, otherwise to all rates below.
    If the true rate is not one of these, the probability that the result ever exceeds log(1/alpha) is at most alpha.
    Numbers between 0 and 1 count as partial hits. Arguments may be arrays.
    """
    import numpy as np
    from scipy.special import betainc, betaln, xlog1py, xlogy

    low, misses = hits < rate * size, size - hits
    side = np.where(low, rate, 1 - rate)
    mixed = betainc(np.where(low, hits, misses) + 1, np.where(low, misses, hits) + 1, side) / side
    return betaln(hits + 1, misses + 1) + np.log(mixed) - xlogy(hits, rate) - xlog1py(misses, -rate)


def sequential_interval(cases: Cases, confidence: float) -> Interval:
    """Return the interval of the rates that the cases do not refute. It is also valid if it decides when a run stops.

    The confidence applies to each end: the probability that a threshold wrongly fails is at most 1 - confidence, and so
    is the probability that it wrongly passes.
    """
    from scipy.optimize import brentq

    size = len(cases)
    hits = math.fsum(math.fsum(case) / len(case) for case in cases)
    mean = hits / size

    def excess(rate: float) -> float:
        return float(log_evidence(hits, size, rate)) + math.log(1 - confidence)

    low = brentq(excess, 1e-12, min(mean, 1 - 1e-12)) if mean > 0 and excess(1e-12) > 0 else 0.0
    high = brentq(excess, mean, 1 - 1e-12) if mean < 1 and excess(1 - 1e-12) > 0 else 1.0
    return float(low), float(high)


RATES = ("pass_rate", "schema_valid_rate", "error_rate", "expected_match_rate")
LATENCIES = ("avg_latency_ms", "max_latency_ms", "p95_latency_ms")
TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")
SUMS = (*TOKENS, "cost")

_PASS_AT = re.compile(r"pass_at_([1-9]\d*)")

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


def metric_names(samples: int, extra: Iterable[str]) -> list[str]:
    """Return the names of a bundle's metrics, with `extra`, the metrics of its scorers and prices."""
    return [*RATES, *LATENCIES, *TOKENS, *(f"pass_at_{number}" for number in range(1, samples + 1)), *extra]


def is_rate(name: str) -> bool:
    """True if a metric is a rate from 0 to 1."""
    return name in RATES or _PASS_AT.fullmatch(name) is not None


def compute_metrics(results: Sequence[CaseResult], total: int, wanted: Iterable[str]) -> dict[str, float | None]:
    """Return the wanted metrics by name; None for a metric without data.

    Args:
        results: the results so far.
        total: the number of cases. A case without a result counts as an error and as not passed.
    """
    return {name: _compute_metric(name, results, total) for name in wanted}


def _compute_metric(name: str, results: Sequence[CaseResult], total: int) -> float | None:
    if not has_interval(name):
        field = name if name in SUMS else "latency_ms"
        samples = (sample for result in results for sample in result.samples)
        given = sorted(number for sample in samples if (number := getattr(sample, field)) is not None)
        at = math.ceil((0.95 if name[0] == "p" else 1) * len(given)) - 1
        return None if not given else float(sum(given)) if name in SUMS else given[at]
    values = [value for case in numbers_by_case(name, results, total) or () for value in case]
    return math.fsum(values) / len(values) if values else None


def numbers_by_case(name: str, results: Sequence[CaseResult], total: int) -> list[Sequence[float]] | None:
    """Return, for each case, the numbers whose mean is the metric; None if a number is missing."""
    missing = (1.0,) if name == "error_rate" else (0.0,) if name == "pass_rate" or _PASS_AT.fullmatch(name) else ()
    found = [numbers_of(name, result) for result in results] + [missing] * (total - len(results))
    return None if None in found else [values for values in found if values]


_NO_OR_YES = ((0.0,), (1.0,))


def numbers_of(name: str, result: CaseResult) -> Sequence[float] | None:
    """Return the numbers that one case adds to a metric; None if the case has no data. Their mean is the metric."""
    if name in ("pass_rate", "error_rate"):
        return _NO_OR_YES[result.status == (PASSED if name == "pass_rate" else ERROR)]
    if several := _PASS_AT.fullmatch(name):
        chance = _pass_at(int(several[1]), result)
        return None if chance is None else [chance]
    samples = [sample for sample in result.samples if not sample.extra or name == "avg_latency_ms"]
    field = {"schema_valid_rate": "schema_valid", "expected_match_rate": "expected_met", "avg_latency_ms": "latency_ms"}
    if name in field:
        given = [getattr(sample, field[name]) for sample in samples]
    else:
        given = [sample.scores.get(name.removeprefix("score_")) for sample in samples]
    return tuple(float(each) for each in given if each is not None)


def _pass_at(count: int, result: CaseResult) -> float | None:
    """Return the probability that at least one of `count` samples of a case passes; None if there are too few samples.

    Cached samples do not count. If an error ended the case early, its missing samples count as not passed.
    """
    own = [sample for sample in uncached_samples(result.samples) if not sample.extra]
    passed = sum(sample.status == PASSED for sample in own)
    size = max(len(own), count) if result.status == ERROR else len(own)
    return None if size < count else 1 - math.comb(size - passed, count) / math.comb(size, count)


def cases_lowering(name: str, results: Iterable[CaseResult]) -> list[CaseResult]:
    """Return the cases that lower a metric: cases that did not pass, had an error, or have a low number.

    The list is empty for metrics such as latency and tokens.
    """
    if name.startswith("pass_"):
        return [result for result in results if result.status != PASSED]
    if name == "error_rate":
        return [result for result in results if result.status == ERROR]
    if name in RATES or name.startswith(("score_", "agreement_")):
        worst = ((min(numbers_of(name, result) or [1.0]), result) for result in results)
        return [result for number, result in worst if number < 1]
    return []


def uncached_samples(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples that did not come from a cache."""
    return [sample for sample in samples if not sample.from_cache]


@dataclass(frozen=True)
class Threshold:
    """The required value of a metric.

    Attributes:
        operator: one of `OPERATORS`, between the metric and the value.
        confidence: the level of the interval that decides; None if the metric's value decides.
        on_undecided: "warn" or "fail", for an interval that contains the required value.
        sequential: True if a decision may stop the run, so that the interval must be valid at any time.
    """

    metric: str
    operator: str
    value: float
    confidence: float | None = None
    on_undecided: str = "warn"
    sequential: bool = False

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.value!r}"


@dataclass(frozen=True)
class ThresholdOutcome:
    """The outcome of a threshold: the measured number (None without data), and its interval."""

    threshold: Threshold
    actual: float | None
    holds: bool
    interval: Interval | None = None
    undecided: bool = False

    @property
    def word(self) -> str:
        """The outcome as a verb: "holds", "does not hold" or "is undecided"."""
        return "is undecided" if self.undecided else "holds" if self.holds else "does not hold"

    def __str__(self) -> str:
        if self.actual is None:
            return f"{self.threshold}: there is no data for {self.threshold.metric}, so the threshold does not hold"
        said = f"{self.threshold} {self.word}: {self.threshold.metric} is {metric_text(self.actual)}"
        if self.interval is not None:
            said += f", {metric_text(self.interval[0])} to {metric_text(self.interval[1])}"
            said += f" at {self.threshold.confidence:.4g} confidence" if self.threshold.confidence else ""
        return said


def judge_threshold(threshold: Threshold, results: Sequence[CaseResult], total: int) -> ThresholdOutcome:
    """Compare a metric with its threshold. A metric without data fails; `==` is exact.

    With a confidence, the threshold passes if the whole interval passes, and fails if no part of it passes.
    """
    actual = _compute_metric(threshold.metric, results, total)
    holds = OPERATORS[threshold.operator]
    if actual is None or threshold.confidence is None:
        return ThresholdOutcome(threshold, actual, actual is not None and holds(actual, threshold.value))
    found = metric_interval(threshold.metric, results, total, threshold.confidence, sequential=threshold.sequential)
    sides = {holds(end, threshold.value) for end in found} if found else {True, False}
    undecided = len(sides) > 1
    return ThresholdOutcome(
        threshold, actual, threshold.on_undecided == "warn" if undecided else sides == {True}, found, undecided
    )


def is_checkpoint(asked: int) -> bool:
    """True if the run evaluates thresholds after this number of cases. It skips other numbers to save time."""
    return asked % (1 + asked // 50) == 0


def are_decided(thresholds: Iterable[Threshold], results: Sequence[CaseResult]) -> bool:
    """True if one threshold fails for certain, or all of them pass for certain, whatever the remaining cases give."""
    judged = [judge_threshold(each, results, len(results)) for each in thresholds]
    known = [each for each in judged if each.actual is not None and not each.undecided]
    return len(known) == len(judged) or not all(each.holds for each in known)


def metric_interval(
    name: str, results: Sequence[CaseResult], total: int, confidence: float, *, sequential: bool = False
) -> Interval | None:
    """Return the confidence interval of a metric; None if it is not a mean or scipy is not installed."""
    if not has_interval(name) or not (cases := numbers_by_case(name, results, total)) or not is_scipy_installed():
        return None
    if sequential:
        return sequential_interval(cases, confidence)
    return rate_interval(cases, confidence) if is_rate(name) else mean_interval(cases, confidence)


def has_interval(name: str) -> bool:
    """True if a metric is a mean over cases, not a sum, a maximum or a percentile."""
    return name not in (*SUMS, "max_latency_ms", "p95_latency_ms")


def metric_text(number: float | None, ends: Sequence[float] | None = None) -> str:
    """Return a metric as text, with its interval if one is given."""
    if number is None:
        return "no data"
    return f"{number:.6g}" + (f" [{ends[0]:.4g}, {ends[1]:.4g}]" if ends else "")
