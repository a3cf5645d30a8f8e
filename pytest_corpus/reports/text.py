"""Text that changes nothing but text, and the words that every format uses."""

from __future__ import annotations

VERDICT_WORDS = {
    "conformant": "conformant",
    "conformant_with_deviations": "conformant with deviations",
    "incomplete": "incomplete",
    "nonconformant": "not conformant",
    "partial": "no verdict",
}
"""What a person reads for each verdict."""

STATUS_WORDS = {
    "satisfied": "satisfied",
    "violated": "violated",
    "deviated": "deviated",
    "not_assessed": "not assessed",
    "not_applicable": "not applicable",
}
"""What a person reads for each status, in the order in which tables and bars show them."""

STATUS_SIGNS = {"satisfied": "✓", "violated": "✗", "deviated": "≈", "not_assessed": "?", "not_applicable": "-"}
"""A sign beside the word, for colour alone tells nothing to some readers and to no printer."""

TITLES = {"llm": "LLM", "vector": "Vector", "embedding": "Embedding", "graph": "Graph"}
"""The names of the components as the template of BEHAVIORAL_CONFORMANCE 12 writes them."""


def printable(text: str) -> str:
    """Text of which no character moves the cursor, turns the direction of reading or is no character at all.

    Controls, formats, separators, unassigned characters and lone surrogates become their Python escapes.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 test``, ``2 tests``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
