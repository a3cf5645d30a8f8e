"""Reports read back from files; one sentence explains why a file is not a report of this format."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from pytest_corpus import resources
from pytest_corpus.redaction import cut, printable
from pytest_corpus.reports import json_report
from pytest_corpus.reports.json_report import FORMAT
from pytest_corpus.text.problems import PlainError

LARGEST = 64 * 2**20  # no report is larger, in bytes


class ReportError(PlainError):
    """A file that cannot be read as a report; says which and why, in one sentence."""

    def __init__(self, path: Path, why: str, *, missing: bool = False) -> None:
        super().__init__(f"{printable(str(path))}: {why}")
        self.why, self.missing = why, missing


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The document of a report and the bytes of its file.

    Raises:
        ReportError: the file does not exist or is not a report of this format.
    """
    data = contents(path)
    return parsed(path, data), data


def parsed(path: Path, data: bytes) -> dict[str, Any]:
    """The document of a report, from the bytes of its file. Raises ReportError if it is not a report of this format."""
    document = json_report.parsed(data)
    if document is None:
        document = _value(path, data)
    if not isinstance(document, dict) or "verdict" not in document or "requirements" not in document:
        raise ReportError(path, "is not a report of pytest-corpus; name a file that --corpus-report=NAME.json wrote")
    said = document.get("format")
    if said != FORMAT:
        shown = printable(str(said))[:20] if isinstance(said, str) else "unknown"
        raise ReportError(path, f"is a report of format {shown}, and this version reads {FORMAT}; run the suite again")
    if "sha256" not in document:
        raise ReportError(path, "has no sha256, like the reports of older versions; run the suite again")
    if flaws := schema_flaws(document):
        more = f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else ""
        raise ReportError(path, f"is not a sound report: {flaws[0]}{more}")
    return document


def schema_flaws(document: object) -> list[str]:
    """The violations of `schemas/report/report.schema.json` in a document, at most ten lines."""
    return _flaws(_validator(), document)


def bundle_flaw(sections: object) -> str:
    """The first violation of the report's schema in its sections on bundles; empty if there is none."""
    return next(iter(_flaws(_validator("bundles"), sections)), "")


def _flaws(validator: Any, document: object) -> list[str]:
    found = []
    for error in validator.iter_errors(document):
        place = ".".join(str(part) for part in error.instance_path) or "the report"
        # The end of a message says what is wrong where a long value comes first.
        found.append(f"{printable(place)[:100]}: {cut(printable(error.message), 200, end=130)}")
        if len(found) == 10:
            break
    return found


@cache
def _validator(part: str = "") -> Any:
    """The validator of reports, or of a part of them."""
    import jsonschema_rs

    path = resources.folder("schemas") / "report" / "report.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    return jsonschema_rs.validator_for({**schema["properties"][part], "$defs": schema["$defs"]} if part else schema)


def contents(path: Path) -> bytes:
    """The bytes of a file that may be a report. Raises ReportError if it cannot be read."""
    try:
        if path.is_dir():
            raise ReportError(path, "is a folder; name a report", missing=True)
        if path.stat().st_size > LARGEST:
            raise ReportError(path, f"is larger than any report ({LARGEST // 2**20} MiB)")
        return path.read_bytes()
    except FileNotFoundError:
        raise ReportError(path, "there is no such file", missing=True) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
        raise ReportError(path, f"cannot be read: {why}", missing=True) from None


def _value(path: Path, data: bytes) -> Any:
    from pytest_corpus.text import strict_json

    _, flaw = strict_json.read(data)
    if flaw is not None:
        raise ReportError(path, strict_json.located(data, flaw))
    return strict_json.read_exactly(data)[0]
