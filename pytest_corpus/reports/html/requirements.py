"""The requirements of a report on its page: findings, open requirements, all as rows that open, their sources."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.catalogue import rulings
from pytest_corpus.reports.difference import CHANGES, Earlier
from pytest_corpus.reports.finding_text import behind
from pytest_corpus.reports.html.page import choice, command, filters, pairs, pill, sentence, status_pill, text
from pytest_corpus.reports.html.page import findings as found_rows
from pytest_corpus.reports.remedies import with_remedy
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, count
from pytest_corpus.reports.view import Document
from pytest_corpus.spec.components import TITLES
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.verdict.evidence import Evidence
from pytest_corpus.verdict.verdict import counted


def sources(entry: dict[str, Any]) -> str:
    """The passages of one requirement, each a link into the appendix."""
    return ", ".join(f'<a href="#{_anchor(source)}">{text(source)}</a>' for source in entry["source"])


def appendix(document: Document) -> Iterator[str]:
    """Every passage that a requirement of the report rests on, with those requirements."""
    resting: dict[str, dict[str, str]] = defaultdict(dict)
    for entry in document["requirements"]:
        for source in entry["source"]:
            resting[source][entry["id"]] = f"{entry['component']}-{entry['id']}"
    yield '<section aria-labelledby="sources"><h2 id="sources">Sources</h2>'
    for name, passages in _by_document(resting).items():
        yield f'<details class="plain"><summary>{text(name)}</summary><ul class="passages">'
        for source in passages:
            links = ", ".join(
                f'<a class="id" href="#{text(anchor)}">{text(requirement)}</a>'
                for requirement, anchor in resting[source].items()
            )
            yield f'<li id="{_anchor(source)}"><strong>{text(source)}</strong> {_about(source)} {links}</li>'
        yield "</ul></details>"
    yield "</section>"


def _by_document(resting: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for source in resting:
        document, section, _ = (*source.split(" ", 1), "", "")[:3]
        found.setdefault(document if section else "Rulings", []).append(source)

    def place(source: str) -> list[tuple[int, str]]:
        section = source.rpartition(" ")[2].lstrip("R")
        return [(int(part) if part.isdigit() else 0, part) for part in section.split(".")]

    return {name: sorted(passages, key=place) for name, passages in found.items() if passages}


def _about(source: str) -> str:
    """The title of a section, or a ruling in full."""
    if ruling := rulings().get(source):
        said = "".join(f"<p>{sentence(paragraph)}</p>" for paragraph in ruling.paragraphs)
        return f"{sentence(ruling.title)}{said}"
    document, _, section = source.partition(" ")
    title = SECTIONS.get(document, {}).get(section, "")
    return f"{sentence(title)}:" if title else ""


def _anchor(source: str) -> str:
    return text("source-" + source.replace(" ", "-"))


CHANGE_TONES = {"new": "bad", "same": "caution", "fixed": "good"}
CHANGE_SIGNS = {"new": "▲", "same": "=", "fixed": "▼"}
MOST_BLOCKING = 8  # the most violations named as what to fix first


@dataclass(frozen=True, slots=True)
class Shown:
    """A report as its page shows it, with an earlier report to compare and the evidence of its findings."""

    document: view.Document
    earlier: Earlier | None = None
    evidence: tuple[Evidence, ...] = ()

    def change(self, entry: dict[str, Any]) -> str:
        """The change of a requirement since the earlier run; empty if there is none."""
        return self.earlier.change(entry) if self.earlier else ""


def fix_first(shown: Shown) -> Iterator[str]:
    """The requirements that block most others."""
    blocks = view.blocked(shown.document)
    blocking = [entry for entry in view.fix_first(shown.document) if blocks[entry["component"], entry["id"]]]
    if blocking:
        yield '<section aria-labelledby="first"><h2 id="first">What to fix first</h2><ol class="plain first">'
        for entry in blocking[:MOST_BLOCKING]:
            others = count(blocks[entry["component"], entry["id"]], "other")
            yield f"<li>{_link(entry)} blocks {others}: {sentence(entry['text'])}</li>"
        yield "</ol></section>"


def findings(shown: Shown) -> Iterator[str]:
    """Every violation, in the order of repair; those that do not count are folded."""
    violated = view.fix_first(shown.document)
    if not violated:
        return
    yield f'<section aria-labelledby="findings"><h2 id="findings">{view.by_level(violated)} violated</h2>'
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in violated:
        groups[entry["level"], entry["component"]].append(entry)
    for (level, component), entries in groups.items():
        unfolded = " open" if level in counted(shown.document["level"]) else ""
        said = f"{TITLES[component]}: {len(entries)} {level}"
        yield f'<details class="fold"{unfolded}><summary>{said}</summary><ol class="stack">'
        yield from (_finding(shown, entry) for entry in entries)
        yield "</ol></details>"
    yield "</section>"


def _finding(shown: Shown, entry: dict[str, Any]) -> str:
    tone = "bad" if entry["level"] in counted(shown.document["level"]) else "caution"
    rows = [
        ("Source", sources(entry)),
        *_found(entry, shown),
        ("Rerun", command([view.rerun(shown.document, entry["id"])])),
    ]
    claim = f'<p class="claim">{sentence(entry["text"])}</p>'
    return f'<li class="card finding {tone}">{_head(shown, entry)}{claim}{pairs(rows)}</li>'


def _behind(shown: Shown, entry: dict[str, Any], finding: dict[str, str]) -> Iterator[tuple[str, str]]:
    if seen := view.evidence_of(shown.evidence, entry, finding):
        for label, rows in groupby(behind(seen), key=itemgetter(0)):
            lines = [line for _, said in rows for line in _lines(said)]
            yield label.capitalize(), f"<code>{'<br>'.join(map(text, lines))}</code>"
        if seen.content and seen.content.script:
            yield "Send again", command(seen.content.script)


def _lines(said: str) -> list[str]:
    """A text of evidence: of a stream that is shown as a whole a line for each frame."""
    try:
        frames = json.loads(said) if said.startswith("[") else None
    except ValueError:
        frames = None
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in frames or [said]]


def deviations(shown: Shown) -> Iterator[str]:
    """The declared deviations."""
    deviated = view.of_status(shown.document, "deviated")
    if deviated:
        yield f'<section aria-labelledby="deviations"><h2 id="deviations">{count(len(deviated), "deviation")}</h2>'
        yield '<ul class="stack">'
        for entry in deviated:
            yield f'<li class="card finding caution">{_head(shown, entry)}'
            yield f'<p class="claim">{sentence(entry["text"])}</p>{pairs(_declared(entry))}</li>'
        yield "</ul></section>"


def helps(shown: Shown) -> Iterator[str]:
    """Changes that would make more requirements assessable."""
    left = view.of_status(shown.document, "not_assessed")
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
        return [f"blocked by {_link(entry, name)}" for name in entry["blocked_by"]]
    if keyword := entry.get("keyword"):
        return [f"the factory does not accept <code>{text(keyword)}</code>"]
    return [f"because {text(with_remedy(entry.get('reason') or 'no reason was noted'))}"]


def rows(shown: Shown) -> Iterator[str]:
    """Every requirement, chapter by chapter, to be filtered and searched."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in sorted(shown.document["requirements"], key=lambda entry: list(TITLES).index(entry["component"])):
        groups[entry["component"], view.chapter(entry["id"])].append(entry)
    chapters = list(dict.fromkeys(name for _, name in groups))
    since = choice("Since then", "change", list(CHANGES.items())) if shown.earlier else ""
    yield '<section aria-labelledby="requirements"><h2 id="requirements">All requirements</h2>'
    yield from filters(view.components(shown.document), chapters, since)
    for (component, name), entries in groups.items():
        fine = sum(entry["status"] == "satisfied" for entry in entries)
        applicable = sum(entry["status"] != "not_applicable" for entry in entries)
        yield f'<details class="chapter fold" open><summary><h3>{TITLES[component]}: {text(name)}</h3>'
        yield f'<span class="muted small">{fine} / {applicable} satisfied</span></summary><div class="rows">'
        yield from (_row(shown, entry, name) for entry in entries)
        yield "</div></details>"
    yield "</section>"


