"""The code blocks and the commands that the pages for users hold."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]

PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
)
"""Every committed page for users."""

OPERATORS = ("|", ">", ">>", "&&", ";")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page, its first line, its language and what it says."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))


def name_of(page: Path) -> str:
    """A page as people name it."""
    return page.relative_to(ROOT).as_posix()


def blocks(*languages: str) -> list[Block]:
    """The blocks of every page, or those of some languages; one that is only indented has no language."""
    found = []
    for page in PAGES:
        for token in tokens(page):
            if token.type in ("fence", "code_block") and (not languages or token.info.strip() in languages):
                assert token.map is not None
                found.append(Block(name_of(page), token.map[0] + 1, token.info.strip(), token.content))
    return found


def sample() -> str:
    """The adapter that the README shows."""
    (block,) = (block for block in blocks("python") if block.page == "README.md")
    return block.text


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command that a page shows, without what its output goes to, as the words of a shell."""

    where: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where}: {shlex.join(self.words)}"


def commands() -> list[Command]:
    """Every command of every page: of blocks for a shell, of CI files, and of the table of commands."""
    return [
        Command(where, words)
        for where, line in (*_lines_of_shells(), *_lines_of_yaml(), *_lines_of_the_table())
        for words in _simple(line)
    ]


def _lines_of_shells() -> Iterator[tuple[str, str]]:
    for block in blocks("sh"):
        yield from ((str(block), line) for line in block.text.splitlines())


def _lines_of_yaml() -> Iterator[tuple[str, str]]:
    for block in blocks("yaml"):
        yield from ((str(block), line) for line in _run_by(yaml.safe_load(block.text)))


def _run_by(value: Any) -> Iterator[str]:
    """The commands that a file of a CI server, or of pre-commit, has run."""
    if isinstance(value, list):
        for item in value:
            yield from _run_by(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("run", "script", "entry"):
                yield from [item] if isinstance(item, str) else item
            else:
                yield from _run_by(item)


def _lines_of_the_table() -> Iterator[tuple[str, str]]:
    """The commands in the last column of docs/document-commands.md."""
    page = ROOT / "docs" / "document-commands.md"
    cells = [token for token in tokens(page) if token.type == "inline" and token.level == 4]
    for cell in cells[1::2]:
        for child in cell.children or ():
            if child.type == "code_inline" and re.match(r"(pytest|pytest-corpus|python|make) ", child.content):
                yield f"{name_of(page)}: {child.content}", child.content


def _simple(line: str) -> Iterator[tuple[str, ...]]:
    """The simple commands of a line, as the shell takes it apart."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    target = False
    for word in (*lexer, ";"):
        if word in OPERATORS:
            if words and not target:
                yield tuple(words)
            words, target = [], word.startswith(">")
        else:
            words.append(word)
