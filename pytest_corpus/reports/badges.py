"""The verdict as a badge: a shields endpoint (https://shields.io/badges/endpoint-badge), and an SVG picture."""

import json
from html import escape

from pytest_corpus.reports import view

SHIELDS_COLORS = {"good": "brightgreen", "caution": "yellow", "bad": "red", "none": "lightgrey"}
"""The colour names of shields for each tone of a verdict; only "conformant" is green."""


def render_endpoint(document: view.Document) -> str:
    """Return the badge as JSON for shields: label, message, colour."""
    tone = view.tone_of(document)
    badge = {
        "schemaVersion": 1,
        "label": document["spec"]["protocol"],
        "message": verdict_text(document),
        "color": SHIELDS_COLORS[tone],
        **({"isError": True} if tone == "bad" else {}),
    }
    return json.dumps(badge, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def verdict_text(document: view.Document) -> str:
    """Return the verdict in words. If the run is complete, the words include the names of the tested components."""
    said = view.verdict_words(document)
    return (
        f"{said}: {view.component_titles(document)}" if document["complete"] and not view.is_altered(document) else said
    )


COLORS = {"good": "#1a7f37", "caution": "#8a6100", "bad": "#b3261e", "none": "#57606a"}
"""Background colours on which white text has a contrast of at least 4.5 (WCAG 1.4.3)."""

_NARROW, _WIDE = "fijlrtI.,:;'|! ", "mwMW@%"


def render_picture(document: view.Document) -> str:
    """Return an SVG badge, 20 pixels high, whose title is the same text."""
    label, said = document["spec"]["protocol"], verdict_text(document)
    left, right = _text_width(label) + 12, _text_width(said) + 12
    whole, title = left + right, escape(f"{label}: {said}", quote=True)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" viewBox="0 0 {whole} 20" \
role="img" aria-label="{title}">
<title>{title}</title>
<clipPath id="round"><rect width="{whole}" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)">
<rect width="{left}" height="20" fill="#24292f"/>
<rect x="{left}" width="{right}" height="20" fill="{COLORS[view.tone_of(document)]}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-anchor="middle">
<text x="{left / 2:g}" y="14" textLength="{left - 12}" lengthAdjust="spacingAndGlyphs">{escape(label)}</text>
<text x="{left + right / 2:g}" y="14" textLength="{right - 12}" lengthAdjust="spacingAndGlyphs">{escape(said)}</text>
</g>
</svg>
"""


def _text_width(text: str) -> int:
    return round(sum(4.2 if char in _NARROW else 10 if char in _WIDE else 7 for char in text))
