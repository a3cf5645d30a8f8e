"""The console script `pytest-corpus`: the requirement catalogue without a pytest run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_corpus import __version__
from pytest_corpus.reports.catalogue_text import explained, listed, unknown


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was asked for; the exit code: 0, or 2 for a command line that makes no sense."""
    parser = _parser()
    given = parser.parse_args(argv)
    text = listed() if given.command == "list" else explained(given.id)
    if text is None:
        sys.stderr.write(f"{parser.prog}: {unknown(given.id)}\n")
        return 2
    sys.stdout.write(text + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytest-corpus",
        description="The requirement catalogue of the Corpus Protocol v1.0.",
        epilog="To test an adapter, run: pytest --corpus-adapter=module:factory",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="every requirement: id, level, sentence")
    explain = commands.add_parser("explain", help="one requirement: sentence, sources, needs, hint")
    explain.add_argument("id", metavar="ID", help="for example LLM-STREAM-1")
    return parser
