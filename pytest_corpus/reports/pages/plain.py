"""Converts Markdown to text for a terminal: tables are aligned, and links name the page that they lead to."""

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
_HTML = re.compile(r"<!--.*?-->|</?(?:picture|source|img|a|br|sub|sup)\b[^>]*>", re.DOTALL)
WIDTH = 100


def to_plain_text(markdown: str) -> str:
    """Return a page as text with lines of about a hundred characters; code and examples are unchanged."""
    found: list[str] = []
    for is_code, block in _blocks(_HTML.sub("", markdown)):
        found += block if is_code else _text_lines(block)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(found)).strip() + "\n"


def _blocks(markdown: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield each block of a page: True if the block is code, and its lines. Code is indented, not fenced."""
    is_code, lines = False, list[str]()
    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            yield is_code, lines
            is_code, lines = not is_code, []
        else:
            lines.append(f"    {line}" if is_code else line)
    yield is_code, lines


def _text_lines(lines: list[str]) -> Iterator[str]:
    for is_table, group in groupby(lines, key=lambda line: line.startswith("|")):
        if is_table:
            yield from _table_lines([[_replace_links(cell) for cell in _split_cells(line)] for line in group])
        else:
            yield from _replace_links("\n".join(group)).split("\n")


def _replace_links(text: str) -> str:
    return _LINK.sub(lambda link: _link_text(link[1], link[2]), text)


def _link_text(text: str, target: str) -> str:
    page, _, _ = target.partition("#")
    if target.startswith(("http://", "https://")):
        return text if text == target else f"{text} <{target}>"
    return f"{text} (docs {page.rpartition('/')[2].removesuffix('.md')})" if page.endswith(".md") else text


def _split_cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _table_lines(rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of an aligned table; the last column is wrapped."""
    rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    widths = [min(max(len(row[at]) for row in rows if at < len(row)), WIDTH // 2) for at in range(len(rows[0]) - 1)]
    for row in rows:
        head = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        margin = " " * (sum(widths) + 2 * len(widths))
        first, *others = textwrap.wrap(row[-1], max(WIDTH - len(margin), 30)) or [""]
        yield f"{head}  {first}".rstrip() if len(row) > 1 else first
        yield from (margin + other for other in others)
