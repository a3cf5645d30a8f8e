"""A matrix as one HTML page: providers by requirements, to be filtered and searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.reports.html_page import TONES, filters, page, pill, sentence, text, top
from pytest_corpus.reports.html_report import SIGNS
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, VERDICT_WORDS
from pytest_corpus.reports.view import TONES as VERDICT_TONES
from pytest_corpus.spec.components import TITLES

TITLE = "Corpus Protocol v1.0 conformance matrix"


def render(matrix: Mapping[str, Any]) -> str:
    """The page."""
    return page(TITLE, _body(matrix))


def _body(matrix: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join(matrix["catalogues"])
    tested = [name for name in TITLES if any(name in report["components"] for report in matrix["reports"])]
    yield top(TITLE)
    yield "<main>"
    yield f'<h1 class="unseen">{TITLE}</h1>'
    yield '<section aria-labelledby="verdicts"><h2 id="verdicts">Verdicts</h2><div class="cards">'
    yield from (_card(report) for report in matrix["reports"])
    yield "</div></section>"
    yield '<section aria-labelledby="requirements"><h2 id="requirements">Requirements</h2>'
    chapters = dict.fromkeys(chapter["chapter"] for chapter in matrix["chapters"])
    differ = '<label class="check"><input type="checkbox" name="differ" value="1">Only where they differ</label>'
    yield from filters(tested, chapters, differ)
    yield '<div class="scroll" tabindex="0" role="region" aria-labelledby="requirements"><table>'
    labels = "".join(f'<th scope="col">{text(report["label"])}</th>' for report in matrix["reports"])
    yield f'<thead><tr><th scope="col">Requirement</th>{labels}</tr></thead>'
    for chapter in matrix["chapters"]:
        yield from _chapter(chapter, len(matrix["reports"]))
    yield "</table></div></section></main>"
    yield f'<footer class="small muted"><p>Requirement catalogue {text(versions)}</p></footer>'


def _card(report: Mapping[str, Any]) -> str:
    words = pill(report["tone"], SIGNS[report["tone"]], report["words"])
    server = " ".join(str(report[key]) for key in ("server", "version") if key in report)
    of = report["components"]
    each = "".join(_component(name, of[name]) for name in TITLES if name in of)
    return (
        f'<article class="card"><header><h3>{text(report["label"])}</h3></header><p>{words}</p>'
        f'<p class="small muted">{text(server)}</p><dl class="pairs">{each}</dl></article>'
    )


def _component(component: str, verdict: str) -> str:
    tone = VERDICT_TONES.get(verdict, "none")
    said = pill(tone, SIGNS[tone], VERDICT_WORDS.get(verdict, verdict))
    return f"<div><dt>{TITLES[component]}</dt><dd>{said}</dd></div>"


def _chapter(chapter: Mapping[str, Any], width: int) -> Iterator[str]:
    component, name = chapter["component"], text(chapter["chapter"])
    yield f'<tbody class="chapter"><tr class="group"><th scope="rowgroup" colspan="{width + 1}">'
    yield f"{TITLES[component]}: {name}</th></tr>"
    for row in chapter["rows"]:
        found = " ".join(status or "absent" for status in row["statuses"])
        yield (
            f'<tr class="row" data-component="{component}" data-level="{row["level"]}" data-status="{found}" '
            f'data-chapter="{name}"><th scope="row"><span class="id">{text(row["id"])}</span> '
            f'<span class="muted small">{row["level"]}</span><br>'
            f'<span class="claim small">{sentence(row["text"])}</span></th>{"".join(map(_cell, row["statuses"]))}</tr>'
        )
    yield "</tbody>"


def _cell(status: str | None) -> str:
    if status is None:
        return '<td class="absent"><span class="unseen">not in this report</span></td>'
    sign = f'<span aria-hidden="true">{STATUS_SIGNS[status]}</span>'
    return f'<td class="{TONES[status]}">{sign} <span class="word">{STATUS_WORDS[status]}</span></td>'
