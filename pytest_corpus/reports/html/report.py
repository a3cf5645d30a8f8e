"""The report as one HTML page: verdict, numbers, findings, and every requirement to be filtered and searched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.difference import Earlier, since
from pytest_corpus.reports.html import requirements
from pytest_corpus.reports.html.bundles import bundles
from pytest_corpus.reports.html.page import SIGNS, TONES, page, pairs, text, top, verdict_pill
from pytest_corpus.reports.html.requirements import Shown, appendix
from pytest_corpus.reports.text import STATUS_WORDS
from pytest_corpus.spec.components import TITLES
from pytest_corpus.verdict.evidence import Evidence

MEANINGS = {
    "conformant": "Every applicable MUST is satisfied.",
    "conformant_with_deviations": "Every applicable MUST is satisfied, but for the declared deviations.",
    "incomplete": "No MUST is violated, but some were not assessed.",
    "nonconformant": "The adapter violates binding requirements.",
    "partial": "What ran is listed below; it supports no verdict.",
}


def render(
    document: view.Document,
    earlier: Earlier | None = None,
    evidence: Sequence[Evidence] = (),
    contents: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page, with changes since an earlier run, evidence of findings, prompts and answers of bundles if given."""
    shown = Shown(document, earlier, tuple(evidence))
    alone = bundle_view.headline(document)
    return page(
        alone[1] if alone else f"{view.words(document)} - {document['adapter']['name']}", _body(shown, contents)
    )


def _body(shown: Shown, contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    document = shown.document
    alone = bundle_view.headline(document)
    yield top("Behaviour bundles" if alone else "Corpus Protocol v1.0 conformance report")
    yield "<main>"
    yield from _verdict(shown)
    if not alone:
        yield from _components(document)
    for part in (requirements.fix_first, requirements.findings, requirements.deviations):
        yield from part(shown)
    yield from bundles(document, contents)
    yield from requirements.helps(shown)
    if not alone:
        yield from requirements.rows(shown)
        yield from appendix(document)
    yield from _background(document)
    yield "</main>"
    seal = f"<code>{text(document['sha256'])}</code>"
    yield f'<footer class="small muted"><p>sha256 of the JSON report: {seal}</p></footer>'


def _verdict(shown: Shown) -> Iterator[str]:
    document = shown.document
    alone = bundle_view.headline(document)
    tone, words = alone or (str(view.tone(document)), view.words(document))
    yield f'<section class="verdict {tone}" aria-labelledby="verdict">'
    yield "" if alone else f'<p class="name">{text(document["adapter"]["name"])}</p>'
    yield f'<h1 id="verdict"><span aria-hidden="true">{SIGNS[tone]}</span> {text(words[:1].upper() + words[1:])}</h1>'
    if alone is None:
        lines = view.notices(document) or [MEANINGS[document["verdict"]]]
        yield from (f"<p>{text(line)}</p>" for line in lines)
        yield from (f"<p>Not complete: {text(gap)}.</p>" for gap in document["gaps"])
    yield from (f"<p>{text(note)}</p>" for note in document.get("notes", ()))
    if shown.earlier:
        yield f"<p>Since {text(shown.earlier.label)}: {text(since(document, shown.earlier))}.</p>"
    facts = {label: text(value) for label, value in view.facts(document)}
    url = document.get("ci", {}).get("url", "")
    if url.startswith(("https://", "http://")) and "CI run" in facts:
        facts["CI run"] = f'<a href="{text(url)}">{facts["CI run"]}</a>'
    if commit := facts.pop("Commit", ""):
        facts["Commit"] = f"<code>{commit}</code>"
    left_out = ("Adapter", "sha256", *(("Catalogue", "Schema editions met", "Counts from", "Seed") if alone else ()))
    rows = [(label, markup) for label, markup in facts.items() if label not in left_out]
    yield pairs([*([] if alone else [("Components", text(view.titles(document)))]), *rows], "facts")
    yield "</section>"


def _components(document: view.Document) -> Iterator[str]:
    yield '<section aria-labelledby="components"><h2 id="components">Components</h2><div class="cards">'
    lost = view.altered(document)
    for component in view.components(document):
        said = verdict_pill("altered" if lost else document["components"][component]["verdict"])
        yield f'<article class="card"><header><h3>{TITLES[component]}</h3>{said}</header>'
        for row in view.numbers(document, component):
            yield _numbers(row)
        if used := view.used([document["components"][component]]):
            yield f'<p class="small muted">{used}</p>'
        yield "</article>"
    yield "</div></section>"


def _numbers(row: view.Numbers) -> str:
    parts = {status: getattr(row, status) for status in STATUS_WORDS}
    rest = " · ".join(f"{parts[status]} {word}" for status, word in STATUS_WORDS.items() if status != "satisfied")
    at, bars = 0, ""
    for status, number in parts.items():
        bars += f'<rect class="{TONES[status]}" x="{at}" width="{number}" height="10"/>' if number else ""
        at += number
    bar = f'<svg class="bar" viewBox="0 0 {at or 1} 10" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'
    return (
        f'<div class="level-row"><p><strong>{row.level}</strong> <span class="ratio">{row.satisfied} / '
        f'{row.applicable}</span> satisfied</p>{bar}<p class="small muted">{rest}</p></div>'
    )


def _background(document: view.Document) -> Iterator[str]:
    yield '<section aria-labelledby="background"><h2 id="background">Background</h2>'
    for component in view.components(document):
        stated = document["capabilities"].get(component)
        if stated:
            rows = [(name, f"<code>{text(value)}</code>") for name, value in _flat(stated)]
            yield f'<details class="plain"><summary>Capabilities: {TITLES[component]}</summary>{pairs(rows)}</details>'
    rows = [(name, text(value)) for name, value in sorted(document["environment"].items())]
    yield f'<details class="plain"><summary>Environment</summary>{pairs(rows)}</details></section>'


def _flat(stated: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in sorted(stated.items()):
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list):
            yield prefix + name, ", ".join(map(str, value)) or "none"
        else:
            yield prefix + name, {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
