"""Confidence intervals of means over cases, computed by scipy, which is imported on first use."""

import math
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

Interval = tuple[float, float]
Cases = Sequence[Sequence[float]]
"""For each case the numbers of its samples, at least one."""


@cache
def available() -> bool:
    """True if scipy is installed."""
    return find_spec("scipy") is not None


def _by_case(cases: Cases) -> tuple[float, Any]:
    """The mean of all numbers, and for each case one number with that mean, which vary as the mean does.

    Samples of one case resemble each other: the case is what is drawn (linearised ratio of sums).
    """
    import numpy as np

    sums, counts = (np.fromiter(map(each, cases), float, len(cases)) for each in (math.fsum, len))
    mean = float(sums.sum() / counts.sum())
    return mean, mean + (sums - mean * counts) / counts.mean()


def of_rate(cases: Cases, confidence: float) -> Interval:
    """Wilson's interval; samples of one case count as as many as their variance between cases shows."""
    from scipy.stats import binomtest

    mean, values = _by_case(cases)
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


def of_mean(cases: Cases, confidence: float) -> Interval | None:
    """Student's interval; None for a single case."""
    from scipy.stats import ttest_1samp

    mean, values = _by_case(cases)
    if len(cases) < 2:
        return None
    if values.max() - values.min() <= 1e-12 * max(1.0, abs(mean)):
        return mean, mean
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ttest_1samp(values, mean).confidence_interval(confidence)
    return float(found.low), float(found.high)


def evidence(hits: Any, size: Any, rate: Any) -> Any:
    """The logarithm of the evidence against a rate after `hits` of `size`: the mixture of Robbins' sequential test.

    The mixture has all rates on the side of the hits, with the same weight. If the rate is true, or one on its other
    side, this exceeds log(1/alpha) at any time with a probability of at most alpha. Numbers between 0 and 1 count as
    parts of a hit. Arguments may be arrays.
    """
    import numpy as np
    from scipy.special import betainc, betaln, xlog1py, xlogy

    low, misses = hits < rate * size, size - hits
    side = np.where(low, rate, 1 - rate)
    mixed = betainc(np.where(low, hits, misses) + 1, np.where(low, misses, hits) + 1, side) / side
    return betaln(hits + 1, misses + 1) + np.log(mixed) - xlogy(hits, rate) - xlog1py(misses, -rate)


def at_any_time(cases: Cases, confidence: float) -> Interval:
    """The rates against which there is not enough evidence; they hold true even if a look at them ended the run.

    The confidence is that of each end: a gate fails by chance with the rest, and holds by chance with the rest.
    """
    from scipy.optimize import brentq

    size = len(cases)
    hits = math.fsum(math.fsum(case) / len(case) for case in cases)
    mean = hits / size

    def excess(rate: float) -> float:
        return float(evidence(hits, size, rate)) + math.log(1 - confidence)

    low = brentq(excess, 1e-12, min(mean, 1 - 1e-12)) if mean > 0 and excess(1e-12) > 0 else 0.0
    high = brentq(excess, mean, 1 - 1e-12) if mean < 1 and excess(1 - 1e-12) > 0 else 1.0
    return float(low), float(high)
