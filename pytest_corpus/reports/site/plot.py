"""The history of an adapter as a plot: the share of MUSTs that are satisfied, over time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from pytest_corpus.reports.html.page import text
from pytest_corpus.reports.text import VERDICT_WORDS
from pytest_corpus.reports.view import TONES

MARKS = {
    "good": '<circle r="4.5"/>',
    "caution": '<path d="M0-6 6 5-6 5Z"/>',
    "bad": '<path d="M-5-5 5 5M5-5-5 5"/>',
    "none": '<path d="M-5 0 5 0"/>',
}
"""The shape of a point, so that its tone can be read without colour."""

LEFT, RIGHT, TOP, BOTTOM = 2.0, 98.0, 6.0, 94.0  # the field of the points in percent of the picture


def plot(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The picture and its legend."""
    shares = [run["must"]["satisfied"] / run["must"]["applicable"] if run["must"]["applicable"] else 0 for run in runs]
    low = min(0.9, max(0.0, math.floor(min(shares) * 20 - 0.5) / 20))
    times = [datetime.fromisoformat(run["started_at"].replace("Z", "+00:00")).timestamp() for run in runs]
    span = times[-1] - times[0]
    points = [
        (
            LEFT + (RIGHT - LEFT) * ((time - times[0]) / span if span else 0.5),
            TOP + (BOTTOM - TOP) * (1 - share) / (1 - low),
        )
        for time, share in zip(times, shares, strict=True)
    ]
    yield f'<svg class="plot" role="img" aria-label="{text(_summary(runs))}">'
    for at in range(3):
        share, y = 1 - (1 - low) * at / 2, TOP + (BOTTOM - TOP) * at / 2
        yield f'<line x1="0" x2="100%" y1="{y:g}%" y2="{y:g}%"/>'
        yield f'<text x="-52" y="{y:g}%" dy="0.3em">{100 * share:.3g} %</text>'
    for (x1, y1), (x2, y2) in pairwise(points):
        yield f'<line class="course" x1="{x1:.2f}%" y1="{y1:.2f}%" x2="{x2:.2f}%" y2="{y2:.2f}%"/>'
    for run, (x, y) in zip(runs, points, strict=True):
        tone = TONES[run["verdict"]]
        inner = f"<title>{text(_words(run))}</title>{MARKS[tone]}"
        yield f'<svg class="mark {tone}" x="{x:.2f}%" y="{y:.2f}%">{inner}</svg>'
    yield "</svg>"
    days = dict.fromkeys((runs[0]["started_at"][:10], runs[-1]["started_at"][:10]))
    yield f'<p class="ends small muted">{"".join(f"<span>{day}</span>" for day in days)}</p>'
    met = [verdict for verdict in TONES if any(run["verdict"] == verdict for run in runs)]
    legend = "".join(
        f'<li><svg class="mark {TONES[each]}" aria-hidden="true">{MARKS[TONES[each]]}</svg>{VERDICT_WORDS[each]}</li>'
        for each in met
    )
    yield f'<ul class="legend small">{legend}</ul>'


def _words(run: Mapping[str, Any]) -> str:
    number = f"{run['must']['satisfied']} / {run['must']['applicable']} MUST"
    return f"{run['started_at'][:10]}: {VERDICT_WORDS[run['verdict']]}, {number}"


def _summary(runs: Sequence[Mapping[str, Any]]) -> str:
    return f"Share of MUSTs that are satisfied. First run {_words(runs[0])}. Newest run {_words(runs[-1])}"
