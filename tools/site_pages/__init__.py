"""The pages of the site that are written from the tables of `pytest_corpus/spec/` and from the plugin's code."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.reports.pages.markdown import paragraph, table
from pytest_corpus.reports.text import template_environment

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> "Environment":
    found = template_environment(Path(__file__).parent / "templates")
    found.filters["paragraph"] = paragraph
    found.globals["table"] = table
    return found


def fill(template: str, **given: Any) -> str:
    """Return the text of a template."""
    return str(_environment().get_template(template).render(**given))
