"""The rulings and examples that `explain` shows of a requirement."""

import re

import pytest

from pytest_corpus import resources
from pytest_corpus.reports.catalogue import examples, laid_out, resting_on, rulings, rulings_of
from pytest_corpus.spec.components import COMPONENTS, WIRE
from pytest_corpus.spec.illustrations import BY_CHAPTER, PLAIN, STREAMS
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.requirements import Requirement, catalogue
from pytest_corpus.validation.schema.registry import registry


def test_every_ruling_of_the_page() -> None:
    """Each heading of docs/rulings.md that is a ruling is one, with its title, section and text."""
    page = resources.document("rulings.md").read_text("utf-8")
    assert list(rulings()) == re.findall(r"^### (R[0-9]+) ", page, re.MULTILINE)
    assert all(ruling.title and ruling.section and ruling.paragraphs for ruling in rulings().values())
    assert rulings()["R13"].title == "Unknown model"
    assert rulings()["R13"].section == "Errors and retry"


def test_rulings_and_requirements_name_each_other() -> None:
    """A requirement has the rulings of its source, and each of these has the requirement."""
    for entry in catalogue().values():
        found = rulings_of(entry)
        assert [ruling.id for ruling in found] == [source for source in entry.source if re.fullmatch("R[0-9]+", source)]
        assert all(entry.id in resting_on(ruling) for ruling in found)


def test_every_operation_is_one() -> None:
    """The tables name operations of the protocol and chapters of the catalogue."""
    assert {*PLAIN, *STREAMS} == {*COMPONENTS, *WIRE}
    assert {*PLAIN.values(), *STREAMS.values()} <= BY_OP.keys()
    assert BY_CHAPTER.keys() <= {entry.chapter for entry in catalogue().values()}


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.id)
def test_examples(entry: Requirement) -> None:
    """Each requirement has a valid request and, unless it is one of client libraries, a valid answer to it."""
    request, *answers = examples(entry)
    (envelope,) = request.messages
    operation = BY_OP[envelope["op"]]
    if entry.id.startswith("COM-") and entry.text.startswith("A stream"):
        assert operation.streaming
    assert operation.component in (entry.components if entry.components != WIRE else COMPONENTS)
    assert registry().is_valid(operation.request, envelope)
    if entry.chapter.endswith("-OBS"):
        assert ("metrics.counter" if "count" in entry.text else "metrics.observe") in answers.pop().title
    assert len(answers) == (entry.components != WIRE)
    for answer in answers:
        for message in answer.messages:
            schema = operation.answer if message["ok"] else "common.envelope.error"
            assert registry().is_valid(schema, message)


def test_layout() -> None:
    """Short values stand on one line, and nothing is lost."""
    assert laid_out({"a": [1, 2]}) == '{"a": [1, 2]}'
    assert laid_out({"a": "x" * 60, "b": ["y" * 60, {}]}).splitlines() == [
        "{",
        f'  "a": "{"x" * 60}",',
        f'  "b": ["{"y" * 60}", {{}}]',
        "}",
    ]
