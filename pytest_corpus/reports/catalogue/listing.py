"""The requirement catalogue and the rulings as text for a person."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from textwrap import fill, indent

from pytest_corpus.reports.catalogue.examples import examples, laid_out
from pytest_corpus.reports.catalogue.rulings import RULING_ID, Ruling, resting_on, rulings, rulings_of
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.requirements import Requirement, catalogue

MARGIN = " " * 14


def chosen(
    globs: Sequence[str] = (), components: Sequence[str] = (), levels: Sequence[str] = ()
) -> tuple[Requirement, ...]:
    """The requirements that match any of the globs, components and levels; an empty selection means all."""
    return tuple(
        entry
        for entry in catalogue().values()
        if (not globs or any(fnmatchcase(entry.id, glob.strip().upper()) for glob in globs))
        and (not components or set(components).intersection(entry.components))
        and (not levels or entry.level.lower() in levels)
    )


def listed(entries: Iterable[Requirement] | None = None) -> str:
    """One line a requirement: id, level, sentence."""
    shown = tuple(catalogue().values() if entries is None else entries)
    width = max((len(entry.id) for entry in shown), default=0)
    lines = [f"{entry.id:<{width}}  {entry.level:<6}  {entry.text}" for entry in shown]
    return "\n".join([*lines, f"{len(lines)} requirement{'' if len(lines) == 1 else 's'}"])


def explained(wanted: str) -> str | None:
    """The whole text on one requirement or ruling; None if the id is unknown."""
    asked = wanted.strip().upper()
    if asked in catalogue():
        return card(catalogue()[asked])
    return ruling_card(rulings()[asked]) if asked in rulings() else None


def unknown(wanted: str) -> str:
    """The message for an unknown id: the ids most similar to it."""
    kind, known = (
        ("ruling", rulings().keys())
        if RULING_ID.fullmatch(wanted.strip().upper())
        else ("requirement", catalogue().keys())
    )
    near = get_close_matches(wanted.strip().upper(), known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "the list shows them all"
    return f"there is no {kind} {wanted!r}; {hint}"


def card(entry: Requirement) -> str:
    """A requirement as a few lines of text, with its rulings and an example."""
    lines = [f"{entry.id} ({entry.level})", fill(entry.text, 100, initial_indent="  ", subsequent_indent="  ")]
    lines.append(f"  source:     {', '.join(entry.source)}")
    lines.append(f"  components: {', '.join(entry.components)}")
    if entry.needs:
        lines.append(f"  needs:      {', '.join(entry.needs)}")
    if entry.hint:
        lines.append(
            fill(entry.hint, 100, initial_indent="  hint:       ", subsequent_indent=MARGIN, break_on_hyphens=False)
        )
    for ruling in rulings_of(entry):
        lines += ["", f"  {ruling.id} {ruling.title}", _paragraphs(ruling)]
    for example in examples(entry):
        lines += ["", f"  {example.title}:", *(indent(laid_out(message), "    ") for message in example.messages)]
    declared = "--corpus-client=..." if entry.components == WIRE else "--corpus-adapter=..."
    lines += ["", f"  run it:     pytest {declared} --corpus-requirement={entry.id}"]
    return "\n".join(lines)


def ruling_card(ruling: Ruling) -> str:
    """A ruling as a few lines of text, with the requirements that rest on it."""
    resting = ", ".join(resting_on(ruling)) or "no requirement names it"
    asked = fill(resting, 100, initial_indent="  asked by:   ", subsequent_indent=MARGIN, break_on_hyphens=False)
    return "\n".join([f"{ruling.id} {ruling.title} ({ruling.section})", _paragraphs(ruling), asked])


def _paragraphs(ruling: Ruling) -> str:
    return "\n".join(
        fill(text, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
        for text in ruling.paragraphs
    )
