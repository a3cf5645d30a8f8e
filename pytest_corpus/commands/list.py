"""`pytest-corpus list`: every requirement on one line."""

from __future__ import annotations

import argparse
import sys

from pytest_corpus.commands import FINE
from pytest_corpus.reports.catalogue_text import listed

SUMMARY = "every requirement: id, level, sentence"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but the command itself."""


def run(_: argparse.Namespace) -> int:
    """Print the catalogue."""
    sys.stdout.write(listed() + "\n")
    return FINE
