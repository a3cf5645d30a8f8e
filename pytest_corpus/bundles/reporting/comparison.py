"""Compares two runs of a bundle case by case (McNemar's test, a bootstrap for means), and a run with a baseline."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.metrics import metric_text, numbers_of
from pytest_corpus.bundles.results import NOT_ASKED, PASSED, CaseResult
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.validation.schema.evidence import first_flaw

CONFIDENCE = 0.95
FEWEST = 20
"""The fewest cases for a bootstrap; with fewer cases its interval is wrong too often."""

PASSES, LATENCY = "pass_rate", "avg_latency_ms"
WORDS = {"better": "better", "worse": "worse", "cannot_tell": "cannot tell"}

CHANGES = ("newly_failing", "fixed", "added", "gone")
"""The keys of a comparison that list cases: their status changed, or only one of the two runs has them."""

Outcome = Mapping[str, Any]
"""The outcome of a run without content: `cases` maps a case to its status, `numbers` a metric to a number per case."""


def make_outcome(results: Iterable[CaseResult]) -> dict[str, Any]:
    """Return the outcome of a run as JSON, without content."""
    asked = [result for result in results if result.status != NOT_ASKED]
    numbers: dict[str, dict[str, float]] = defaultdict(dict)
    for result in asked:
        scored = {
            f"score_{name}" for sample in result.samples for name in sample.scores if not name.startswith("agree")
        }
        for name in sorted({LATENCY, *scored}):
            if values := numbers_of(name, result):
                numbers[name][result.case] = round(sum(values) / len(values), 6)
    return {"cases": {result.case: result.status for result in asked}, "numbers": dict(numbers)}


def compare_runs(before: Outcome, now: Outcome, deciding: Sequence[str] = ()) -> dict[str, Any]:
    """Compare two runs over the cases that both have; return the differences and the verdict as JSON.

    Args:
        deciding: the metrics that decide the verdict; by default passes and scores. The deciding metrics share the
            error probability equally.
    """
    old, new = before["cases"], now["cases"]
    both = [case for case in new if case in old]
    names = [PASSES, *sorted(set(before.get("numbers", ())) & set(now.get("numbers", ())))]
    decides = [name for name in names if name in deciding or (not deciding and name != LATENCY)]
    confidence = round(1 - (1 - CONFIDENCE) / max(1, len(decides)), 6)
    differences = []
    for name in names:
        level = confidence if name in decides else CONFIDENCE
        pairs = _number_pairs(name, before, now, both)
        differences.append(_compare_metric(name, pairs, level) | ({"decides": True} if name in decides else {}))
    found = {each["verdict"] for each in differences if "decides" in each}
    verdict = "worse" if "worse" in found else "better" if "better" in found else "cannot_tell"
    changes = {
        "newly_failing": [case for case in both if old[case] == PASSED != new[case]],
        "fixed": [case for case in both if old[case] != PASSED == new[case]],
        "added": [case for case in new if case not in old],
        "gone": [case for case in old if case not in new],
    }
    changed = {kind: sorted(cases) for kind, cases in changes.items() if cases}
    return {"verdict": verdict, "cases": len(both), "differences": differences, **changed}


def _number_pairs(name: str, before: Outcome, now: Outcome, both: Iterable[str]) -> list[tuple[float, float]]:
    if name == PASSES:
        return [(float(before["cases"][case] == PASSED), float(now["cases"][case] == PASSED)) for case in both]
    old, new = before["numbers"][name], now["numbers"][name]
    return [(old[case], new[case]) for case in both if case in old and case in new]


def _compare_metric(name: str, pairs: Sequence[tuple[float, float]], confidence: float) -> dict[str, Any]:
    entry: dict[str, Any] = {"metric": name, "pairs": len(pairs), "verdict": "cannot_tell", "confidence": confidence}
    if not pairs:
        return entry
    old, new = (sum(each) / len(pairs) for each in zip(*pairs, strict=True))
    entry |= {"before": round(old, 6), "now": round(new, 6), "difference": round(new - old, 6)}
    changes = [later - earlier for earlier, later in pairs]
    interval = (_mcnemar_interval if name == PASSES else _bootstrap_interval)(changes, confidence)
    if interval is not None:
        low, high = interval
        entry["interval"] = [round(low, 6), round(high, 6)]
        if low > 0 or high < 0:
            entry["verdict"] = "better" if (low > 0) != (name == LATENCY) else "worse"
    return entry


def _mcnemar_interval(changes: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Return the exact interval of McNemar's test, which excludes 0 if and only if the test rejects; None without
    changes.
    """
    from scipy.stats import binomtest

    changed, better = sum(change != 0 for change in changes), sum(change > 0 for change in changes)
    if not changed:
        return None
    found = binomtest(better, changed).proportion_ci(confidence, method="exact")
    return tuple(float(2 * end - 1) * changed / len(changes) for end in (found.low, found.high))  # type: ignore[return-value]


