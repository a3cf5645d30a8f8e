"""The report formats by file suffix. To add one, write a module and a row in `FORMATS`.

Each module has `render(document) -> str`, which depends on the JSON report (`json_report.build_report`) only. It may
have further parameters: `evidence` (requests and answers of findings), `earlier` (a report to compare with) or
`contents` (prompts and answers of bundles).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.reports.difference import EarlierReport
    from pytest_corpus.verdict.finding import Finding

FORMATS: Mapping[str, str] = {
    ".json": "json_report",
    ".md": "markdown.report",
    ".html": "html.report",
    ".intoto.json": "signing.intoto",
    ".badge.json": "badges:render_endpoint",
    ".svg": "badges:render_picture",
    ".sarif": "sarif",
}
"""The module below `reports/` that renders each format, with the name of its function if it is not `render`."""

BADGES = tuple(suffix for suffix, module in FORMATS.items() if module.startswith("badges:"))
"""The formats that only show the verdict."""

MATRIX_FORMATS: Mapping[str, str] = {".html": "html.matrix", ".md": "markdown.matrix", ".json": "json_report"}
"""The module that renders each format of a matrix (`matrix.build_matrix`)."""

JUNIT = ".junit.xml"  # the suffix of pytest's own JUnit file, which pytest writes itself


def suffix_of(name: str, known: Mapping[str, str] | tuple[str, ...] = FORMATS) -> str | None:
    """Return the longest known suffix of a file name, or None. The name must have characters before the suffix."""
    fitting = [suffix for suffix in known if name.lower().endswith(suffix) and len(name) > len(suffix)]
    return max(fitting, key=len, default=None)


def render(
    document: Mapping[str, Any],
    suffix: str,
    known: Mapping[str, str] = FORMATS,
    earlier: EarlierReport | None = None,
    evidence: Sequence[Finding] = (),
    *,
    contents: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return a document in the format of a suffix. Arguments that the format does not show are ignored.

    Args:
        earlier: an earlier report to compare with.
        evidence: the requests, answers and other facts of findings.
        contents: prompts and answers of the bundles' cases that did not pass.

    Raises:
        KeyError: there is no such format.
    """
    function = _renderer(known[suffix])
    given = {"earlier": earlier, "evidence": evidence, "contents": contents}
    shown = signature(function).parameters
    text: str = function(document, **{name: value for name, value in given.items() if value and name in shown})
    return text


def comparison_suffixes() -> tuple[str, ...]:
    """Return the suffixes of formats that can show the changes since an earlier report."""
    return tuple(suffix for suffix, module in FORMATS.items() if "earlier" in signature(_renderer(module)).parameters)


def _renderer(module: str) -> Callable[..., str]:
    name, _, function = module.partition(":")
    renderer: Callable[..., str] = getattr(import_module(f"pytest_corpus.reports.{name}"), function or "render")
    return renderer


def list_suffixes(known: Mapping[str, str] | tuple[str, ...]) -> str:
    """Return the suffixes as text: ``.json, .md or .html``."""
    *most, last = known
    return f"{', '.join(most)} or {last}" if most else last
