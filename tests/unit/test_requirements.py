"""The requirement catalogue: what every entry must have, whichever module it lies in."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tables import documents

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.requirements import Requirement, catalogue
from pytest_corpus.spec.requirements.model import read

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
    ("ending", "wanted"), [("", ("vector",)), ("; for streaming", STREAMING), ("; for llm", ("llm",))]
)
def test_an_entry_speaks_of_the_components_of_its_folder(ending: str, wanted: tuple[str, ...]) -> None:
    """If it names none itself."""
    (entry,) = read(f"\nVEC-TEST-1 MUST: Text.\n  from R7{ending}\n  hint: advice\n", "chapter", ("vector",))
    assert (entry.components, entry.needs) == (wanted, ())


@pytest.mark.parametrize(("number", "line", "form"), documents(Path(__file__).with_name("malformed_entries.txt")))
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
