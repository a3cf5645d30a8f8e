"""The requirement catalogue: what every entry must have, whichever module it lies in."""

from __future__ import annotations

import re
from collections import Counter

from pytest_corpus.spec.requirements import catalogue

SHORTEST, LONGEST = 10, 120
"""Characters of a hint: it stands in one line of a failure."""

CODE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
"""A code such as BAD_REQUEST, which keeps its capitals at the beginning of a hint."""

ENTRIES = tuple(catalogue().values())


def test_every_requirement_has_a_hint() -> None:
    """A failure tells the author of an adapter what to do, in one line that is neither a word nor a paragraph."""
    unfit = [entry.id for entry in ENTRIES if not SHORTEST <= len(entry.hint) <= LONGEST]
    assert unfit == []
    assert [entry.id for entry in ENTRIES if not entry.hint.isprintable() or entry.hint != entry.hint.strip()] == []


def test_a_hint_is_a_clause() -> None:
    """It stands behind the word `hint:`, so it begins with a small letter, or a code, and has no full stop."""
    assert [entry.id for entry in ENTRIES if entry.hint[:1].isupper() and not CODE.match(entry.hint)] == []
    assert [entry.id for entry in ENTRIES if entry.hint.endswith(".")] == []


def test_a_hint_does_not_repeat_its_requirement() -> None:
    """What the sentence says already, in whatever letters, helps nobody."""
    assert [entry.id for entry in ENTRIES if letters(entry.hint) == letters(entry.text)] == []


def test_hints_of_a_chapter_differ() -> None:
    """Two requirements that break for different reasons do not share their advice."""
    shared = Counter((entry.chapter, letters(entry.hint)) for entry in ENTRIES)
    assert [hint for hint, count in shared.items() if count > 1] == []


def test_code_in_hints_is_closed() -> None:
    """Backticks come in pairs, and what would vanish from a page as a tag stands between them."""
    assert [entry.id for entry in ENTRIES if entry.hint.count("`") % 2] == []
    assert [entry.id for entry in ENTRIES if re.search(r"<[a-z/]", re.sub("`[^`]*`", "", entry.hint))] == []


def letters(text: str) -> str:
    """A text without its marks and capitals."""
    return " ".join(re.findall(r"\w+", text.lower()))
