"""The pages of docs/ that are made from the tables of `pytest_corpus/spec/`, the plugin's code and the import contract.

python tools/pages.py            write the committed pages: requirements, options, components, detection, the layers
python tools/pages.py --check    write nothing; exit with 1 if one of them is not current
python tools/pages.py --site     write the pages that only the site has into folders that git ignores
"""

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
"""The folders of docs/ that hold nothing but pages of the site."""


def committed() -> dict[str, str]:
    """The text of each committed page and of each edition that can still change, by its path from docs/."""
    pages = {
        **requirements.pages(),
        **options.pages(),
        **drawing.pages(),
        **detection.pages(),
        **components.render_pages(),
    }
    return {**pages, **dict(unreleased())}


def unreleased() -> Iterator[tuple[str, str]]:
    """Each edition that can still change, with the requirements that the catalogue has now."""
    for name in editions.names():
        if not editions.edition(name).released:
            file = f"../pytest_corpus/spec/editions/{name}.toml"
            head, table, _ = (DOCS / file).read_text("utf-8").partition("[requirements]\n")
            yield file, head + table + editions.current_edition_table()


def site() -> dict[str, str]:
    """The text of each page that only the site has, by its path below docs/."""
    return {**coverage.pages(), **requirements.details()}


def write(pages: dict[str, str]) -> None:
    """Write the pages that have changed, so that Sphinx does not read the others again."""
    for name, text in pages.items():
        if _stale(name, text):
            (DOCS / name).parent.mkdir(exist_ok=True)
            (DOCS / name).write_text(text, encoding="utf-8")


def _stale(name: str, text: str) -> bool:
    path = DOCS / name
    return not path.is_file() or path.read_text("utf-8") != text


def main() -> int:
    """Write the pages, or name those that are not current."""
    parser = argparse.ArgumentParser(description="Pages that are made from tables and code.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is not current")
    mode.add_argument("--site", action="store_true", help="write the pages that only the site has")
    given = parser.parse_args()
    if given.check:
        stale = [name for name, text in committed().items() if _stale(name, text)]
        sys.stdout.writelines(f"docs/{name} is not current: run make docs\n" for name in stale)
        return 1 if stale else 0
    pages = site() if given.site else committed()
    write(pages)
    if given.site:
        for folder in SITE_FOLDERS:
            for path in (DOCS / folder).glob("*"):
                if path.relative_to(DOCS).as_posix() not in pages:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
