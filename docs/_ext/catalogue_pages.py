"""The pages of the site that are not committed, which tools/pages.py writes before Sphinx looks for pages.

The list of requirements gets a search field and leads to the pages of its chapters. A committed page names a page of
the site as `**LLM**<!-- components/llm.md -->`: a code host shows the bold word, the site makes it a link.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "requirements"

TOOL = Path(__file__).resolve().parents[2] / "tools" / "pages.py"

LINK = re.compile(r"\*\*(?P<words>[^*]+)\*\*<!-- (?P<page>[\w/#.-]+) -->")

FILTER = """
```{raw} html
<p class="filter"><label for="filter">Show only rows with these words</label>
<input id="filter" type="search" placeholder="stream must, EMB, tenant ..." autocomplete="off">
<output for="filter"></output></p>
```
"""


def write_pages(_: Sphinx) -> None:
    """Write the pages into folders of docs/ that git ignores."""
    subprocess.run([sys.executable, str(TOOL), "--site"], check=True)


def complete(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make the links to pages of the site, and complete the list of requirements."""
    source[0] = LINK.sub(r"[\g<words>](\g<page>)", source[0])
    if docname == PAGE:
        title, _, text = source[0].partition("\n")
        names = "\n".join(f"{PAGE}/{path.stem}" for path in sorted((Path(app.srcdir) / PAGE).glob("*.md")))
        source[0] = f"{title}\n{FILTER}{text}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
