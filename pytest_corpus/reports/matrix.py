"""A matrix shows several reports next to each other: reports by requirements, with verdicts.

This is its JSON document, from which all other formats are generated::

    {"format": "1.0", "kind": "matrix", "catalogues": ["1.0"], "editions": ["1.0"],
     "reports": [{"label", "edition", "verdict", "words", "tone", "complete", "components": {component: verdict},
                  "totals": {level: {status: number}}, "link", "server", "version", "started_at", "commit", "sha256"}],
     "chapters": [{"component", "chapter", "rows": [{"id", "level", "text", "statuses": [status or null],
                   "cells": [{"reason", "keyword", "blocked_by", "findings"} or null]}]}]}

`statuses` and `cells` have one entry per report, in order. An entry is null if the report does not have the
requirement; in `cells` also if there are no details. `link` is the path of the report, relative to the matrix.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.text import printable
from pytest_corpus.reports.view import Document, chapter_title
from pytest_corpus.spec.components import TITLES
from pytest_corpus.text.problems import PlainError

FORMAT = "1.0"


class MixedVersions(PlainError):
    """Reports that are from different versions of the catalogue."""

    def __init__(self, versions: Mapping[str, str]) -> None:
        said = ", ".join(f"{label} of {version}" for label, version in versions.items())
        super().__init__(f"the reports are of different catalogue versions ({said}); --allow-mixed merges them anyway")


def build_matrix(
    reports: Sequence[tuple[str, Document]], *, allow_mixed: bool = False, links: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the matrix of reports, which are pairs of a file name and a document; `links` are the paths of the files.

    Raises:
        MixedVersions: the reports have different catalogue versions, and `allow_mixed` is false.
    """
    labels = _make_labels(reports)
    versions = {label: document["spec"]["catalogue"] for label, (_, document) in zip(labels, reports, strict=True)}
    if len(set(versions.values())) > 1 and not allow_mixed:
        raise MixedVersions(versions)
    documents = [document for _, document in reports]
    return {
        "format": FORMAT,
        "kind": "matrix",
        "catalogues": sorted(set(versions.values())),
        "editions": sorted({_edition(document) for document in documents}),
        "reports": [
            _column(label, document, link)
            for label, document, link in zip(labels, documents, links or [""] * len(documents), strict=True)
        ],
        "chapters": _make_chapters(documents),
    }


def _make_labels(reports: Sequence[tuple[str, Document]]) -> list[str]:
    """Return a unique label for each report: the adapter's name, or the file name if the adapter has none.

    If labels are equal, each gets the file name added. If they are still equal, each gets a number.
    """
    files = [file for file, _ in reports]
    names = [str(document["adapter"]["name"]) or file for file, document in reports]
    longer = [f"{name} ({file})" if names.count(name) > 1 else name for name, file in zip(names, files, strict=True)]
    return [
        f"{name} #{longer[: at + 1].count(name)}" if longer.count(name) > 1 else name for at, name in enumerate(longer)
    ]


def mixed_editions(matrix: Mapping[str, Any]) -> str:
    """Return a warning if the reports were judged by different editions of the requirements; otherwise empty."""
    if len(matrix["editions"]) < 2:
        return ""
    said = ", ".join(f"{printable(each['label'])} by {printable(each['edition'])}" for each in matrix["reports"])
    return f"The reports were judged by different editions of the requirements: {said}. Their verdicts do not compare."


def template_values(matrix: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the templates of all pages show."""
    reports = matrix["reports"]
    return {
        "notice": mixed_editions(matrix),
        "reports": reports,
        "chapters": matrix["chapters"],
        "tested": [name for name in TITLES if any(name in report["components"] for report in reports)],
        "levels": sorted({level for report in reports for level in report["totals"]}),
    }


def _edition(document: Document) -> str:
    return str(document["spec"]["edition"]["name"])


def _column(label: str, document: Document, link: str) -> dict[str, Any]:
    lost = view.is_altered(document)
    components = {name: "altered" if lost else part["verdict"] for name, part in document["components"].items()}
    totals: dict[str, Counter[str]] = {}
    for part in document["components"].values():
        for level, numbers in part["totals"].items():
            totals.setdefault(level, Counter()).update(numbers)
    return {
        "label": label,
        "edition": _edition(document),
        "verdict": "altered" if lost else document["verdict"],
        "words": view.verdict_words(document),
        "tone": view.tone_of(document),
        "complete": document["complete"],
        "components": components,
        "totals": {level: dict(numbers) for level, numbers in sorted(totals.items())},
        **({"link": link} if link else {}),
        "started_at": document["started_at"],
        "sha256": document["sha256"],
        **{key: document["adapter"][key] for key in ("server", "version") if key in document["adapter"]},
        **({"commit": document["commit"]} if "commit" in document else {}),
    }


SAID = ("reason", "keyword", "blocked_by", "findings")  # the keys of a requirement's entry that a cell contains


def keep_unsatisfied_rows(chapters: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the chapters with only the rows that a report does not satisfy; leave out chapters without such rows."""
    fine = {"satisfied", "not_applicable", None}
    shown = [{**chapter, "rows": [row for row in chapter["rows"] if {*row["statuses"]} - fine]} for chapter in chapters]
    return [chapter for chapter in shown if chapter["rows"]]


def _make_chapters(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return every chapter with its rows, sorted by component, then in the order of the reports."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for number, document in enumerate(documents):
        for entry in document["requirements"]:
            row = rows.setdefault(
                (entry["component"], entry["id"]),
                {
                    **{key: entry[key] for key in ("id", "level", "text")},
                    "statuses": [None] * len(documents),
                    "cells": [None] * len(documents),
                },
            )
            row["statuses"][number] = entry["status"]
            said = {key: entry[key] for key in SAID if entry.get(key)}
            if "deviation" in entry:
                said["reason"] = entry["deviation"]["reason"]
            row["cells"][number] = said or None
    chapters: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (component, name), row in rows.items():
        chapters.setdefault((component, chapter_title(name)), []).append(row)
    order = list(TITLES)
    return [
        {"component": component, "chapter": name, "rows": found}
        for (component, name), found in sorted(chapters.items(), key=lambda pair: order.index(pair[0][0]))
    ]
