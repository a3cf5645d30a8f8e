"""The report as Markdown: the attestation of BEHAVIORAL_CONFORMANCE 12, with all untrusted text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.finding_text import evidence_lines
from pytest_corpus.reports.text import (
    STATUS_WORDS,
    VERDICT_WORDS,
    count_in_words,
    printable,
    received_sentence,
    template_environment,
)
from pytest_corpus.spec.components import TITLES
from pytest_corpus.spec.obstacles import with_remedy
from pytest_corpus.verdict.finding import Finding

if TYPE_CHECKING:
    from jinja2 import Environment

_LINKED = re.compile(r"@|#\d|://|www\.|mailto:|xmpp:|:[\w+-]+:|[0-9a-f]{7}", re.IGNORECASE)
"""Text that GitHub turns into a link, a mention or a picture even without Markdown syntax."""

_PLAIN = re.compile(r"[A-Za-z ](?:[A-Za-z0-9 ,.:;/'()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_TICKS = re.compile(r"`+")


def code(text: object) -> str:
    """Return an untrusted text as a code span, in which Markdown has no effect; not for tables."""
    plain = printable(str(text)).strip(" ")
    if not plain:
        return "(empty)"
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    room = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{room}{plain}{room}{fence}"


def cell(text: object) -> str:
    """Return an untrusted text as a code span for a table; bars that would end the cell are escaped."""
    return code(str(text).replace("|", "\\x7c"))


def sentence(text: str) -> str:
    """Return a sentence for Markdown: escaped, except that text in backticks stays code."""
    parts = printable(text).strip(" ").split("`")
    if len(parts) % 2 == 0 or _LINKED.search("".join(parts[::2])):
        return code(text)
    return "".join(code(part) if number % 2 and part.strip() else _escape(part) for number, part in enumerate(parts))


def _escape(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _PUNCTUATION.sub(r"\\\1", text)


SIGNS = {"good": "✅", "caution": "⚠️", "bad": "❌", "none": "⬜"}

HEADLINES = {
    "conformant": "Behavioral Conformant",
    "conformant_with_deviations": "Behavioral Conformant with deviations",
}
"""The words for verdicts in the template of BEHAVIORAL_CONFORMANCE 12."""

FOOT = ("Started", "Took", "Catalogue", "Schema versions met", "Counts from", "Writes show", "Seed", "sha256")
FIRST = 5  # the most requirements in the list of what to fix first
LONGEST = 200  # the most requirements in a list, because the size of a job summary is limited
MOST_CASES = 50  # the most failed cases in the list of a bundle


def render_template(template: str, **given: Any) -> str:
    """Render a template and return its text."""
    return str(_environment().get_template(template).render(**given))


@cache
def _environment() -> Environment:
    """Return the environment of the templates, which escape foreign text by `code`, `cell` or `sentence`."""
    found = template_environment(Path(__file__).parent / "templates")
    found.filters.update(code=code, cell=cell, sentence=sentence)
    found.globals.update(
        view=view,
        bundle_view=bundle_view,
        count=count_in_words,
        code=code,
        sentence=sentence,
        received_sentence=received_sentence,
        with_remedy=with_remedy,
        TITLES=TITLES,
        STATUS_WORDS=STATUS_WORDS,
        VERDICT_WORDS=VERDICT_WORDS,
        SIGNS=SIGNS,
        FOOT=FOOT,
        FIRST=FIRST,
        LONGEST=LONGEST,
        MOST_CASES=MOST_CASES,
    )
    return found


def render(document: view.Document, evidence: Sequence[Finding] = ()) -> str:
    """Return the attestation: headline, components, commit, CI run, notes, numbers, findings and open requirements."""
    tone: str = view.tone_of(document)
    headline, title = view.verdict_words(document), "Corpus Protocol (v1.0)"
    if not (altered := view.is_altered(document)):
        headline = HEADLINES.get(document["verdict"], headline)
        if alone := bundle_view.headline(document):
            tone, headline, title = *alone, "Behaviour bundles"
    violated = view.order_violations(document)

    def shown_evidence(entry: Mapping[str, Any], finding: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        seen = view.evidence_of(evidence, entry, finding)
        return evidence_lines(seen) if seen else ()

    return render_template(
        "report.md",
        document=document,
        tone=tone,
        title=title,
        headline=headline,
        altered=altered,
        ci_run=_ci_run_text(document),
        facts=view.run_facts(document),
        musts=[entry for entry in violated if entry["level"] == "MUST"],
        blocks=view.blocked_counts(document),
        violated=[list(entries) for _, entries in groupby(violated, key=itemgetter("level"))],
        evidence_lines=shown_evidence,
        deviated=view.requirements_of_status(document, "deviated"),
        bundles=bundle_view.sections(document),
        unassessed=[
            entry
            for entry in view.requirements_of_status(document, "not_assessed")
            if document["complete"] or entry["tests"]
        ],
    )


def _ci_run_text(document: view.Document) -> str:
    ci = document.get("ci")
    if ci is None:
        return "none"
    named = " ".join(part for part in (ci["name"], ci.get("id", "")) if part)
    url = ci.get("url", "")
    safe = url.isascii() and url.isprintable() and not any(char in url for char in "<> \\")
    return f"{code(named)} <{url}>" if url and safe else code(named)
