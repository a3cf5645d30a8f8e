"""The requirement catalogue as text for a person."""

from __future__ import annotations

from textwrap import fill

from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.requirements import Requirement, catalogue, nearest


def listed() -> str:
    """One line a requirement: id, level, sentence."""
    entries = catalogue().values()
    width = max(len(entry.id) for entry in entries)
    lines = [f"{entry.id:<{width}}  {entry.level:<6}  {entry.text}" for entry in entries]
    return "\n".join([*lines, f"{len(lines)} requirements"])


def explained(wanted: str) -> str | None:
    """All that the catalogue says of one requirement, or None where there is none."""
    entry = catalogue().get(wanted.strip().upper())
    return None if entry is None else card(entry)


def unknown(wanted: str) -> str:
    """What to say of an id that the catalogue does not have: the ids that look most like it."""
    near = nearest(wanted)
    hint = f"did you mean {' or '.join(near)}?" if near else "the list shows them all"
    return f"there is no requirement {wanted!r}; {hint}"


def card(entry: Requirement) -> str:
    """A requirement as a few lines of text."""
    lines = [
        f"{entry.id} ({entry.level})",
        fill(entry.text, 100, initial_indent="  ", subsequent_indent="  "),
    ]
    lines.append(f"  source:     {', '.join(entry.source)}")
    lines.append(f"  components: {', '.join(entry.components)}")
    if entry.needs:
        lines.append(f"  needs:      {', '.join(entry.needs)}")
    if entry.hint:
        margin = "  hint:       "
        lines.append(fill(entry.hint, 100, initial_indent=margin, subsequent_indent=" " * 14, break_on_hyphens=False))
    declared = "--corpus-client=..." if entry.components == WIRE else "--corpus-adapter=..."
    lines.append(f"  run it:     pytest {declared} --corpus-requirement={entry.id}")
    return "\n".join(lines)
