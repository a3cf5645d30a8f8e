"""Writes the pages of the site that the tables and the plugin's code decide: components, options, protocol.

python tools/reference_pages.py            writes the pages
python tools/reference_pages.py --check    exit code 1 where one is not current
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from site_pages import components, options, protocol

DOCS = Path(__file__).parent.parent / "docs"


def pages() -> dict[str, str]:
    """Every page by its path below docs/."""
    return {**components.pages(), **options.pages(), **protocol.pages()}


def main() -> int:
    """Write the pages, or say which are not current."""
    parser = argparse.ArgumentParser(description="The pages that the tables and the plugin's code decide.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where a page is not current")
    check, stale = parser.parse_args().check, []
    for name, text in pages().items():
        path = DOCS / name
        if check and not (path.is_file() and path.read_text("utf-8") == text):
            stale.append(name)
        elif not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sys.stdout.writelines(f"docs/{name} is not current: run make docs\n" for name in stale)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