def _row(shown: Shown, entry: dict[str, Any], chapter: str) -> str:
    change = shown.change(entry)
    marked = f'<span class="muted small">{entry["level"]}</span>'
    return (
        f'<details class="row" id="{entry["component"]}-{text(entry["id"])}" data-component="{entry["component"]}" '
        f'data-level="{entry["level"]}" data-status="{entry["status"]}" data-chapter="{text(chapter)}" '
        f'data-change="{change}">'
        f'<summary>{status_pill(entry["status"])}<span class="id">{text(entry["id"])}</span>{marked}'
        f'<span class="claim">{_change(change)}{sentence(entry["text"])}</span></summary>'
        f'<div class="body">{pairs(_details(entry))}</div></details>'
    )


def _details(entry: dict[str, Any]) -> list[tuple[str, str]]:
    listed = [("Source", sources(entry)), *_found(entry)]
    if entry.get("deviation"):
        listed += _declared(entry)
    if entry.get("reason"):
        open_for = with_remedy(entry["reason"]) if entry["status"] == "not_assessed" else entry["reason"]
        listed.append(("Reason", text(open_for)))
    if entry.get("blocked_by"):
        listed.append(("Blocked by", ", ".join(_link(entry, name) for name in entry["blocked_by"])))
    if repeats := entry.get("repeats"):
        listed.append(("Repeated", f"passed {repeats['passed']} of {repeats['runs']}"))
    tests = "".join(f"<li>{_test(test)}</li>" for test in entry["tests"])
    listed.append((count(len(entry["tests"]), "test"), f'<ul class="tests">{tests}</ul>' if tests else "none ran"))
    return listed


