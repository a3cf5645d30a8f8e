"""One HTML page without network: its shell, its strict content policy, and foreign text as text."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, STATUSES, VERDICT_WORDS, found, printable
from pytest_corpus.spec.components import TITLES
from pytest_corpus.verdict.editions import PREVIEW

ASSETS = Path(__file__).resolve().parent / "assets"

TONES = dict(zip(STATUSES, ("good", "bad", "caution", "caution", "none"), strict=True))
"""The tone of each status."""

SIGNS = {"good": "✓", "caution": "!", "bad": "✗", "none": "○"}
"""A sign for each tone of a verdict."""

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='7' fill='%2357606a'/%3E%3C/svg%3E"
)


def page(title: str, body: Iterable[str]) -> str:
    """A whole page. Its policy allows its own style and script, by their digests, and nothing else."""
    style, script = asset("page.css"), asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    whole = "\n".join(body)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(title)}</title>
<link rel="icon" href="{_ICON}">
<style>{style}</style>
</head>
<body>
{whole}
<script>{script}</script>
</body>
</html>
"""


@cache
def asset(name: str) -> str:
    """The style or the script of every page."""
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def text(value: object) -> str:
    """Foreign text, fit for an element and for an attribute in double quotes."""
    return escape(printable(str(value)), quote=True)


def sentence(value: str) -> str:
    """A sentence in which backticks mark code, as the catalogue writes it."""
    parts = value.split("`")
    if len(parts) % 2 == 0:
        return text(value)
    return "".join(f"<code>{text(part)}</code>" if at % 2 else text(part) for at, part in enumerate(parts))


def pill(tone: str, sign: str, words: str) -> str:
    """A word on a coloured background, with a sign that does not depend on colour."""
    return f'<span class="pill {tone}"><span aria-hidden="true">{text(sign)}</span> {text(words)}</span>'


def status_pill(status: str) -> str:
    """A status as a pill."""
    return pill(TONES[status], STATUS_SIGNS[status], STATUS_WORDS[status])


def verdict_pill(verdict: str) -> str:
    """A verdict as a pill."""
    tone = view.TONES.get(verdict, "none")
    return pill(tone, SIGNS[tone], VERDICT_WORDS.get(verdict, verdict))


def pairs(rows: Iterable[tuple[str, str]], kind: str = "pairs") -> str:
    """Labels with markup, as a description list."""
    listed = "".join(f"<div><dt>{text(name)}</dt><dd>{markup}</dd></div>" for name, markup in rows)
    return f'<dl class="{kind}">{listed}</dl>'


def command(lines: Iterable[str]) -> str:
    """Commands to be copied; without a script the button is not there."""
    code = "<br>".join(map(text, lines))
    return f'<div class="command"><code>{code}</code><button type="button" class="copy" hidden>Copy</button></div>'


def findings(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The findings of a requirement as rows of `pairs`."""
    for finding in entry.get("findings", ()):
        yield "Expected", f"<code>{text(finding['expected'])}</code>"
        got, path = found(finding["got"], finding["path"])
        yield "Got", f"<code>{text(got)}</code>" + (f" at <code>{text(path)}</code>" if path else "")


def top(title: str) -> str:
    """The first line of a page, with the switch of the theme."""
    return f'<div class="top"><p>{text(title)}</p><button type="button" id="theme" hidden>Dark theme</button></div>'


def filters(components: Iterable[str], chapters: Iterable[str], extra: str = "") -> Iterator[str]:
    """The form that filters the rows of a page; it is hidden without JavaScript."""
    yield '<form id="filters" class="filters" hidden>'
    yield '<label class="search">Search<input type="search" name="search" autocomplete="off"></label>'
    yield choice("Component", "component", [(name, TITLES[name]) for name in components])
    yield choice("Level", "level", [(level, level) for level in ("MUST", "SHOULD", "MAY", PREVIEW)])
    yield choice("Status", "status", list(STATUS_WORDS.items()))
    yield choice("Chapter", "chapter", [(name, name) for name in chapters])
    yield f'{extra}<button type="reset">Reset</button></form>'
    yield '<p class="count muted small"><output id="shown" role="status"></output></p>'


def choice(label: str, name: str, options: Iterable[tuple[str, str]]) -> str:
    """One filter: a value and what a reader calls it, for each choice."""
    listed = "".join(f'<option value="{text(value)}">{text(words)}</option>' for value, words in options)
    return f'<label>{label}<select name="{name}"><option value="">all</option>{listed}</select></label>'
