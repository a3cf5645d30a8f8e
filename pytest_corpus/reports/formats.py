"""The formats of a report, by the suffix of its file; a new one is a module and a line here.

Each module has `render(document) -> str`, a pure function of the canonical document (`json_report.build`); those of
`WITH_EVIDENCE` take `evidence` besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.reports.difference import Earlier

from pytest_corpus.verdict.evidence import Evidence

FORMATS: Mapping[str, str] = {
    ".json": "json_report",
    ".md": "markdown_report",
    ".html": "html_report",
    ".intoto.json": "intoto_report",
    ".badge.json": "badge_json",
    ".svg": "badge_svg",
}
"""The module below `reports/` that renders each format."""

BADGES = (".svg", ".badge.json")
"""The formats that say the verdict alone."""

MATRIX_FORMATS: Mapping[str, str] = {".html": "matrix_html", ".md": "matrix_markdown", ".json": "matrix"}
"""The module that renders each format of a matrix (`matrix.build`)."""

JUNIT = ".junit.xml"
"""The suffix of pytest's own JUnit file, which pytest writes itself."""


def suffix_of(name: str, known: Mapping[str, str] | tuple[str, ...] = FORMATS) -> str | None:
    """The longest known suffix that a file name ends in, with something before it; None where there is none."""
    fitting = [suffix for suffix in known if name.lower().endswith(suffix) and len(name) > len(suffix)]
    return max(fitting, key=len, default=None)


COMPARING = (".html",)
"""The formats that show what has changed since an earlier run: their `render` takes a `difference.Earlier` too."""

WITH_EVIDENCE = (".md", ".html")
"""The formats that show what is behind a finding; the others never hold content."""

WITH_CONTENTS = (".html",)
"""The formats that show prompts and answers of behaviour bundles."""


def render(
    document: Mapping[str, Any],
    suffix: str,
    known: Mapping[str, str] = FORMATS,
    earlier: Earlier | None = None,
    evidence: Sequence[Evidence] = (),
    *,
    contents: Sequence[Mapping[str, Any]] = (),
) -> str:
    """A document in the format of a suffix, beside an earlier run and with evidence where the format can show that.

    Args:
        contents: prompts and answers of cases of bundles that did not pass.

    Raises:
        KeyError: there is no such format.
    """
    more: dict[str, Any] = {}
    if earlier is not None and suffix in COMPARING:
        more["earlier"] = earlier
    if evidence and suffix in WITH_EVIDENCE:
        more["evidence"] = evidence
    if contents and suffix in WITH_CONTENTS:
        more["contents"] = contents
    text: str = import_module(f"pytest_corpus.reports.{known[suffix]}").render(document, **more)
    return text


def listed(known: Mapping[str, str] | tuple[str, ...]) -> str:
    """The suffixes as a person reads them: ``.json, .md or .html``."""
    *most, last = known
    if not most:
        return last
    return f"{', '.join(most)} or {last}"
