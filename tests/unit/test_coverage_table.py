"""The table of normative sentences: every name in it exists, and nothing that is asked is missing from it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_corpus.spec.coverage import MODULES, Sentence, sentences
from pytest_corpus.spec.coverage.sentence import REASONS, TOOLS, must
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue

ROOT = Path(__file__).resolve().parents[2]
TABLE = [(document, sentence) for document in MODULES for sentence in sentences(document)]


def told(document: str, sentence: Sentence) -> str:
    return f"{document} {sentence.section}: {sentence.text}"


def test_every_source_names_a_section_that_exists() -> None:
    """What a requirement rests on is a section of a document, or a ruling that docs/rulings.md has."""
    rulings = set(re.findall(r"^### (R[0-9]+) ", (ROOT / "docs" / "rulings.md").read_text("utf-8"), re.MULTILINE))
    known = {f"{document} {section}" for document, sections in SECTIONS.items() for section in sections} | rulings
    wrong = [
        f"{entry.id}: {source}" for entry in catalogue().values() for source in entry.source if source not in known
    ]
    assert wrong == []


def test_every_section_of_the_table_exists() -> None:
    """Each sentence stands in a section of its document, and the sections come in the order of the document."""
    assert MODULES.keys() == SECTIONS.keys()
    assert [told(*row) for row in TABLE if row[1].section not in SECTIONS[row[0]]] == []
    for document in MODULES:
        order = [list(SECTIONS[document]).index(sentence.section) for sentence in sentences(document)]
        assert order == sorted(order), document


def test_every_name_in_the_table_exists() -> None:
    """Who asks is a requirement or a tool, and stands once; a reason is one of the reasons."""
    assert [told(*row) for row in TABLE if not set(row[1].asked_by) <= catalogue().keys() | TOOLS.keys()] == []
    assert [told(*row) for row in TABLE if len(set(row[1].asked_by)) != len(row[1].asked_by)] == []
    assert [told(*row) for row in TABLE if row[1].reason and row[1].reason not in REASONS] == []


def test_every_sentence_is_asked_or_has_its_reason() -> None:
    """Never both, and never neither."""
    assert [told(*row) for row in TABLE if bool(row[1].asked_by) == bool(row[1].reason)] == []
    assert len({told(*row) for row in TABLE}) == len(TABLE)


def test_every_must_of_the_catalogue_stands_in_the_table() -> None:
    """A requirement that adapters have to meet asks a sentence of a document: add it to its row in spec/coverage/."""
    named = {each for _, sentence in TABLE for each in sentence.asked_by}
    assert [entry.id for entry in catalogue().values() if entry.level == "MUST" and entry.id not in named] == []


def test_a_demand_that_is_only_recommended_here_says_so() -> None:
    """Where requirements of a sentence with MUST are SHOULDs alone, the page says that something is missing."""
    weak = {entry.id for entry in catalogue().values() if entry.level != "MUST"}
    demanded = [row for row in TABLE if row[1].level == "MUST" and row[1].asked_by]
    assert [told(*row) for row in demanded if set(row[1].asked_by) <= weak and not row[1].missing] == []


def test_sentences_are_in_our_own_short_words() -> None:
    """A row names a sentence; it does not repeat it."""
    assert [told(*row) for row in TABLE if not 3 <= len(row[1].text) <= 100 or row[1].text.endswith(".")] == []
    assert [told(*row) for row in TABLE if "|" in f"{row[1].text}{row[1].missing}"] == []


@pytest.mark.parametrize(
    ("asked_by", "wanted"),
    [("COM-ERR-1", ("COM-ERR-1",)), ("COM-ERR-1:3 lint", ("COM-ERR-1", "COM-ERR-2", "COM-ERR-3", "lint"))],
)
def test_ids_are_written_in_short(asked_by: str, wanted: tuple[str, ...]) -> None:
    """A range stands for each id in it."""
    assert must("1", "text", asked_by).asked_by == wanted


def test_the_plugin_does_not_import_the_table() -> None:
    """A run does not pay for it."""
    code = (
        "import sys, pytest_corpus.plugin, pytest_corpus.spec.requirements as r; r.catalogue(); "
        "print([name for name in sys.modules if name.startswith('pytest_corpus.spec.coverage')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
