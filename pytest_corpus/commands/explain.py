"""`pytest-corpus explain ID`: all that the catalogue says of one requirement."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue_text import explained, unknown
from pytest_corpus.spec.requirements import catalogue

SUMMARY = "one requirement: sentence, sources, needs, hint"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The id and the format."""
    parser.add_argument("id", metavar="ID", help="for example LLM-STREAM-1")
    console.format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Print one entry of the catalogue.

    Raises:
        CommandError: there is no such requirement.
    """
    text = explained(given.id)
    if text is None:
        raise CommandError(unknown(given.id))
    if given.format == "json":
        console.say_json(asdict(catalogue()[given.id.strip().upper()]))
    else:
        sys.stdout.write(text + "\n")
    return FINE
