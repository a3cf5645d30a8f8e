"""Reads reports from files. If a file is not a report of this format, the error explains why in one sentence."""

from pathlib import Path
from typing import Any

from pytest_corpus.redaction import printable
from pytest_corpus.reports import json_report
from pytest_corpus.reports.json_report import FORMAT
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.schema.evidence import find_flaws, first_flaw

SCHEMA = "report/report"


class ReportError(PlainError):
    """A file that cannot be read as a report. The message names the file and the reason."""

    def __init__(self, path: Path, why: str, *, missing: bool = False) -> None:
        super().__init__(f"{printable(str(path))}: {why}")
        self.why, self.missing = why, missing


def read_report(path: Path) -> tuple[dict[str, Any], bytes]:
    """Read a report; return its document, and the bytes of its file.

    Raises:
        ReportError: the file does not exist or is not a report of this format.
    """
    data = read_contents(path)
    return parse_report(path, data), data


def parse_report(path: Path, data: bytes) -> dict[str, Any]:
    """Parse the bytes of a report's file. Raises ReportError if they are not a report of this format."""
    if bounded.count_values(data) > bounded.MOST_VALUES:
        raise ReportError(path, f"has more than {bounded.MOST_VALUES:,} values, the limit for a report")
    document = json_report.parse_canonical(data)
    if document is None:
        document = _parse_strictly(path, data)
    if not isinstance(document, dict) or "verdict" not in document or "requirements" not in document:
        raise ReportError(path, "is not a report of pytest-corpus; name a file that --corpus-report=NAME.json wrote")
    said = document.get("format")
    if said != FORMAT:
        shown = printable(str(said))[:20] if isinstance(said, str) else "unknown"
        raise ReportError(path, f"is a report of format {shown}, and this version reads {FORMAT}; run the suite again")
    if "sha256" not in document:
        raise ReportError(path, "has no sha256, like the reports of older versions; run the suite again")
    if found := schema_flaws(document):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ReportError(path, f"is not a sound report: {found[0]}{more}")
    return document


def schema_flaws(document: object) -> list[str]:
    """Return the violations of `schemas/report/report.schema.json` in a document, at most ten lines."""
    return find_flaws(SCHEMA, document)


def bundle_flaw(sections: object) -> str:
    """Return the first violation of the schema in a report's bundle sections; empty if there is none."""
    return first_flaw(SCHEMA, sections, "bundles")


def read_contents(path: Path) -> bytes:
    """Return the bytes of a file that may be a report. Raises ReportError if it cannot be read."""
    try:
        return bounded.read_contents(path)
    except bounded.FileRefused as error:
        why = "is a folder; name a report" if error.is_folder else error.why
        raise ReportError(path, why, missing=error.missing) from None


def _parse_strictly(path: Path, data: bytes) -> Any:
    from pytest_corpus.text import strict_json

    _, found = strict_json.parse(data)
    if found is not None:
        raise ReportError(path, strict_json.describe_flaw(data, found))
    return strict_json.read_exactly(data)[0]
