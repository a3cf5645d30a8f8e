"""The plot of an adapter's history: the share of satisfied MUSTs over time."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from pytest_corpus.reports.text import VERDICT_WORDS
from pytest_corpus.reports.view import TONES

LEFT, RIGHT, TOP, BOTTOM = 2.0, 98.0, 6.0, 94.0  # the area of the points, in percent of the picture


def plot_history(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the numbers and words of the plot and its legend."""
    shares = [run["must"]["satisfied"] / run["must"]["applicable"] if run["must"]["applicable"] else 0 for run in runs]
    low = min(0.9, max(0.0, math.floor(min(shares) * 20 - 0.5) / 20))
    times = [datetime.fromisoformat(run["started_at"].replace("Z", "+00:00")).timestamp() for run in runs]
    span = times[-1] - times[0]
    across = [LEFT + (RIGHT - LEFT) * ((time - times[0]) / span if span else 0.5) for time in times]
    down = [TOP + (BOTTOM - TOP) * (1 - share) / (1 - low) for share in shares]
    points = [(f"{x:.2f}", f"{y:.2f}") for x, y in zip(across, down, strict=True)]
    return {
        "summary": f"Share of MUSTs that are satisfied. First run {_describe_run(runs[0])}. "
        f"Newest run {_describe_run(runs[-1])}",
        "lines": [(f"{100 - 50 * (1 - low) * at:.3g}", f"{TOP + (BOTTOM - TOP) * at / 2:g}") for at in range(3)],
        "course": [(*one, *other) for one, other in pairwise(points)],
        "points": [
            (TONES[run["verdict"]], *point, _describe_run(run)) for run, point in zip(runs, points, strict=True)
        ],
        "days": list(dict.fromkeys((runs[0]["started_at"][:10], runs[-1]["started_at"][:10]))),
        "verdicts": [verdict for verdict in TONES if any(run["verdict"] == verdict for run in runs)],
    }


def _describe_run(run: Mapping[str, Any]) -> str:
    number = f"{run['must']['satisfied']} / {run['must']['applicable']} MUST"
    return f"{run['started_at'][:10]}: {VERDICT_WORDS[run['verdict']]}, {number}"
