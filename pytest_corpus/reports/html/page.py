"""HTML pages that work without network: templates, a strict content security policy, escaping of untrusted text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.catalogue import read_rulings
from pytest_corpus.reports.difference import CHANGES, KINDS
from pytest_corpus.reports.html.bundles import SIGNS
from pytest_corpus.reports.text import (
    STATUS_SIGNS,
    STATUS_WORDS,
    STATUSES,
    VERDICT_WORDS,
    count_in_words,
    printable,
    received_sentence,
    template_environment,
)
from pytest_corpus.spec.components import TITLES
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.verdict.editions import PREVIEW

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).resolve().parent

NAMED = 8
"""The largest number of names in a list of the site; further names are only counted."""

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='7' fill='%2357606a'/%3E%3C/svg%3E"
)


def render_page(template: str, title: str, **given: Any) -> str:
    """Return a complete page. Its policy allows only its own style and script, by their digests."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    shell = {"title": title, "policy": policy, "icon": _ICON, "style": style, "script": script}
    return render_template(template, **shell, **given)


def render_template(template: str, **given: Any) -> str:
    """Render a template and return its text."""
    return str(_environment().get_template(template).render(**given))


@cache
def _environment() -> Environment:
    """Return the template environment, which escapes every value and its control characters, except markup."""
    environment = template_environment(
        FOLDER / "templates",
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else printable(str(value)),
    )
    environment.filters["sentence"] = _sentence
    environment.globals.update(
        view=view,
        bundle_view=bundle_view,
        count=count_in_words,
        found_words=received_sentence,
        compared=_mark_differences,
        rulings=read_rulings,
        section_title=_section_title,
        test_notes=_test_notes,
        titled=lambda components: [(name, TITLES[name]) for name in components],
        doubled=lambda values: [(each, each) for each in values],
        TITLES=TITLES,
        LEVELS=("MUST", "SHOULD", "MAY", PREVIEW),
        STATUS_WORDS=STATUS_WORDS,
        STATUS_SIGNS=STATUS_SIGNS,
        TONES=dict(zip(STATUSES, ("good", "bad", "caution", "caution", "none"), strict=True)),
        VERDICT_WORDS=VERDICT_WORDS,
        VERDICT_TONES=view.TONES,
        SIGNS={"good": "✓", "caution": "!", "bad": "✗", "none": "○"},
        CASE_SIGNS=SIGNS,
        COMPARED={"better": ("good", "▲"), "worse": ("bad", "▼"), "cannot_tell": ("none", "○")},
        CHANGES=CHANGES,
        CHANGE_TONES={"new": "bad", "same": "caution", "fixed": "good"},
        CHANGE_SIGNS={"new": "▲", "same": "=", "fixed": "▼"},
        DECLARED={"reason": "Deviates because", "removal_plan": "Removal plan", "issue": "Issue", "expires": "Expires"},
        KINDS=KINDS,
        NAMED=NAMED,
        UNSIGNED="not signed: anybody can write a report with this name",
    )
    return environment


@cache
def _asset(name: str) -> str:
    """Return the content of the style or script that every page contains."""
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _sentence(value: str) -> Markup:
    """Return a sentence as markup; text in backticks is code, as in the catalogue."""
    from markupsafe import Markup

    parts = printable(value).split("`")
    if len(parts) % 2 == 0:
        return Markup.escape(printable(value))
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


LEAST_EQUAL_SHARE = 0.4
"""Differences are marked if at least this share of words is equal; otherwise almost all words would be marked."""


def _mark_differences(expected: str, got: str) -> tuple[Markup, Markup]:
    """Return both texts as markup; words that only one of them has are marked, if the texts are similar enough."""
    from markupsafe import Markup

    sides = [re.findall(r"\w+|\s+|[^\w\s]", printable(each)) for each in (expected, got)]
    found = SequenceMatcher(None, sides[0], sides[1], autojunk=False)
    if found.ratio() < LEAST_EQUAL_SHARE:
        return Markup.escape(printable(expected)), Markup.escape(printable(got))
    shown = [Markup(""), Markup("")]
    for kind, *places in found.get_opcodes():
        for side, (start, end) in enumerate((places[:2], places[2:])):
            text = "".join(sides[side][start:end])
            shown[side] += text if kind == "equal" or not text.strip() else Markup("<mark>{}</mark>").format(text)
    return shown[0], shown[1]


def _section_title(source: str) -> str:
    document, _, section = source.partition(" ")
    return SECTIONS.get(document, {}).get(section, "")


def _test_notes(test: dict[str, Any]) -> Iterable[str]:
    """Return notes on one test of a requirement: reason, repetitions, calls, duration."""
    notes = [test["reason"]] if test.get("reason") else []
    if repeats := test.get("repeats"):
        notes.append(f"passed {repeats['passed']} of {repeats['runs']}")
    if calls := test.get("calls"):
        notes.append(count_in_words(calls, "call"))
    if took := test.get("duration_s"):
        notes.append(f"{took:g} s")
    return notes
