"""The requirement catalogue: what every entry must have, and the rulings and examples that `explain` shows."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tables import read_json_rows

from pytest_corpus import resources
from pytest_corpus.reports.catalogue import make_examples, read_rulings, requirements_of_ruling, rulings_of
from pytest_corpus.reports.pages.markdown import format_json
from pytest_corpus.spec.components import COMPONENTS, WIRE
from pytest_corpus.spec.illustrations import BY_CHAPTER, PLAIN, STREAMS
from pytest_corpus.spec.operations import BY_OP, STREAMING
from pytest_corpus.spec.requirements import Requirement, catalogue
from pytest_corpus.spec.requirements.model import read
from pytest_corpus.validation.schema.registry import registry

SHORTEST, LONGEST = 10, 120  # characters of a hint: it stands in one line of a failure
CODE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
"""A code such as BAD_REQUEST, which keeps its capitals at the beginning of a hint."""

ENTRIES = tuple(catalogue().values())


def test_every_requirement_has_a_hint() -> None:
    """A failure tells the author of an adapter what to do, in one line that is neither a word nor a paragraph."""
    assert [entry.id for entry in ENTRIES if not SHORTEST <= len(entry.hint) <= LONGEST] == []
    assert [entry.id for entry in ENTRIES if not entry.hint.isprintable() or entry.hint != entry.hint.strip()] == []


def test_a_hint_is_a_clause() -> None:
    """It stands behind the word `hint:`, so it begins with a small letter, or a code, and has no full stop."""
    assert [entry.id for entry in ENTRIES if entry.hint[:1].isupper() and not CODE.match(entry.hint)] == []
    assert [entry.id for entry in ENTRIES if entry.hint.endswith(".")] == []


def test_a_hint_does_not_repeat_its_requirement() -> None:
    """A hint does not repeat the sentence, in whatever letters."""
    assert [entry.id for entry in ENTRIES if letters(entry.hint) == letters(entry.text)] == []


def test_hints_of_a_chapter_differ() -> None:
    """Two requirements that break for different reasons do not share their advice."""
    shared = Counter((entry.chapter, letters(entry.hint)) for entry in ENTRIES)
    assert [hint for hint, count in shared.items() if count > 1] == []


def test_code_in_hints_is_closed() -> None:
    """Backticks come in pairs, and what would vanish from a page as a tag stands between them."""
    assert [entry.id for entry in ENTRIES if entry.hint.count("`") % 2] == []
    assert [entry.id for entry in ENTRIES if re.search(r"<[a-z/]", re.sub("`[^`]*`", "", entry.hint))] == []


def test_an_entry_has_three_lines() -> None:
    """Its fields are read from their places, a continued line as if it were one."""
    sentence = "COM-TEST-1 SHOULD: A sentence goes on\n    in another line; for `x`.\n"
    origin = "  from ERRORS 2.1, SCHEMA 12.A,\n    R7; needs metrics, provider; for llm, graph\n"
    hint = "  hint: do this; then that: all of it\n"
    text, advice = "A sentence goes on in another line; for `x`.", "do this; then that: all of it"
    source = ("ERRORS 2.1", "SCHEMA 12.A", "R7")
    wanted = Requirement("COM-TEST-1", "SHOULD", text, source, ("metrics", "provider"), ("llm", "graph"), advice)
    assert list(read(f"\n{sentence}{origin}{hint}", "chapter", COMPONENTS)) == [wanted]


@pytest.mark.parametrize(
    ("ending", "wanted"),
    [("", ()), ("; quiet", ("llm", "graph")), ("; quiet for graph", ("graph",)), ("; quiet for streaming", STREAMING)],
)
def test_an_entry_says_where_its_tests_need_quiet(ending: str, wanted: tuple[str, ...]) -> None:
    """For all components that it speaks of, or for some."""
    table = f"COM-TEST-1 MUST: Something holds.\n  from R7; for llm, graph{ending}\n  hint: do this\n"
    [entry] = read(table, "module", COMPONENTS)
    assert entry.quiet == wanted


@pytest.mark.parametrize(
    ("ending", "wanted"), [("", ("vector",)), ("; for streaming", STREAMING), ("; for llm", ("llm",))]
)
def test_an_entry_speaks_of_the_components_of_its_folder(ending: str, wanted: tuple[str, ...]) -> None:
    """If it names none itself."""
    (entry,) = read(f"\nVEC-TEST-1 MUST: Text.\n  from R7{ending}\n  hint: advice\n", "chapter", ("vector",))
    assert (entry.components, entry.needs) == (wanted, ())


@pytest.mark.parametrize(("number", "line", "form"), read_json_rows(Path(__file__).with_name("malformed_entries.txt")))
def test_a_malformed_entry_is_named(number: int, line: str, form: str) -> None:
    """One sentence names the module, the line and the form that it must have."""
    lines = ["LLM-TEST-1 MUST: Text.", "  from R7", "  hint: advice"]
    lines[number - 1] = line
    table = "".join(f"\n{each}" for each in lines)
    with pytest.raises(ValueError, match=rf"^chapter: line {number} of the table must .*`{form}.*but is `{line}`$"):
        list(read(table, "chapter", COMPONENTS))


def letters(text: str) -> str:
    """A text without its marks and capitals."""
    return " ".join(re.findall(r"\w+", text.lower()))


def test_every_ruling_of_the_page() -> None:
    """Each heading of docs/rulings.md that is a ruling is one, with its title, section and text."""
    page = resources.document("rulings.md").read_text("utf-8")
    assert list(read_rulings()) == re.findall(r"^### (R[0-9]+) ", page, re.MULTILINE)
    assert all(ruling.title and ruling.section and ruling.paragraphs for ruling in read_rulings().values())
    assert read_rulings()["R13"].title == "Unknown model"
    assert read_rulings()["R13"].section == "Errors and retry"


def test_rulings_and_requirements_name_each_other() -> None:
    """A requirement has the rulings of its source, and each of these has the requirement."""
    for entry in catalogue().values():
        found = rulings_of(entry)
        assert [ruling.id for ruling in found] == [source for source in entry.source if re.fullmatch("R[0-9]+", source)]
        assert all(entry.id in requirements_of_ruling(ruling) for ruling in found)


def test_every_operation_is_one() -> None:
    """The tables name operations of the protocol and chapters of the catalogue."""
    assert {*PLAIN, *STREAMS} == {*COMPONENTS, *WIRE}
    assert {*PLAIN.values(), *STREAMS.values()} <= BY_OP.keys()
    assert BY_CHAPTER.keys() <= {entry.chapter for entry in catalogue().values()}


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.id)
def test_examples(entry: Requirement) -> None:
    """Each requirement has a valid request and, unless it is one of client libraries, a valid answer to it."""
    request, *answers = make_examples(entry)
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
    assert format_json({"a": [1, 2]}) == '{"a": [1, 2]}'
    assert format_json({"a": "x" * 60, "b": ["y" * 60, {}]}).splitlines() == [
        "{",
        f'  "a": "{"x" * 60}",',
        f'  "b": ["{"y" * 60}", {{}}]',
        "}",
    ]
