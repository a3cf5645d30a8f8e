"""A matrix as one HTML page: providers by requirements, to be filtered and searched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports.html.page import (
    SIGNS,
    TONES,
    filters,
    findings,
    page,
    pairs,
    pill,
    sentence,
    status_pill,
    text,
    top,
    verdict_pill,
)
from pytest_corpus.reports.matrix import mixed
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS
from pytest_corpus.reports.view import ratio
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
    if said := mixed(matrix):
        yield f'<p class="notice">{text(said)}</p>'
    yield '<section aria-labelledby="verdicts"><h2 id="verdicts">Verdicts</h2><div class="cards">'
    yield from (_card(report) for report in matrix["reports"])
    yield "</div></section>"
    yield '<section aria-labelledby="requirements"><h2 id="requirements">Requirements</h2>'
    chapters = dict.fromkeys(chapter["chapter"] for chapter in matrix["chapters"])
    differ = '<label class="check"><input type="checkbox" name="differ" value="1">Only where they differ</label>'
    yield from filters(tested, chapters, differ)
    signs = "".join(f"<li>{status_pill(status)}</li>" for status in STATUS_WORDS)
    yield f'<ul class="legend small">{signs}<li class="muted">empty: not in that report</li></ul>'
    yield '<div class="scroll" tabindex="0" role="region" aria-labelledby="requirements"><table>'
    labels = ""
    for report in matrix["reports"]:
        label = text(report["label"])
        label = f'<a href="{text(report["link"])}">{label}</a>' if report.get("link") else label
        labels += f'<th scope="col">{label}</th>'
    yield f'<thead><tr><th scope="col">Requirement</th>{labels}</tr></thead>'
    for chapter in matrix["chapters"]:
        yield from _chapter(chapter, matrix["reports"])
    yield from _totals(matrix["reports"])
    yield "</table></div></section></main>"
    yield f'<footer class="small muted"><p>Requirement catalogue {text(versions)}</p></footer>'


def _totals(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "<tfoot>"
    for level in sorted({level for report in reports for level in report["totals"]}):
        cells = "".join(f"<td>{ratio(report['totals'].get(level, {}))}</td>" for report in reports)
        yield f'<tr><th scope="row">Satisfied {text(level.upper())}</th>{cells}</tr>'
    yield "</tfoot>"


def _card(report: Mapping[str, Any]) -> str:
    words = pill(report["tone"], SIGNS[report["tone"]], report["words"])
    server = " ".join(str(report[key]) for key in ("server", "version") if key in report)
    each = ""
    for name in TITLES:
        if verdict := report["components"].get(name):
            each += f"<div><dt>{TITLES[name]}</dt><dd>{verdict_pill(verdict)}</dd></div>"
    return (
        f'<article class="card"><header><h3>{text(report["label"])}</h3></header><p>{words}</p>'
        f'<p class="small muted">{text(server)}</p><dl class="pairs">{each}</dl></article>'
    )


def _chapter(chapter: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    component, name = chapter["component"], text(chapter["chapter"])
    yield f'<tbody class="chapter"><tr class="group"><th scope="rowgroup" colspan="{len(reports) + 1}">'
    yield f"{TITLES[component]}: {name}</th></tr>"
    for row in chapter["rows"]:
        found = " ".join(status or "absent" for status in row["statuses"])
        cells = "".join(
            _cell(status, said, f"{component}-{row['id']}", report)
            for status, said, report in zip(row["statuses"], row["cells"], reports, strict=True)
        )
        yield (
            f'<tr class="row" data-component="{component}" data-level="{row["level"]}" data-status="{found}" '
            f'data-chapter="{name}"><th scope="row"><span class="id">{text(row["id"])}</span> '
            f'<span class="muted small">{row["level"]}</span><br>'
            f'<span class="claim small">{sentence(row["text"])}</span></th>{cells}</tr>'
        )
    yield "</tbody>"


def _cell(status: str | None, said: Mapping[str, Any] | None, place: str, report: Mapping[str, Any]) -> str:
    if status is None:
        return '<td class="absent"><span class="unseen">not in this report</span></td>'
    sign = f'<span aria-hidden="true">{STATUS_SIGNS[status]}</span>'
    words = f'{sign} <span class="word">{STATUS_WORDS[status]}</span>'
    if said is None:
        return f'<td class="{TONES[status]}">{words}</td>'
    rows = list(_said(said))
    if report.get("link"):
        rows.append(("Report", f'<a href="{text(report["link"])}#{text(place)}">{text(report["label"])}</a>'))
    return f'<td class="{TONES[status]}"><details><summary>{words}</summary>{pairs(rows)}</details></td>'


def _said(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from findings(said)
    if said.get("reason"):
        yield "Reason", text(said["reason"])
    if said.get("keyword"):
        yield "Would help", f"the factory keyword <code>{text(said['keyword'])}</code>"
    if said.get("blocked_by"):
        yield "Blocked by", text(", ".join(said["blocked_by"]))
