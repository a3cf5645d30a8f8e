"""Texts on behaviour bundles that all formats share, made from the document alone."""

from collections.abc import Mapping, Sequence
from typing import Any

Section = Mapping[str, Any]

WORDS = {"passed": "passed", "failed": "failed", "not_judged": "not judged"}
TONES = {"passed": "good", "failed": "bad", "not_judged": "none"}


def sections(document: Mapping[str, Any]) -> list[Section]:
    """The bundles of a report."""
    return list(document.get("bundles", ()))


def numbers(section: Section) -> list[tuple[str, str]]:
    """The metrics that have data, with their names."""
    ends = section.get("intervals", {})
    known = sorted((name, number) for name, number in section["metrics"].items() if number is not None)
    return [(name, _number(number, ends.get(name))) for name, number in known]


def _number(number: float | None, ends: Sequence[float] | None) -> str:
    if number is None:
        return "no data"
    return f"{number:.6g}" + (f" ({ends[0]:.4g} to {ends[1]:.4g})" if ends else "")


def cases(section: Section) -> str:
    """The number of cases by outcome."""
    found = section["cases"]
    words = [
        f"{found['passed']} / {found['total']} passed",
        f"{found['failed']} failed",
        f"{found['error']} without an answer",
    ]
    if found["tolerated"]:
        words.append(f"{found['tolerated']} tolerated")
    if found["selected"] < found["total"]:
        words.append(f"{found['selected']} selected")
    if found.get("not_asked"):
        words.append(f"{found['not_asked']} not asked")
    return ", ".join(words)


def threshold(entry: Mapping[str, Any]) -> str:
    """A threshold and whether it holds."""
    word = "is undecided" if entry.get("undecided") else "holds" if entry["holds"] else "does not hold"
    return f"{entry['threshold']}: {_number(entry['actual'], entry.get('interval'))}, {word}"


def baseline(section: Section) -> list[tuple[str, str]]:
    """The changes since the baseline."""
    return [(kind.replace("_", " "), ", ".join(what)) for kind, what in sorted(section.get("baseline", {}).items())]
