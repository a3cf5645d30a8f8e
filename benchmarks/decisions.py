"""The errors of gates and comparisons that decide by chance, and the calls that `stop: decided` saves, in simulation.

A bundle has SIZE cases, each of which passes with the true rate, and the gate `pass_rate >= 0.9` at a confidence of
0.95. A false red is a gate that fails although the true rate holds, a false green one that holds although it does not.
Each comparison is of two runs of one bundle: the share of passes, the scores (0 to 1) and the latency vary from case to
case and from run to run. Without an effect, worse and better are false.

Exits with 1 if one of these errors is above 5 %, or if less than 40 % of the calls are saved on average.

    python benchmarks/decisions.py [--bundles N] [--size N]
"""

import argparse
import math
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.metrics import is_checkpoint
from pytest_corpus.bundles.reporting.comparison import compare_runs

GATE, CONFIDENCE = 0.9, 0.95
RATES = (0.5, 0.7, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94, 0.97, 0.99)


@dataclass(frozen=True)
class Errors:
    """The rates of wrong decisions in simulated bundles, and the share of calls that were saved."""

    false_red: float
    false_green: float
    undecided: float
    saved: float


def _errors(red: "np.ndarray", green: "np.ndarray", rate: float, saved: float) -> Errors:
    right = rate >= GATE
    wrong = float((red if right else green).mean())
    return Errors(wrong if right else 0.0, 0.0 if right else wrong, float(1 - (red | green).mean()), saved)


def simulate_sequential(rate: float, bundles: int, size: int, seed: int) -> Errors:
    """Simulate bundles with `stop: decided`."""
    passed = np.random.default_rng(seed).random((bundles, size)) < rate
    hits, asked = passed.cumsum(axis=1), np.arange(1, size + 1)
    looked = np.array([is_checkpoint(number) for number in range(1, size + 1)])
    known = (metrics.log_evidence(hits, asked, GATE) >= -math.log(1 - CONFIDENCE)) & (looked | (asked == size))
    at = np.where(known.any(axis=1), known.argmax(axis=1), size - 1)
    rows = np.arange(bundles)
    decided, above = known[rows, at], hits[rows, at] > GATE * asked[at]
    return _errors(decided & ~above, decided & above, rate, float(1 - asked[at].mean() / size))


def simulate_fixed(rate: float, bundles: int, size: int, seed: int) -> Errors:
    """Simulate bundles that run every case and use Wilson's interval."""
    hits = np.random.default_rng(seed).binomial(size, rate, bundles)
    ends = {count: metrics.rate_interval([[1.0]] * count + [[0.0]] * (size - count), CONFIDENCE) for count in set(hits)}
    low, high = np.array([ends[count] for count in hits]).T
    return _errors(high < GATE, low >= GATE, rate, 0.0)


@dataclass(frozen=True)
class Compared:
    """The rates of wrong decisions in simulated comparisons."""

    worse: float
    better: float


def simulate_comparisons(metric: str, effect: float, bundles: int, size: int, seed: int) -> Compared:
    """Compare pairs of runs. The second is worse by `effect` in passes and scores, and by twice that in latency."""
    draw = np.random.default_rng(seed)
    words = []
    for _ in range(bundles):
        difficulty = draw.beta(4, 1, size)
        runs = []
        for worse in (0.0, effect):
            chance = np.clip(difficulty - worse, 0, 1)
            numbers = {
                "score_x": np.clip(chance + draw.normal(0, 0.1, size), 0, 1),
                "avg_latency_ms": draw.lognormal(6 + difficulty, 0.5, size) * (1 + 2 * worse),
            }
            statuses = ("passed" if each else "failed" for each in draw.random(size) < chance)
            kept = {metric: dict(enumerate(map(float, numbers[metric])))} if metric in numbers else {}
            runs.append({"cases": dict(enumerate(statuses)), "numbers": kept})
        words.append(compare_runs(runs[0], runs[1], [] if metric == "score_x" else [metric])["verdict"])
    return Compared(words.count("worse") / bundles, words.count("better") / bundles)


def main() -> int:
    """Print a row for each true rate."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--bundles", type=int, default=2_000)
    given.add_argument("--size", type=int, default=200)
    options = given.parse_args()
    worst, saved = 0.0, []
    for plan in (simulate_fixed, simulate_sequential):
        print(f"{plan.__name__}, {options.bundles} bundles of {options.size} cases\n"
              "  true rate   false red false green   undecided calls saved")  # fmt: skip
        for seed, rate in enumerate(RATES):
            found = plan(rate, options.bundles, options.size, seed)
            columns = (found.false_red, found.false_green, found.undecided, found.saved)
            print(f"  {rate:9}", *(f"{each:11.2%}" for each in columns))
            worst = max(worst, found.false_red, found.false_green)
            saved += [found.saved] if plan is simulate_sequential else []
    print("comparisons\n  metric              effect  cases       worse      better")
    for metric, effect, size in product(("pass_rate", "score_x", "avg_latency_ms"), (0.0, 0.1, 0.2), (20, 100)):
        each = simulate_comparisons(metric, effect, options.bundles // 2, size, seed=1)
        print(f"  {metric:14}  {effect:10}  {size:5} {each.worse:11.2%} {each.better:11.2%}")
        worst = max(worst, each.better, 0.0 if effect else each.worse)
    mean = sum(saved) / len(saved)
    print(f"worst error {worst:.2%} (limit 5 %), calls saved on average {mean:.1%} (limit 40 %)")
    return int(worst > 0.05 or mean < 0.4)


if __name__ == "__main__":
    sys.exit(main())
