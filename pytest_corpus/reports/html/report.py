"""The report as one HTML page: verdict, numbers, findings, and all requirements with filters and search."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.difference import EarlierReport, summarize_changes
from pytest_corpus.reports.html.bundles import iterate_bundles
from pytest_corpus.reports.html.page import render_page
from pytest_corpus.reports.html.requirements import PageContent
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
"""The facts that are left out of a report without components."""


def render(
    document: view.Document,
    earlier: EarlierReport | None = None,
    evidence: Sequence[Finding] = (),
    contents: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the page.

    Args:
        earlier: an earlier report to compare with.
        evidence: the requests and answers of findings.
        contents: the prompts and answers of bundles.
    """
    alone = bundle_view.headline(document)
    tone, words = alone or (view.tone_of(document), view.verdict_words(document))
    left_out = (*LEFT_OUT, *(OF_REQUIREMENTS if alone else ()))
    url = document.get("ci", {}).get("url", "")
    return render_page(
        "report.html",
        words if alone else f"{words} - {document['adapter']['name']}",
        shown=PageContent(document, earlier, tuple(evidence)),
        document=document,
        alone=bool(alone),
        tone=tone,
        words=words,
        notices=list(_notices(document, alone=bool(alone))),
        since=summarize_changes(document, earlier) if earlier else "",
        facts=[(label, value) for label, value in view.run_facts(document) if label not in left_out],
        url=url if url.startswith(("https://", "http://")) else "",
        bundles=list(iterate_bundles(document, contents)),
        flat=_flatten,
    )


def _notices(document: view.Document, *, alone: bool) -> Iterator[str]:
    if not alone:
        yield from view.warnings_before_verdict(document) or [MEANINGS[document["verdict"]]]
        yield from (f"Not complete: {gap}." for gap in document["gaps"])
    yield from document.get("notes", ())


def _flatten(stated: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in sorted(stated.items()):
        if isinstance(value, dict):
            yield from _flatten(value, f"{name}.")
        elif isinstance(value, list):
            yield prefix + name, ", ".join(map(str, value)) or "none"
        else:
            yield prefix + name, {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
