"""Behaviour bundles on the HTML page; prompts and answers are shown only if they are passed in, for the developer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports import bundle_view
from pytest_corpus.reports.html.page import pairs, pill, text

_SIGNS = {"passed": "✓", "failed": "✗", "not_judged": "○"}


def bundles(document: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The section on bundles; nothing if there are none."""
    found = bundle_view.sections(document)
    if not found:
        return
    yield '<section aria-labelledby="bundles"><h2 id="bundles">Behaviour bundles</h2><div class="cards">'
    for each in found:
        yield _card(each)
    yield "</div>"
    yield from _contents(evidence)
    yield "</section>"


def _card(section: bundle_view.Section) -> str:
    verdict = section["verdict"]
    said = pill(bundle_view.TONES[verdict], _SIGNS[verdict], bundle_view.WORDS[verdict])
    rows = [
        ("Provider", text(section["provider"])),
        ("Version", text(section.get("version", ""))),
        ("Cases", text(bundle_view.cases(section))),
        *(("Threshold", f"<code>{text(bundle_view.threshold(entry))}</code>") for entry in section["thresholds"]),
        *((name, text(number)) for name, number in bundle_view.numbers(section)),
        *((f"Baseline, {kind}", text(what)) for kind, what in bundle_view.baseline(section)),
        ("Calls", text(section["calls"])),
        ("Saved", text("{answers} of {of} answers".format(**section["saved"])) if "saved" in section else ""),
    ]
    failures = ""
    for entry in section["failures"]:
        reasons = "; ".join(reason.partition("\n")[0] for reason in entry["reasons"])
        word = f"{entry['status']}{', tolerated' if entry['tolerated'] else ''}"
        failures += f"<li>{text(word)} <code>{text(entry['case'])}</code>: {text(reasons)}</li>"
    listed = f"<ul>{failures}</ul>" if failures else ""
    shown = pairs([(label, markup) for label, markup in rows if markup])
    return f'<article class="card"><header><h3>{text(section["name"])}</h3>{said}</header>{shown}{listed}</article>'


def _contents(evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for entry in evidence:
        title = f"{entry['bundle']}, {entry['run']}: {entry['case']}"
        named = (("System prompt", entry["system"]), ("Prompt", entry["prompt"]), ("Answer", entry["output"]))
        shown = [*((label, value) for label, value in named if value is not None)]
        shown += [("Reason", reason) for reason in (*entry["reasons"], *entry["remarks"])]
        rows = [(label, "<pre>" + "\n".join(map(text, value.split("\n"))) + "</pre>") for label, value in shown]
        yield f'<details class="plain"><summary>{text(title)}</summary>{pairs(rows)}</details>'
