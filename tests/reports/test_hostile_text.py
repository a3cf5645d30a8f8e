"""200 hostile strings in every field that an adapter controls change nothing but text, in every format."""

import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ledgers import MUSTS, RUN, ledger, record
from tables import read_json_rows

from pytest_corpus.reports import formats, json_report, matrix, terminal
from pytest_corpus.reports.markdown.report import cell, code, sentence
from pytest_corpus.reports.reading import schema_flaws
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

HARMLESS = "plain"

BASE = (*read_json_rows(Path(__file__).with_name("hostile_texts.txt")), "x" * 5000)
STRINGS = (*BASE, *(f"a{each}b{each}" for each in BASE))[:230]


def test_there_are_200() -> None:
    """The list has as many strings as it promises, none of them twice."""
    assert len(set(STRINGS)) == len(STRINGS) >= 200


def filled(text: str, *, declared: bool = True) -> Ledger:
    """A ledger in which every text that an adapter controls is this one."""
    finding = Finding(MUSTS[0].id, text, text, text)
    found = ledger(
        record(MUSTS[0], "violated", findings=(finding,)),
        record(MUSTS[1], "not_assessed", reason=text),
        record(MUSTS[2], "not_applicable", reason=text),
    )
    found.adapter = text if declared else "a"
    facts = {"server": text, "version": text, "protocol": text, "supported_models": [text, text], "limits": {}}
    found.capabilities = {"llm": {**facts, "limits": {"max_context_length": text}}}
    return found


@cache
def built(text: str) -> dict[str, Any]:
    """The report on such a ledger, with its first requirements alone: the others hold no foreign text."""
    found = filled(text)
    run = json_report.RunFacts(RUN.started_at, 1.0, 0, "must", None, notes=(text,))
    document = json_report.build_report(found, decide(found), run)
    return json_report.add_digest({**document, "requirements": document["requirements"][:8]})


@cache
def raw(text: str) -> dict[str, Any]:
    """The same document as somebody else might have written it: with nothing cleaned."""

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put(item) for key, item in value.items()}
        if isinstance(value, list):
            return [put(item) for item in value]
        return text if value == HARMLESS else value

    return json_report.add_digest(put(built(HARMLESS)))


class Structure(HTMLParser):
    """The tags of a page with their attributes, but for their text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Any] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.found.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.found.append(decl)


def pages(document: dict[str, Any]) -> Iterator[str]:
    """The HTML pages that show a document."""
    yield formats.render(document, ".html")
    merged = matrix.build_matrix([("x.json", document), ("y.json", document)])
    yield formats.render(merged, ".html", formats.MATRIX_FORMATS)


def tables(markdown: str) -> list[str]:
    """The lines of a Markdown text without what code spans and escapes hide."""
    bare = (re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "CODE", line) for line in markdown.splitlines())
    return [re.sub(r"\\[!-/:-@\[-`{-~]", "E", line) for line in bare]


BEGINNING = re.compile(r"[\s|#<>-]*")
SMALL = (".intoto.json", ".badge.json", ".svg")
each_way = pytest.mark.parametrize("made", [built, raw], ids=["built", "raw"])
HARMLESS_PAGES = [Structure(page).found for page in pages(built(HARMLESS))]


def is_plain(text: str) -> bool:
    """True if no character of a text acts."""
    return all(line.isprintable() for line in text.split("\n"))


@each_way
def test_html(made: Any) -> None:
    """The pages have the tags and attributes that they have for a harmless adapter, and no character that acts."""
    for text in STRINGS:
        for page, harmless in zip(pages(made(text)), HARMLESS_PAGES, strict=True):
            assert Structure(page).found == harmless, ascii(text)
            assert is_plain(page), ascii(text)


@each_way
def test_markdown(made: Any) -> None:
    """The attestation has the lines of a harmless one, each table row its cells, and all foreign text is code."""
    harmless = formats.render(made(HARMLESS), ".md")
    for text in STRINGS:
        found = formats.render(made(text), ".md")
        assert is_plain(found), ascii(text)
        assert len(found.splitlines()) == len(harmless.splitlines()), ascii(text)
        for line, expected in zip(tables(found), tables(harmless), strict=True):
            assert line.count("|") == expected.count("|"), ascii(text)
            assert BEGINNING.match(line)[0] == BEGINNING.match(expected)[0], ascii(text)  # type: ignore[index]
            assert not [each for each in ("<script", "](", "@") if each in line], ascii(text)


@each_way
def test_markdown_of_a_matrix(made: Any) -> None:
    """Each row of each table has as many cells as its head, wherever a bar is taken for one."""

    def shown(text: str) -> str:
        merged = matrix.build_matrix([("x.json", made(text)), ("y.json", made(HARMLESS))])
        return formats.render(merged, ".md", formats.MATRIX_FORMATS)

    expected = [line.count("|") for line in shown(HARMLESS + "2").splitlines()]
    for text in STRINGS:
        found = shown(text)
        assert [line.count("|") for line in found.splitlines()] == expected, ascii(text)
        assert is_plain(found), ascii(text)


def shape(value: Any) -> Any:
    """The types of a JSON value's parts."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


@each_way
def test_json_and_badges(made: Any) -> None:
    """The statement and the badges are JSON and XML with the shape of harmless ones."""
    statement, badge, picture = (formats.render(made(HARMLESS), suffix) for suffix in SMALL)
    for text in STRINGS:
        told, *pictures = (formats.render(made(text), suffix) for suffix in SMALL)
        assert shape(json.loads(told)) == shape(json.loads(statement)), ascii(text)
        assert pictures == [badge, picture], ascii(text)
    ElementTree.fromstring(picture)


def test_json_report() -> None:
    """The report is printable UTF-8 that its schema accepts, and a terminal shows it as it is."""
    for text in STRINGS:
        assert schema_flaws(built(text)) == [], ascii(text)
        assert is_plain(json_report.render(built(text)).encode("utf-8").decode("utf-8")), ascii(text)


@pytest.mark.parametrize("text", ["`", "``a`", "a``", "|", "\\|", "", " ", "a|b`c", "\x1b|", "`|`"], ids=ascii)
def test_code_spans(text: str) -> None:
    """A code span is opened and closed by a run of backticks that is not inside, and a cell has no bar."""
    for span in (code(text), cell(text)):
        fence = re.match("`*", span).group()  # type: ignore[union-attr]
        inner = span[len(fence) : len(span) - len(fence)] if fence else ""
        assert fence not in re.findall("`+", inner)
    assert "|" not in cell(text)


@pytest.mark.parametrize(
    "text", ["- a", "1. a", "_a_ b", "*a*", "<b>", "a@b.c", "http://x", ":a:", "#1", "\\", "[a](b)"]
)
def test_sentences(text: str) -> None:
    """Characters that Markdown interprets are escaped, or shown as code."""
    assert sentence(text) != text


def test_sentences_of_the_catalogue_stay_readable() -> None:
    """A sentence with code in backticks stays as it is written."""
    assert sentence("`handle` answers; no exception escapes.") == "`handle` answers; no exception escapes."
    assert sentence("BEHAVIORAL_CONFORMANCE 5.3") == "BEHAVIORAL_CONFORMANCE 5.3"


def test_the_terminal_summary_moves_no_cursor() -> None:
    """No line of the summary has a character that acts on a terminal."""
    for text in STRINGS:
        found = filled(text)
        for line in terminal.build_summary(found, decide(found)):
            assert line.text.isprintable(), ascii(line)
