"""The verdict as a shields endpoint (https://shields.io/badges/endpoint-badge)."""

import json

from pytest_corpus.reports import view

COLORS = {"good": "brightgreen", "caution": "yellow", "bad": "red", "none": "lightgrey"}
"""The colour names of shields; only a verdict without reservation is green."""


def render(document: view.Document) -> str:
    """The endpoint document: label, message, colour."""
    tone = view.tone(document)
    badge = {
        "schemaVersion": 1,
        "label": document["spec"]["protocol"],
        "message": message(document),
        "color": COLORS[tone],
        **({"isError": True} if tone == "bad" else {}),
    }
    return json.dumps(badge, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def message(document: view.Document) -> str:
    """The verdict, with the tested components if it is complete: a badge must not claim more."""
    said = view.words(document)
    return f"{said}: {view.titles(document)}" if document["complete"] and not view.altered(document) else said
