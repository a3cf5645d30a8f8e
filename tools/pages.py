"""Generates pages of docs/ from the tables in `pytest_corpus/spec/`, the plugin's code and the import contract."""

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from site_pages import coverage, detection, drawing, options, requirements

from pytest_corpus.reports.pages import components
from pytest_corpus.verdict import editions

DOCS = Path(__file__).resolve().parent.parent / "docs"

SITE_FOLDERS = ("documents", "requirements")
"""The folders of docs/ that only contain generated pages of the site."""


def committed_pages() -> dict[str, str]:
    """Return the text of each page in the repository, and of each edition that can change, by path below docs/."""
    pages = {
        **requirements.pages(),
        **options.pages(),
        **drawing.pages(),
        **detection.pages(),
        **components.render_pages(),
    }
    return {**pages, **dict(unreleased_editions())}


def unreleased_editions() -> Iterator[tuple[str, str]]:
    """Yield each edition that can still change, with the present requirements of the catalogue."""
    for name in editions.names():
        if not editions.edition(name).released:
            file = f"../pytest_corpus/spec/editions/{name}.toml"
            head, table, _ = (DOCS / file).read_text("utf-8").partition("[requirements]\n")
            yield file, head + table + editions.current_edition_table()


def site_pages_text() -> dict[str, str]:
    """Return the text of each page that only the site has, by path below docs/."""
    return {**coverage.pages(), **requirements.details()}


def write(pages: dict[str, str]) -> None:
    """Write the pages whose text has changed, so that Sphinx reads only these again."""
    for name, text in pages.items():
        if _stale(name, text):
            (DOCS / name).parent.mkdir(exist_ok=True)
            (DOCS / name).write_text(text, encoding="utf-8")


def _stale(name: str, text: str) -> bool:
    path = DOCS / name
    return not path.is_file() or path.read_text("utf-8") != text


def main() -> int:
    """Write the pages, or list those that are out of date."""
    parser = argparse.ArgumentParser(description="Pages that are made from tables and code.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is not current")
    mode.add_argument("--site", action="store_true", help="write the pages that only the site has")
    given = parser.parse_args()
    if given.check:
        stale = [name for name, text in committed_pages().items() if _stale(name, text)]
        sys.stdout.writelines(f"docs/{name} is not current: run make docs\n" for name in stale)
        return 1 if stale else 0
    pages = site_pages_text() if given.site else committed_pages()
    write(pages)
    if given.site:
        for folder in SITE_FOLDERS:
            for path in (DOCS / folder).glob("*"):
                if path.relative_to(DOCS).as_posix() not in pages:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
