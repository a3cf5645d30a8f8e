"""The console script `pytest-corpus`; what its commands do lies in `commands/`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from pytest_corpus import __version__
from pytest_corpus.commands import COMMANDS, USAGE, CommandError


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command; the exit code: 0 fine, 1 findings, 2 a command line that makes no sense."""
    parser, commands = _parser()
    given = parser.parse_args(argv)
    try:
        code: int = commands[given.command].run(given)
    except CommandError as error:
        sys.stderr.write(f"{parser.prog} {given.command}: {error}\n")
        return USAGE
    return code


def _parser() -> tuple[argparse.ArgumentParser, dict[str, Any]]:
    parser = argparse.ArgumentParser(
        prog="pytest-corpus",
        description="Tools of the Corpus Protocol v1.0.",
        epilog="To test an adapter, run: pytest --corpus-adapter=module:factory",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    below = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {name: importlib.import_module(f"pytest_corpus.commands.{name}") for name in COMMANDS}
    for name, command in commands.items():
        command.arguments(below.add_parser(name, help=command.SUMMARY, description=command.SUMMARY))
    return parser, commands
