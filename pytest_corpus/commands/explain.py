"""`pytest-corpus explain ID`: all that the catalogue says of one requirement."""

from __future__ import annotations

import argparse
import sys

from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.reports.catalogue_text import explained, unknown

SUMMARY = "one requirement: sentence, sources, needs, hint"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The id."""
    parser.add_argument("id", metavar="ID", help="for example LLM-STREAM-1")


def run(given: argparse.Namespace) -> int:
    """Print one entry of the catalogue.

    Raises:
        CommandError: there is no such requirement.
    """
    text = explained(given.id)
    if text is None:
        raise CommandError(unknown(given.id))
    sys.stdout.write(text + "\n")
    return FINE
