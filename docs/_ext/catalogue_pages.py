"""The requirement catalogue in the site: docs/requirements.md as a list to search, and a page for each chapter.

The chapter pages are written to docs/requirements/, which git ignores, before Sphinx looks for pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.requirements import catalogue

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "requirements"

INTRODUCTION = """# Requirements

All {count} requirements of the suite, by chapter. `COM-` are those that components share; the others are those of LLM,
Vector, Embedding (`EMB-`), Graph and of client libraries (`WIR-`). Behind an id are its sources, its hint, the tests
that decide it and the faults that they find. On a terminal: `pytest-corpus list`, `pytest-corpus explain LLM-STREAM-1`.

```{{raw}} html
<p class="filter"><label for="filter">Show only what holds these words</label>
<input id="filter" type="search" placeholder="stream must, EMB, tenant ..." autocomplete="off">
<output for="filter"></output></p>
```
"""


def chapters(source: Path) -> dict[str, str]:
    """The text of each chapter of docs/requirements.md, by its name."""
    parts = re.split(r"^## (.+)\n", source.read_text("utf-8"), flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        found[name] = found.get(name, "") + text
    return found


def write_chapters(app: Sphinx) -> None:
    """Write a page for each chapter; what is there already as it should be is left alone."""
    folder = Path(app.srcdir) / PAGE
    folder.mkdir(exist_ok=True)
    wanted = {
        folder / f"{name.lower()}.md": f"# {name}\n{text.replace('### ', '## ')}"
        for name, text in chapters(folder.with_suffix(".md")).items()
    }
    for stray in set(folder.iterdir()) - set(wanted):
        stray.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def overview(_: Sphinx, docname: str, source: list[str]) -> None:
    """In the place of the whole catalogue on one page: a line for each requirement."""
    if docname != PAGE:
        return
    entries = catalogue()
    by_chapter: dict[str, list[str]] = {}
    for entry in entries.values():
        text = entry.text.replace("|", "\\|")
        where = "all" if entry.components == COMPONENTS else ", ".join(entry.components)
        row = f"| {entry.id} | {entry.level} | {text} | {where} |"
        by_chapter.setdefault(entry.chapter, []).append(row)
    lines = [INTRODUCTION.format(count=len(entries))]
    for name, rows in by_chapter.items():
        lines += [f"## {name}\n", "| id | level | what it asks | components |", "|---|---|---|---|", *rows, ""]
    names = "\n".join(f"{PAGE}/{name.lower()}" for name in by_chapter)
    lines.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```\n")
    source[0] = "\n".join(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("builder-inited", write_chapters)
    app.connect("source-read", overview)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
