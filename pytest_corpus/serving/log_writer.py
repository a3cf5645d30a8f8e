"""Log records that a served adapter does not handle itself, written to standard error at any level."""

import logging
import sys

from pytest_corpus.adapter.hooks.logs import text_of


class Records(logging.Handler):
    """Writes records with their extra fields and exceptions, as the suite records those of an adapter in its process.

    It replaces `logging.lastResort`, so it gets only records without a handler; an adapter may set up its own.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        text, _ = text_of(record)
        sys.stderr.write(f"{record.levelname} {record.name}: {text}\n")
        sys.stderr.flush()


def write_records() -> None:
    """Write records that find no handler from now on."""
    logging.lastResort = Records()
