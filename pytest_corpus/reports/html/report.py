"""The report as one HTML page: verdict, numbers, findings, and all requirements with filters and search."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.difference import Earlier, since
from pytest_corpus.reports.html.bundles import bundles
from pytest_corpus.reports.html.page import page
from pytest_corpus.reports.html.requirements import Shown
from pytest_corpus.verdict.finding import Finding

MEANINGS = {
    "conformant": "Every applicable MUST is satisfied.",
    "conformant_with_deviations": "Every applicable MUST is satisfied, but for the declared deviations.",
    "incomplete": "No MUST is violated, but some were not assessed.",
    "nonconformant": "The adapter violates binding requirements.",
    "partial": "What ran is listed below; it supports no verdict.",
}

LEFT_OUT = ("Adapter", "sha256")
OF_REQUIREMENTS = ("Catalogue", "Schema versions met", "Counts from", "Seed")
"""Facts that a report without components does not have."""


def render(
    document: view.Document,
    earlier: Earlier | None = None,
    evidence: Sequence[Finding] = (),
    contents: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page; if given, with changes since an earlier run, evidence of findings, prompts and answers of bundles."""
    alone = bundle_view.headline(document)
    tone, words = alone or (view.tone(document), view.words(document))
    left_out = (*LEFT_OUT, *(OF_REQUIREMENTS if alone else ()))
    url = document.get("ci", {}).get("url", "")
    return page(
        "report.html",
        words if alone else f"{words} - {document['adapter']['name']}",
        shown=Shown(document, earlier, tuple(evidence)),
        document=document,
        alone=bool(alone),
        tone=tone,
        words=words,
        notices=list(_notices(document, alone=bool(alone))),
        since=since(document, earlier) if earlier else "",
        facts=[(label, value) for label, value in view.facts(document) if label not in left_out],
        url=url if url.startswith(("https://", "http://")) else "",
        bundles=list(bundles(document, contents)),
        flat=_flat,
    )


def _notices(document: view.Document, *, alone: bool) -> Iterator[str]:
    if not alone:
        yield from view.notices(document) or [MEANINGS[document["verdict"]]]
        yield from (f"Not complete: {gap}." for gap in document["gaps"])
    yield from document.get("notes", ())


def _flat(stated: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in sorted(stated.items()):
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list):
            yield prefix + name, ", ".join(map(str, value)) or "none"
        else:
            yield prefix + name, {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
