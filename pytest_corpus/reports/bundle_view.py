"""Texts on behaviour bundles that all formats share, made from the document alone."""

from collections.abc import Mapping
from typing import Any

Section = Mapping[str, Any]

WORDS = {"passed": "passed", "failed": "failed", "not_judged": "not judged"}
TONES = {"passed": "good", "failed": "bad", "not_judged": "none"}


def sections(document: Mapping[str, Any]) -> list[Section]:
    """The bundles of a report."""
    return list(document.get("bundles", ()))


def numbers(section: Section) -> list[tuple[str, str]]:
    """The metrics that have data, with their names."""
    return [(name, f"{number:.6g}") for name, number in sorted(section["metrics"].items()) if number is not None]


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
    return ", ".join(words)


def threshold(entry: Mapping[str, Any]) -> str:
    """A threshold and whether it holds."""
    actual = "no data" if entry["actual"] is None else f"{entry['actual']:.6g}"
    return f"{entry['threshold']}: {actual}, {'holds' if entry['holds'] else 'does not hold'}"


def baseline(section: Section) -> list[tuple[str, str]]:
    """The changes since the baseline."""
    return [(kind.replace("_", " "), ", ".join(what)) for kind, what in sorted(section.get("baseline", {}).items())]