def _bootstrap_interval(changes: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Return the bootstrap interval of a mean change, resampled by case; None if there are too few cases."""
    if len(changes) < FEWEST or len(set(changes)) == 1:
        return None
    import numpy as np
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.array(changes),),
        np.mean,
        confidence_level=confidence,
        n_resamples=2_000,
        batch=max(1, 10**7 // len(changes)),
        method="percentile",
        random_state=0,
    ).confidence_interval
    return float(found.low), float(found.high)


def comparison_lines(found: Mapping[str, Any], name: str) -> list[str]:
    """Return the lines of the terminal that show a comparison."""
    said = [f"  compared with {name}: {WORDS[found['verdict']]} ({found['cases']} cases of both)"]
    said += [f"    {describe_difference(each)}" for each in found["differences"]]
    for kind in CHANGES:
        if cases := found.get(kind):
            more = f" and {len(cases) - 20} more" if len(cases) > 20 else ""
            said.append(f"    {kind.replace('_', ' ')}: {', '.join(cases[:20])}{more}")
    return said


def describe_difference(entry: Mapping[str, Any]) -> str:
    """Describe the difference of one metric in one line."""
    if "difference" not in entry:
        return f"{entry['metric']}: no case has it in both"
    sign = "+" if entry["difference"] > 0 else ""
    said = f"{entry['metric']} {metric_text(entry['before'])} -> {metric_text(entry['now'])}, difference "
    said += f"{sign}{metric_text(entry['difference'], entry.get('interval'))}"
    return f"{said}, {WORDS[entry['verdict']]} at {entry['confidence']:.4g}"


FORMAT = "1.0"


class BaselineError(Exception):
    """A file that is not a valid baseline. The message is the end of a sentence that names the file."""


def make_entry(results: Iterable[CaseResult], metrics: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the baseline entry of a bundle with one provider: its outcome, and its metrics except times."""
    return {
        **make_outcome(results),
        "metrics": {name: each for name, each in metrics.items() if not name.endswith("_ms")},
    }


def baseline_key(bundle: Path, provider: str, baseline: Path) -> str:
    """Return the key of a bundle with a provider in a baseline. The path is relative to the baseline file."""
    try:
        path = Path(os.path.relpath(bundle, baseline.absolute().parent)).as_posix()
    except ValueError:  # another drive of Windows
        path = bundle.as_posix()
    return f"{path} | {provider}"


def read_baseline(path: Path) -> dict[str, Any]:
    """Return the entries of a baseline, by ``bundle | provider``. Raises BaselineError if it is not valid."""
    try:
        document = bounded.read_document(path)
    except bounded.FileRefused as error:
        if not path.exists():
            raise BaselineError("the file does not exist; --corpus-bundle-update-baseline writes it") from None
        raise BaselineError(f"{error.why}; --corpus-bundle-update-baseline replaces it") from None
    if said := first_flaw("bundle/baseline", document):
        raise BaselineError(
            f"it is not a baseline of this format ({said}); --corpus-bundle-update-baseline replaces it"
        )
    found: dict[str, Any] = document["bundles"]
    return found


def write_baseline(path: Path, entries: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Write a baseline with new entries; entries of other bundles are kept. Raises OSError."""
    document = {"format": FORMAT, "bundles": {**before, **entries}}
    write_atomically(json.dumps(document, sort_keys=True, indent=2) + "\n", path)


def compare_with_baseline(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Compare a run with its baseline entry; return lists of changed cases, changed metrics, and all differences."""
    if before is None:
        return {"baseline": {"added": sorted(now["cases"])}}
    changed = [
        f"{name}: {metric_text(before['metrics'].get(name))} -> {metric_text(number)}"
        for name, number in sorted(now["metrics"].items())
        if before["metrics"].get(name) != number
    ]
    found = compare_runs(before, now)
    changes = {kind: found.pop(kind) for kind in CHANGES if kind in found}
    changes |= {"metrics": changed} if changed else {}
    return {"baseline": changes, "compared": [{"with": "the baseline", **found}]}
