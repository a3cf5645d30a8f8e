"""Verify a report: its shape, digest, completeness, numbers, verdicts, deviations, and more."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.coherence import Known, contradictions, some
from pytest_corpus.reports.checking.reconstruction import Shipped, edition_of, foreign
from pytest_corpus.reports.reading import ReportError, read
from pytest_corpus.reports.text import count
from pytest_corpus.spec.requirements import applicable
from pytest_corpus.verdict.verdict import STATUSES, verdict_of, worst


def faults(path: Path, today: date, shipped: Shipped) -> list[str]:
    """Everything that is wrong with a report, one sentence each; empty if it is valid.

    Args:
        today: the day (UTC) on which it must be valid.
        shipped: the tests that the suite of this version has.

    Raises:
        ReportError: the file does not exist or cannot be read.
    """
    try:
        document, data = read(path)
    except ReportError as error:
        if error.missing:
            raise
        return [error.why]
    return faults_in(document, data, today, shipped)


def faults_in(
    document: dict[str, Any], data: bytes, today: date, shipped: Shipped, known: Known | None = None
) -> list[str]:
    """As `faults`, of a report that was read: its document and the bytes of its file.

    Args:
        known: shared by reports that are verified together; empty at first.
    """
    found = list(_digest(document, data))
    if not document["complete"]:
        found.append(f"the run was not complete, so there is no verdict: {'; '.join(document['gaps'])}")
    if other := list(foreign(document)):
        found += (f"{said}: whether anything is missing cannot be verified here; use that version" for said in other)
    else:
        found += _catalogue(document)
        found += (
            contradictions(document, today, shipped, {} if known is None else known) if document["complete"] else ()
        )
    return [*found, *_totals(document), *_verdicts(document), *_deviations(document, today)]


def _digest(document: dict[str, Any], data: bytes) -> Iterator[str]:
    canonical = data
    if not json_report.is_canonical(document, data):
        canonical = json_report.render(document).encode("utf-8", "backslashreplace")
    found = json_report.digest_of_text(canonical)
    if found != document["sha256"]:
        yield f"its content has the sha256 {found}, not the one that it states: it was changed after it was written"
    elif data != canonical:
        yield "it is not in canonical form: its text, though not its values, was changed after it was written"


def _catalogue(document: dict[str, Any]) -> Iterator[str]:
    found = Counter((entry["component"], entry["id"]) for entry in document["requirements"])
    yield from (f"{of}: {name} stands {many} times" for (of, name), many in found.items() if many > 1)
    for component in document["components"]:
        known = {entry.id: entry.level for entry in map(edition_of(document).of, applicable(component))}
        given = {entry["id"]: entry["level"] for entry in document["requirements"] if entry["component"] == component}
        if missing := [name for name in known if name not in given]:
            yield f"{component}: {count(len(missing), 'requirement')} missing: {some(missing)}"
        if unknown := [name for name in given if name not in known]:
            yield f"{component}: the catalogue does not know {some(unknown)}"
        if wrong := [name for name, level in given.items() if known.get(name, level) != level]:
            yield f"{component}: the catalogue gives another level to {some(wrong)}"
    if strange := {of for of, _ in found} - set(document["components"]):
        yield f"it has requirements of {', '.join(sorted(strange))} and no verdict of it"


def _totals(document: dict[str, Any]) -> Iterator[str]:
    found = Counter((entry["component"], entry["level"], entry["status"]) for entry in document["requirements"])
    for component, part in document["components"].items():
        for level, totals in part["totals"].items():
            for status in STATUSES:
                if (actual := found[component, level.upper(), status]) != totals[status]:
                    yield f"{component}: {totals[status]} {level.upper()} are said to be {status}, {actual} are"


def _verdicts(document: dict[str, Any]) -> Iterator[str]:
    partial = not document["complete"]
    expected = {}
    for component, part in document["components"].items():
        pairs = [(each["level"], each["status"]) for each in document["requirements"] if each["component"] == component]
        expected[component] = verdict_of(pairs, document["level"], partial=partial)
        if part["verdict"] != expected[component]:
            yield f"{component}: the verdict is {part['verdict']}, but its statuses make {expected[component]}"
    overall = "partial" if partial else worst(expected.values())
    if document["verdict"] != overall:
        yield f"the verdict is {document['verdict']}, but its components make {overall}"


def _deviations(document: dict[str, Any], today: date) -> Iterator[str]:
    for entry in document["requirements"]:
        if deviation := entry.get("deviation"):
            of = f"{entry['component']}: the deviation from {entry['id']}"
            try:
                expires = date.fromisoformat(deviation["expires"])
            except ValueError:
                yield f"{of} expires on {deviation['expires']}, which is not a day"
                continue
            if expires < today:
                yield f"{of} expired on {expires}"
