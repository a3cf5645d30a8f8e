"""A matrix as Markdown, with one table per chapter."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.markdown.report import fill
from pytest_corpus.reports.matrix import mixed_editions
from pytest_corpus.reports.text import STATUS_SIGNS
from pytest_corpus.spec.components import TITLES


def render(matrix: Mapping[str, Any]) -> str:
    """Verdicts, a legend, and providers by requirements."""
    reports = matrix["reports"]
    return fill(
        "matrix.md",
        notice=mixed_editions(matrix),
        reports=reports,
        chapters=matrix["chapters"],
        tested=[name for name in TITLES if any(name in report["components"] for report in reports)],
        levels=sorted({level for report in reports for level in report["totals"]}),
        sign_of=sign_of,
    )


def sign_of(status: str | None) -> str:
    """Return the sign of a status, chosen so that it is not Markdown syntax."""
    return "" if status is None else f"\\{sign}" if (sign := STATUS_SIGNS[status]).isascii() else sign
