"""A matrix as Markdown, with one table per chapter."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.reports.markdown.report import SIGNS, cell
from pytest_corpus.reports.matrix import mixed_editions
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, VERDICT_WORDS
from pytest_corpus.reports.view import ratio
from pytest_corpus.spec.components import TITLES


def render(matrix: Mapping[str, Any]) -> str:
    """Verdicts, a legend, and providers by requirements."""
    legend = ", ".join(f"{sign_of(status)} {word}" for status, word in STATUS_WORDS.items())
    known = f"{legend}, an empty place: not in that report."
    notice = [cell(said)] if (said := mixed_editions(matrix)) else []
    title = "# Corpus Protocol 1.0: conformance matrix"
    parts = [title, *notice, _verdicts(matrix), known, *_chapters(matrix), _totals(matrix)]
    return "\n\n".join(parts) + "\n"


def _verdicts(matrix: Mapping[str, Any]) -> str:
    tested = [name for name in TITLES if any(name in report["components"] for report in matrix["reports"])]
    lines = [f"| Adapter | Verdict | {' | '.join(TITLES[name] for name in tested)} |", "|" + "---|" * (2 + len(tested))]
    for report in matrix["reports"]:
        verdicts = [report["components"].get(component) for component in tested]
        each = " | ".join("not tested" if it is None else VERDICT_WORDS.get(it, it) for it in verdicts)
        lines.append(f"| {cell(report['label'])} | {SIGNS[report['tone']]} {report['words']} | {each} |")
    return "\n".join(lines)


def _chapters(matrix: Mapping[str, Any]) -> Iterator[str]:
    labels = " | ".join(cell(report["label"]) for report in matrix["reports"])
    for chapter in matrix["chapters"]:
        lines = [
            f"## {TITLES[chapter['component']]}: {chapter['chapter']}",
            "",
            f"| Requirement | Level | {labels} |",
            "|" + "---|" * (2 + len(matrix["reports"])),
        ]
        for row in chapter["rows"]:
            statuses = " | ".join(sign_of(status) for status in row["statuses"])
            lines.append(f"| {row['id']} | {row['level']} | {statuses} |")
        yield "\n".join(lines)


def _totals(matrix: Mapping[str, Any]) -> str:
    levels = sorted({level for report in matrix["reports"] for level in report["totals"]})
    lines = ["## Totals", "", f"| Adapter | {' | '.join(f'Satisfied {level.upper()}' for level in levels)} |"]
    lines.append("|" + "---|" * (1 + len(levels)))
    for report in matrix["reports"]:
        shown = " | ".join(ratio(report["totals"].get(level, {})) for level in levels)
        lines.append(f"| {cell(report['label'])} | {shown} |")
    return "\n".join(lines)


def sign_of(status: str | None) -> str:
    """Return the sign of a status, chosen so that it is not Markdown syntax."""
    return "" if status is None else f"\\{sign}" if (sign := STATUS_SIGNS[status]).isascii() else sign
