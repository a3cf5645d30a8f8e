"""A matrix as one HTML page: providers by requirements, with filters and search."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.html.page import render_page
from pytest_corpus.reports.matrix import mixed_editions
from pytest_corpus.spec.components import TITLES


def render(matrix: Mapping[str, Any]) -> str:
    """Return the page."""
    reports = matrix["reports"]
    return render_page(
        "matrix.html",
        "Corpus Protocol v1.0 conformance matrix",
        notice=mixed_editions(matrix),
        reports=reports,
        chapters=matrix["chapters"],
        catalogues=matrix["catalogues"],
        tested=[name for name in TITLES if any(name in report["components"] for report in reports)],
        levels=sorted({level for report in reports for level in report["totals"]}),
    )
