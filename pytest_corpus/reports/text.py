"""Words that all formats share, and printable text."""

from pytest_corpus.redaction import printable

__all__ = ["STATUSES", "STATUS_SIGNS", "STATUS_WORDS", "VERDICT_WORDS", "count", "printable", "received_sentence"]

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
"""A sign next to the word: colour alone does not reach every reader or printer."""


def received_sentence(got: str, path: str) -> tuple[str, str]:
    """Describe the received value and its place in one sentence, without the place if it is the subject."""
    return (
        (f"{path} {got}", "") if path and got.startswith(("is ", "must ", "fits ")) else (got or "something else", path)
    )


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 test``, ``2 tests``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