def _test(test: dict[str, Any]) -> str:
    outcome = test["outcome"]
    sign, words = STATUS_SIGNS.get(outcome, "!"), STATUS_WORDS.get(outcome, "error of the kit")
    said = f'<span aria-hidden="true">{sign}</span> <span class="unseen">{words}</span>'
    notes = [text(test["reason"])] if test.get("reason") else []
    if repeats := test.get("repeats"):
        notes.append(f"passed {repeats['passed']} of {repeats['runs']}")
    if calls := test.get("calls"):
        notes.append(count(calls, "call"))
    if took := test.get("duration_s"):
        notes.append(f"{took:g} s")
    noted = f' <span class="muted">({", ".join(notes)})</span>' if notes else ""
    return f"{said} <code>{text(test['test'])}</code>{noted}"


def _head(shown: Shown, entry: dict[str, Any]) -> str:
    level = f'<span class="muted">{entry["level"]}, {TITLES[entry["component"]]}</span>'
    chapter = f'<span class="muted small">{text(view.chapter(entry["id"]))}</span>'
    parts = (status_pill(entry["status"]), _link(entry), level, chapter, _change(shown.change(entry)))
    return f'<div class="head">{"".join(parts)}</div>'


def _change(change: str) -> str:
    return f"{pill(CHANGE_TONES[change], CHANGE_SIGNS[change], CHANGES[change])} " if change else ""


def _link(entry: dict[str, Any], requirement: str = "") -> str:
    """A link to the row of a requirement: of the entry itself, or of another one of the same component."""
    named = text(requirement or entry["id"])
    return f'<a class="id" href="#{entry["component"]}-{named}">{named}</a>'


def _found(entry: dict[str, Any], shown: Shown | None = None) -> Iterator[tuple[str, str]]:
    """The findings of a requirement, each followed by its own evidence if that is shown."""
    for finding in entry.get("findings", ()):
        yield from found_rows({"findings": [finding]})
        yield from _behind(shown, entry, finding) if shown else ()
    if hint := entry.get("hint"):
        yield "Hint", sentence(hint)


def _declared(entry: dict[str, Any]) -> list[tuple[str, str]]:
    labels = {"reason": "Deviates because", "removal_plan": "Removal plan", "issue": "Issue", "expires": "Expires"}
    return [(label, text(entry["deviation"][key])) for key, label in labels.items() if key in entry["deviation"]]
