"""Pictures that come light and dark: `<picture>` in a page becomes two images, of which the theme shows one.

A forge shows `<picture>` as the browser's settings ask; the site has a switch of its own, and gets the files that way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\s*'
    r'<img alt="(?P<words>[^"]+)"(?: (?:width|align)="[^"]+")* src="(?P<light>[^"]+)">\s*</picture>'
)


def both(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Write the two images where a picture stands."""
    source[0] = PICTURE.sub(r"![\g<words>](\g<light>){.only-light}\n![\g<words>](\g<dark>){.only-dark}", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", both)
    return {"version": "1", "parallel_read_safe": True}
