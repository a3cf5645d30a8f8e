"""A matrix as one HTML page: providers by requirements, with filters and search."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.html.page import render_page
from pytest_corpus.reports.matrix import template_values


def render(matrix: Mapping[str, Any]) -> str:
    """Return the page."""
    title = "Corpus Protocol v1.0 conformance matrix"
    return render_page("matrix.html", title, catalogues=matrix["catalogues"], **template_values(matrix))
