"""Prompts: attacks are refused within their budget, and a missing variable is named with its line."""

import time
from pathlib import Path
from typing import Any

import pytest
from tables import read_json_rows, read_rows

from pytest_corpus.bundles.evaluation.template import Template, TemplateError

ATTACKS = (
    *read_rows(Path(__file__).parent / "hostile_templates.txt"),
    "{% set x %}{% for i in range(90000) %}" + "y" * 5000 + "{% endfor %}{% endset %}",
)
VARIABLES: dict[str, Any] = {"question": "2+2?", "items": [3, 1, 2], "facts": {"a": {"b": 1}, "items": "own"}}


def rendered(source: str) -> str:
    return Template(source, "prompt.md").render(VARIABLES)


def refused(source: str) -> str:
    try:
        rendered(source)
    except TemplateError as error:
        return str(error)
    return ""


def test_attacks_are_refused() -> None:
    """More than 50 attacks end in one clear sentence, each within seconds."""
    assert len(set(ATTACKS)) >= 50
    for source in ATTACKS:
        started = time.monotonic()
        said = refused(source)
        assert said, source[:80]
        assert "\n" not in said
        assert time.monotonic() - started < 7, source[:80]


@pytest.mark.parametrize(("source", "text"), read_json_rows(Path(__file__).with_name("ordinary_templates.txt")))
def test_ordinary_templates(source: str, text: str) -> None:
    """The usual means for writing prompts are available."""
    assert rendered(source) == text


def test_a_missing_variable_is_named() -> None:
    """Strict: a variable that the input does not hold is an error with its line."""
    with pytest.raises(TemplateError, match="'answer' is undefined") as found:
        rendered("one\n\n{{ answer }}")
    assert found.value.line == 3


@pytest.mark.parametrize(
    "source",
    ["{{ people|map(attribute='nme')|list }}", "{{ people|map(attribute='nme')|join }}", "{{ [[people[0].nme]] }}"],
)
def test_a_missing_variable_inside_a_list_is_named(source: str) -> None:
    """It would otherwise stand in the prompt as the word Undefined."""
    with pytest.raises(TemplateError, match="no attribute 'nme'"):
        Template(source, "prompt.md").render({"people": [{"name": "Ada"}]})


def test_the_tests_of_templates() -> None:
    """Jinja's own tests are there."""
    source = "{{ n is odd }} {{ n is divisibleby 3 }} {{ x is defined }} {{ n is number and n in [3] }} {{ n is ge 2 }}"
    assert Template(source, "prompt.md").render({"n": 3}) == "True True False True True"
