"""The table of normative sentences: every name in it exists, and nothing that is asked is missing from it."""

import re
import sys
from pathlib import Path

import pytest

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from site_pages.coverage import FILES, FOLDER, TOOLS, Sentence, read, sentences

ROOT = Path(__file__).resolve().parents[2]
TABLE = [(document, sentence) for document in FILES for sentence in sentences(document)]


def label(document: str, sentence: Sentence) -> str:
    return f"{document} {sentence.section}: {sentence.text}"


def test_every_source_names_a_section_that_exists() -> None:
    """A source is a section of a document, or a ruling that docs/rulings.md has."""
    rulings = set(re.findall(r"^### (R[0-9]+) ", (ROOT / "docs" / "rulings.md").read_text("utf-8"), re.MULTILINE))
    known = {f"{document} {section}" for document, sections in SECTIONS.items() for section in sections} | rulings
    wrong = [
        f"{entry.id}: {source}" for entry in catalogue().values() for source in entry.source if source not in known
    ]
    assert wrong == []


def test_every_section_of_the_table_exists() -> None:
    """Each sentence stands in a section of its document, and the sections come in the order of the document."""
    assert FILES.keys() == SECTIONS.keys()
    assert sorted(name for names in FILES.values() for name in names) == sorted(file.stem for file in FOLDER.iterdir())
    assert [label(*row) for row in TABLE if row[1].section not in SECTIONS[row[0]]] == []
    for document in FILES:
        order = [list(SECTIONS[document]).index(sentence.section) for sentence in sentences(document)]
        assert order == sorted(order), document


def test_every_name_in_the_table_exists() -> None:
    """A sentence is tested by requirements and tools, each named once."""
    assert [label(*row) for row in TABLE if not set(row[1].asked_by) <= catalogue().keys() | TOOLS.keys()] == []
    assert [label(*row) for row in TABLE if len(set(row[1].asked_by)) != len(row[1].asked_by)] == []
    assert len({label(*row) for row in TABLE}) == len(TABLE)


def test_what_a_row_names_can_fail() -> None:
    """Each requirement of a row is broken by a mutant, a faulty client or a broken server; a named one is its own."""
    folder, names, mutants = ROOT / "tests", r"\b([A-Z]{3}-[A-Z]+-[0-9]+)", set[tuple[str, str]]()
    for pattern, form in (
        ("mutants/*/*.edits", rf"^{names} (\w+)"),
        ("mutants/*/*.py", rf'@catches\("{names}"[^\n]*\)\nclass (\w+)'),
        ("transports/*.edits", rf"^{names} (\w+)"),
        ("plugin/test_option_client.py", rf'"{names}"()'),
    ):
        for file in folder.glob(pattern):
            mutants.update(re.findall(form, file.read_text("utf-8"), re.MULTILINE))
    able = {name for name, _ in mutants} | TOOLS.keys()
    assert [label(*row) for row in TABLE if not set(row[1].asked_by) <= able] == []
    assert [label(*row) for row in TABLE if not set(row[1].mutants) <= mutants] == []


NAMING = ("COM-", "GRA-", "TRA-")
"""A row whose sentence requirements of these chapters test in full names a mutant that breaks exactly it."""


def test_what_is_tested_names_its_mutant() -> None:
    """That a sentence is tested is shown by a mutant of it, which the requirement at its name finds."""
    tested = [row for row in TABLE if row[1].status == "asked" and not set(row[1].asked_by) & TOOLS.keys()]
    own = [row for row in tested if all(name.startswith(NAMING) for name in row[1].asked_by)]
    assert [label(*row) for row in own if not row[1].mutants] == []


def test_every_must_of_the_catalogue_stands_in_the_table() -> None:
    """A requirement that adapters have to meet asks a sentence of a document: add it to its row in docs/coverage/."""
    named = {each for _, sentence in TABLE for each in sentence.asked_by}
    assert [entry.id for entry in catalogue().values() if entry.level == "MUST" and entry.id not in named] == []


def test_a_demand_that_is_only_recommended_here_says_so() -> None:
    """If only SHOULDs test a sentence with MUST, its row says that something is missing."""
    weak = {entry.id for entry in catalogue().values() if entry.level != "MUST"}
    demanded = [row for row in TABLE if row[1].level == "MUST" and row[1].asked_by]
    assert [label(*row) for row in demanded if set(row[1].asked_by) <= weak and not row[1].missing] == []


def test_sentences_are_in_our_own_short_words() -> None:
    """A row names a sentence; it does not repeat it."""
    assert [label(*row) for row in TABLE if not 3 <= len(row[1].text) <= 100 or row[1].text.endswith(".")] == []
    assert [label(*row) for row in TABLE if "|" in f"{row[1].text}{row[1].missing}"] == []


@pytest.mark.parametrize(("row", "wanted"), [
    ("| COM-ERR-1", Sentence("12.A", "MAY", "this: that", ("COM-ERR-1",))),
    ("| COM-ERR-1,3:4\n    lint",
     Sentence("12.A", "MAY", "this: that", ("COM-ERR-1", "COM-ERR-3", "COM-ERR-4", "lint"))),
    ("| lint | the rest: it", Sentence("12.A", "MAY", "this: that", ("lint",), missing="the rest: it")),
    ("| COM-ERR-1/No", Sentence("12.A", "MAY", "this: that", ("COM-ERR-1",), (("COM-ERR-1", "No"),))),
    ("| not: unseen", Sentence("12.A", "MAY", "this: that", (), reason="cannot be seen from outside an adapter")),
])  # fmt: skip
def test_a_row_has_its_parts(row: str, wanted: Sentence) -> None:
    """Section, level and sentence, then ids in short and what is missing, or a reason."""
    assert list(read(f"12.A MAY: this: that {row}\n", "some.txt")) == [wanted]


@pytest.mark.parametrize(
    "row", ["1 MUST text | lint", "1 MUST: text", "1 MUST: text | not: a reason", "1 MUST: text | | lint"]
)
def test_a_malformed_row_is_named(row: str) -> None:
    """One sentence names the file, the line and the form."""
    with pytest.raises(ValueError, match=r"^some\.txt: line 1 of the table must have the form `SECTION LEVEL: "):
        list(read(f"{row}\n", "some.txt"))
