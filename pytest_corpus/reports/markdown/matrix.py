"""A matrix as Markdown, with one table per chapter."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.markdown.report import render_template
from pytest_corpus.reports.matrix import mixed_editions
from pytest_corpus.reports.text import STATUS_SIGNS
from pytest_corpus.spec.components import TITLES


def render(matrix: Mapping[str, Any]) -> str:
    """Return the page: verdicts, a legend, and a table of reports and requirements per chapter."""
    reports = matrix["reports"]
    return render_template(
        "matrix.md",
        notice=mixed_editions(matrix),
        reports=reports,
        chapters=matrix["chapters"],
        tested=[name for name in TITLES if any(name in report["components"] for report in reports)],
        levels=sorted({level for report in reports for level in report["totals"]}),
        sign_of=sign_of,
    )


def sign_of(status: str | None) -> str:
    """Return the sign of a status, escaped for Markdown; empty for None."""
    return "" if status is None else f"\\{sign}" if (sign := STATUS_SIGNS[status]).isascii() else sign
