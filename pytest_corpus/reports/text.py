"""Words and functions that all report formats share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.redaction import printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "STATUSES",
    "STATUS_SIGNS",
    "STATUS_WORDS",
    "VERDICT_WORDS",
    "count_in_words",
    "printable",
    "received_sentence",
    "template_environment",
]

VERDICT_WORDS = {
    "conformant": "conformant",
    "conformant_with_deviations": "conformant with deviations",
    "incomplete": "incomplete",
    "nonconformant": "not conformant",
    "partial": "no verdict",
}
"""The words for each verdict."""

STATUSES = ("satisfied", "violated", "deviated", "not_assessed", "not_applicable")
STATUS_WORDS = {status: status.replace("_", " ") for status in STATUSES}
"""The words for each status, in the order of tables and bars."""

STATUS_SIGNS = dict(zip(STATUSES, "✓✗≈?-", strict=True))
"""A sign for each status, because not every reader or printer can show colours."""


def received_sentence(got: str, path: str) -> tuple[str, str]:
    """Return the received value as text, and its path; the path is empty if the text already begins with the path."""
    return (
        (f"{path} {got}", "") if path and got.startswith(("is ", "must ", "fits ")) else (got or "something else", path)
    )


def count_in_words(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 test``, ``2 tests``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def template_environment(folder: Path, **options: Any) -> Environment:
    """Return the environment of the templates in a folder: unknown names are errors, tags leave no empty lines."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # noqa: S701 - `options` has it for HTML; Markdown is escaped by filters
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )
