"""Small drawings for the page of bundles: a gate with its interval, and the latencies of a run. No style attributes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reports.bundle_view import threshold
from pytest_corpus.reports.html.page import text

BINS = 32


def gate(entry: Mapping[str, Any], interval: Sequence[float] | None) -> str:
    """A gate: the metric as a point on its interval, and the number that it is held to as a line."""
    actual = entry["actual"]
    if actual is None:
        return ""
    metric, wanted = parts(entry)
    low, high = interval or (actual, actual)
    is_share = "rate" in metric or metric.startswith(("pass_at", "score_", "agreement_"))
    most = 1.0 if is_share and max(high, wanted, actual) <= 1 else 1.15 * max(high, wanted, actual, 1e-9)
    at = {name: round(100 * min(max(each / most, 0), 1), 2) for name, each in
          (("low", low), ("high", high), ("actual", actual), ("wanted", wanted))}  # fmt: skip
    tone = "caution" if entry.get("undecided") else "good" if entry["holds"] else "bad"
    return (
        f'<svg class="gate {tone}" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(threshold(entry))}"><rect class="axis" width="100" height="1" y="5.5"/>'
        f'<rect class="reach" x="{at["low"]}" y="3" width="{max(round(at["high"] - at["low"], 2), 0.8)}" height="6"/>'
        f'<rect class="point" x="{max(at["actual"] - 0.6, 0)}" y="1" width="1.2" height="10"/>'
        f'<rect class="wanted" x="{max(at["wanted"] - 0.3, 0)}" width="0.6" height="12"/></svg>'
    )


def parts(entry: Mapping[str, Any]) -> tuple[str, float]:
    """The metric and the number of a threshold."""
    metric, _, number = re.split("([<>=]+)", entry["threshold"])
    return metric, float(number)


def latencies(times: Sequence[float], longest: float) -> str:
    """A histogram of milliseconds, on an axis that all runs of a bundle share."""
    if not times:
        return ""
    counts = [0] * BINS
    for each in times:
        counts[min(int(each / longest * BINS) if longest else 0, BINS - 1)] += 1
    tallest = max(counts)
    heights = [(at, round(40 * count / tallest, 2)) for at, count in enumerate(counts) if count]
    bars = "".join(f'<rect x="{3 * at}" y="{40 - high:g}" width="2.4" height="{high:g}"/>' for at, high in heights)
    ordered = sorted(times)
    middle, late = (ordered[min(int(part * len(ordered)), len(ordered) - 1)] for part in (0.5, 0.95))
    said = f"median {middle:,.0f} ms, 95 % within {late:,.0f} ms, axis to {longest:,.0f} ms"
    axis = f'<rect class="axis" y="39.5" width="{3 * BINS}" height="0.5"/>'
    return (
        f'<svg class="latency" viewBox="0 0 {3 * BINS} 40" preserveAspectRatio="none" role="img" '
        f'aria-label="latency: {text(said)}">{axis}{bars}</svg>'
        f'<span class="small muted">{text(said)}</span>'
    )
