"""The report as one HTML page: verdict, numbers, findings, and every requirement to be filtered and searched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.html_page import TONES, filters, page, pairs, pill, sentence, status_pill, text, top
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, VERDICT_WORDS, count
from pytest_corpus.spec.components import TITLES
from pytest_corpus.verdict.verdict import counted

SIGNS = {"good": "✓", "caution": "!", "bad": "✗", "none": "○"}

MEANINGS = {
    "conformant": "Every applicable MUST is satisfied.",
    "conformant_with_deviations": "Every applicable MUST is satisfied, but for the declared deviations.",
    "incomplete": "No MUST is violated, but some were not assessed.",
    "nonconformant": "The adapter breaks sentences of the protocol that bind it.",
    "partial": "What ran is listed below; it supports no verdict.",
}


def render(document: view.Document) -> str:
    """The page."""
    return page(f"{view.words(document)} - {document['adapter']['name']}", _body(document))


def _body(document: view.Document) -> Iterator[str]:
    yield top("Corpus Protocol v1.0 conformance report")
    yield "<main>"
    yield from _verdict(document)
    yield from _components(document)
    yield from _findings(document)
    yield from _deviations(document)
    yield from _helps(document)
    yield from _requirements(document)
    yield from _background(document)
    yield "</main>"
    seal = f"<code>{text(document['sha256'])}</code>"
    yield f'<footer class="small muted"><p>sha256 of the JSON report: {seal}</p></footer>'


def _verdict(document: view.Document) -> Iterator[str]:
    tone = view.tone(document)
    words = view.words(document)
    yield f'<section class="verdict {tone}" aria-labelledby="verdict">'
    yield f'<p class="name">{text(document["adapter"]["name"])}</p>'
    yield f'<h1 id="verdict"><span aria-hidden="true">{SIGNS[tone]}</span> {text(words[:1].upper() + words[1:])}</h1>'
    lines = view.notices(document) or [MEANINGS[document["verdict"]]]
    yield from (f"<p>{text(line)}</p>" for line in lines)
    yield from (f"<p>Not complete: {text(gap)}.</p>" for gap in document["gaps"])
    yield from (f"<p>{text(note)}</p>" for note in document.get("notes", ()))
    rows = [
        (label, text(value)) for label, value in view.facts(document) if label not in ("Adapter", "sha256", "Commit")
    ]
    url = document.get("ci", {}).get("url", "")
    if url.startswith(("https://", "http://")):
        rows = [(label, f'<a href="{text(url)}">{value}</a>' if label == "CI run" else value) for label, value in rows]
    if commit := document.get("commit"):
        rows.append(("Commit", f"<code>{text(commit)}</code>"))
    yield pairs([("Components", text(view.titles(document))), *rows], "facts")
    yield "</section>"


def _components(document: view.Document) -> Iterator[str]:
    yield '<section aria-labelledby="components"><h2 id="components">Components</h2><div class="cards">'
    lost = view.altered(document)
    for component in view.components(document):
        verdict = document["components"][component]["verdict"]
        tone = "none" if lost else view.TONES[verdict]
        said = pill(tone, SIGNS[tone], "altered" if lost else VERDICT_WORDS[verdict])
        yield f'<article class="card"><header><h3>{TITLES[component]}</h3>{said}</header>'
        for row in view.numbers(document, component):
            yield _numbers(row)
        yield "</article>"
    yield "</div></section>"


def _numbers(row: view.Numbers) -> str:
    parts = {status: getattr(row, status) for status in STATUS_WORDS}
    rest = " · ".join(f"{parts[status]} {word}" for status, word in STATUS_WORDS.items() if status != "satisfied")
    whole = sum(parts.values()) or 1
    at, bars = 0, []
    for status, number in parts.items():
        bars.append(f'<rect class="{TONES[status]}" x="{at}" width="{number}" height="10"/>' if number else "")
        at += number
    bar = (
        f'<svg class="bar" viewBox="0 0 {whole} 10" preserveAspectRatio="none" aria-hidden="true">{"".join(bars)}</svg>'
    )
    return (
        f'<div class="level-row"><p><strong>{row.level}</strong> <span class="ratio">{row.satisfied} / '
        f'{row.applicable}</span> satisfied</p>{bar}<p class="small muted">{rest}</p></div>'
    )


def _findings(document: view.Document) -> Iterator[str]:
    violated = view.of_status(document, "violated")
    if violated:
        yield f'<section aria-labelledby="findings"><h2 id="findings">{count(len(violated), "violation")}</h2>'
        yield '<ol class="stack">'
        for entry in violated:
            tone = "bad" if entry["level"] in counted(document["level"]) else "caution"
            yield f'<li class="card finding {tone}">{_head(entry)}<p class="claim">{sentence(entry["text"])}</p>'
            rows = list(_evidence(entry))
            rows.append(("Rerun", f"<code>{text(view.rerun(document, entry['id']))}</code>"))
            yield pairs([("Source", _sources(entry)), *rows]) + "</li>"
        yield "</ol></section>"


def _deviations(document: view.Document) -> Iterator[str]:
    deviated = view.of_status(document, "deviated")
    if deviated:
        yield f'<section aria-labelledby="deviations"><h2 id="deviations">{count(len(deviated), "deviation")}</h2>'
        yield '<ul class="stack">'
        for entry in deviated:
            yield f'<li class="card finding caution">{_head(entry)}<p class="claim">{sentence(entry["text"])}</p>'
            yield pairs(_declared(entry)) + "</li>"
        yield "</ul></section>"


def _helps(document: view.Document) -> Iterator[str]:
    """What would make more requirements assessable."""
    left = view.of_status(document, "not_assessed")
    causes: dict[str, int] = {}
    for entry in left:
        for cause in _causes(entry):
            causes[cause] = causes.get(cause, 0) + 1
    if causes:
        title = f"{count(len(left), 'requirement')} not assessed"
        yield f'<section aria-labelledby="open"><h2 id="open">{title}</h2><ul class="plain stack">'
        ordered = sorted(causes.items(), key=lambda pair: -pair[1])
        yield from (f"<li><strong>{number}</strong> {cause}</li>" for cause, number in ordered)
        yield "</ul></section>"


def _causes(entry: dict[str, Any]) -> list[str]:
    if entry.get("blocked_by"):
        return [f'blocked by <span class="id">{text(name)}</span>' for name in entry["blocked_by"]]
    if keyword := entry.get("keyword"):
        return [f"the factory does not accept <code>{text(keyword)}</code>"]
    return [f"because {text(entry.get('reason') or 'no reason was noted')}"]


def _requirements(document: view.Document) -> Iterator[str]:
    entries = sorted(document["requirements"], key=lambda entry: list(TITLES).index(entry["component"]))
    chapters = list(dict.fromkeys(view.chapter(entry["id"]) for entry in entries))
    yield '<section aria-labelledby="requirements"><h2 id="requirements">All requirements</h2>'
    yield from filters(view.components(document), chapters)
    for (component, name), group in groupby(entries, lambda entry: (entry["component"], view.chapter(entry["id"]))):
        rows = list(group)
        fine = sum(entry["status"] == "satisfied" for entry in rows)
        applicable = sum(entry["status"] != "not_applicable" for entry in rows)
        yield f'<section class="chapter"><h3>{TITLES[component]}: {text(name)}'
        yield f'<span class="muted small">{fine} / {applicable} satisfied</span></h3><div class="rows">'
        yield from (_row(entry) for entry in rows)
        yield "</div></section>"
    yield "</section>"


def _row(entry: dict[str, Any]) -> str:
    tests = "".join(f"<li>{_test(test)}</li>" for test in entry["tests"])
    rows = [("Source", _sources(entry)), *_evidence(entry)]
    if entry.get("deviation"):
        rows += _declared(entry)
    if entry.get("reason"):
        rows.append(("Reason", text(entry["reason"])))
    if entry.get("blocked_by"):
        rows.append(("Blocked by", ", ".join(map(text, entry["blocked_by"]))))
    if repeats := entry.get("repeats"):
        rows.append(("Repeated", f"passed {repeats['passed']} of {repeats['runs']}"))
    rows.append((count(len(entry["tests"]), "test"), f'<ul class="tests">{tests}</ul>' if tests else "none ran"))
    chapter = view.chapter(entry["id"])
    return (
        f'<details class="row" id="{entry["component"]}-{text(entry["id"])}" data-component="{entry["component"]}" '
        f'data-level="{entry["level"]}" data-status="{entry["status"]}" data-chapter="{text(chapter)}">'
        f'<summary>{status_pill(entry["status"])}<span class="id">{text(entry["id"])}</span>'
        f'<span class="muted small">{entry["level"]}</span>'
        f'<span class="claim">{sentence(entry["text"])}</span></summary>'
        f'<div class="body">{pairs(rows)}</div></details>'
    )


def _test(test: dict[str, Any]) -> str:
    outcome = test["outcome"]
    sign, words = STATUS_SIGNS.get(outcome, "!"), STATUS_WORDS.get(outcome, "error of the kit")
    said = f'<span aria-hidden="true">{sign}</span> <span class="unseen">{words}</span>'
    repeats = test.get("repeats")
    often = f" passed {repeats['passed']} of {repeats['runs']}" if repeats else ""
    reason = f' <span class="muted">({text(test["reason"])})</span>' if test.get("reason") else ""
    return f"{said} <code>{text(test['test'])}</code>{often}{reason}"


def _head(entry: dict[str, Any]) -> str:
    link = f'<a class="id" href="#{entry["component"]}-{text(entry["id"])}">{text(entry["id"])}</a>'
    level = f'<span class="muted">{entry["level"]}, {TITLES[entry["component"]]}</span>'
    return f'<div class="head">{status_pill(entry["status"])}{link}{level}</div>'


def _sources(entry: dict[str, Any]) -> str:
    return ", ".join(map(text, entry["source"]))


def _evidence(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for finding in entry.get("findings", ()):
        yield "Expected", f"<code>{text(finding['expected'])}</code>"
        place = f" at <code>{text(finding['path'])}</code>" if finding["path"] else ""
        yield "Got", f"<code>{text(finding['got'])}</code>{place}"
    if hint := entry.get("hint"):
        yield "Hint", sentence(hint)


def _declared(entry: dict[str, Any]) -> list[tuple[str, str]]:
    labels = {"reason": "Deviates because", "removal_plan": "Removal plan", "issue": "Issue", "expires": "Expires"}
    return [(label, text(entry["deviation"][key])) for key, label in labels.items() if key in entry["deviation"]]


def _background(document: view.Document) -> Iterator[str]:
    yield '<section aria-labelledby="background"><h2 id="background">Background</h2>'
    for component in view.components(document):
        stated = document["capabilities"].get(component)
        if stated:
            rows = [(name, f"<code>{text(_value(value))}</code>") for name, value in _flat(stated)]
            yield f'<details class="plain"><summary>Capabilities: {TITLES[component]}</summary>{pairs(rows)}</details>'
    rows = [(name, text(value)) for name, value in sorted(document["environment"].items())]
    yield f'<details class="plain"><summary>Environment</summary>{pairs(rows)}</details></section>'


def _flat(stated: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in sorted(stated.items()):
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", nested) for inner, nested in sorted(value.items()))
        else:
            yield name, value


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
