"""`pytest-corpus list`: every requirement on one line."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from pytest_corpus.commands import FINE
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue_text import listed
from pytest_corpus.spec.requirements import catalogue

SUMMARY = "every requirement: id, level, sentence"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The format."""
    console.format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Print the catalogue."""
    if given.format == "json":
        console.say_json({"requirements": [asdict(entry) for entry in catalogue().values()]})
        return FINE
    sys.stdout.write(listed() + "\n")
    return FINE
