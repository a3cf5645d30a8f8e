"""Each relative link of README and docs leads somewhere in each place where it is read.

The site has a test of its own: Sphinx refuses a link without a target (test_pages.py).
"""

import re
from pathlib import Path

import pytest
from blocks import PAGES, ROOT, tokens
from cli_runs import call_command

from pytest_corpus.reports.pages.plain import to_plain_text

GENERATED = sorted((ROOT / "docs" / "components").glob("*.md"))
EVERY = (*PAGES, *GENERATED)


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures that are relative."""
    inline = [child for token in tokens(page) for child in token.children or ()]
    found = [
        str(child.attrs.get("href") or child.attrs.get("src"))
        for child in inline
        if child.type in ("link_open", "image")
    ]
    found += re.findall(r'(?:src|srcset)="([^"]+)"', page.read_text("utf-8"))
    return [each for each in found if not re.match(r"[a-z]+:", each)]


def anchors(page: Path) -> set[str]:
    """The anchors that a code host gives the headings of a page."""
    every = tokens(page)
    titles = [every[at + 1].content for at, token in enumerate(every) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.name)
def test_on_a_code_host(page: Path) -> None:
    """A relative link names a file of the repository, and an anchor a heading of it."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        included = re.search(r"\{include\} (\S+)", target.read_text("utf-8")) if target.suffix == ".md" else None
        target = (target.parent / included[1]).resolve() if included else target
        assert target.exists(), link
        assert not any(target.relative_to(ROOT).as_posix().startswith(each) for each in ignored), link
        assert not anchor or anchor in anchors(target) or re.fullmatch(r"R\d+|[A-Z]+-[A-Z]+-\d+", anchor), link


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.name)
def test_in_a_terminal(page: Path) -> None:
    """`(docs NAME)`, as a terminal shows a link to a page, is a page that `pytest-corpus docs NAME` shows."""
    named = set(re.findall(r"\(docs ([\w-]+)\)", to_plain_text(page.read_text("utf-8"))))
    for name in sorted(named):
        assert call_command("docs", name).code == 0, name
