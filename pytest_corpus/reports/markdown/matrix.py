"""A matrix as Markdown, with one table per chapter."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.markdown.report import render_template
from pytest_corpus.reports.matrix import template_values
from pytest_corpus.reports.text import STATUS_SIGNS


def render(matrix: Mapping[str, Any]) -> str:
    """Return the page: verdicts, a legend, and a table of reports and requirements per chapter."""
    return render_template("matrix.md", sign_of=sign_of, **template_values(matrix))


def sign_of(status: str | None) -> str:
    """Return the sign of a status, escaped for Markdown; empty for None."""
    return "" if status is None else f"\\{sign}" if (sign := STATUS_SIGNS[status]).isascii() else sign
