"""The console script `pytest-corpus`; `commands/` implements its commands."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from pytest_corpus import __version__
from pytest_corpus.commands import COMMANDS, INTERRUPTED, NO_READER, USAGE
from pytest_corpus.commands._console import ACTIONS, check_word
from pytest_corpus.redaction import printable
from pytest_corpus.text.problems import PlainError

PROG = "pytest-corpus"
COMPLETING = "completion"  # the command that needs the parsers of all commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 findings, 2 a wrong command line.

    As in shells, 130 means an interrupt. 141 means that the program that reads the output closed the pipe.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(sys.argv[1:] if argv is None else list(argv))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
        return NO_READER
    except OSError as error:
        _discard_stdout()
        what = f"{error.filename}:" if error.filename else "the output cannot be written:"
        sys.stderr.write(f"{PROG}: {printable(f'{what} {error.strerror or error}')}\n")
        return USAGE


def run_schema_registry() -> int:
    """Run ``python -m pytest_corpus.schema_registry``, with the arguments of SCHEMA 9.1. Return an exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_corpus.schema_registry",
        usage="%(prog)s --list | --stats | SCHEMA FILE... [--verbose]",
        description="Schemas: the same as `pytest-corpus schema`, which can do more.",
        allow_abbrev=False,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_const", const="list", dest="action", help="every schema")
    what.add_argument("--stats", action="store_const", const="stats", dest="action", help="how many there are")
    parser.add_argument("schema", nargs="?", metavar="SCHEMA", help="short name, file name or $id")
    parser.add_argument("files", nargs="*", metavar="FILE", help="messages to check against it; - is stdin")
    parser.add_argument("-v", "--verbose", action="store_true", help="name valid messages too")
    given = parser.parse_args()
    if given.action and given.schema:
        parser.error(f"--{given.action} takes no schema and no file")
    if given.action:
        return main(["schema", given.action])
    if not given.files:
        parser.error("name a schema and the files to check against it, or say --list or --stats")
    verbose = ["--verbose"] if given.verbose else []
    return main(["schema", "check", f"--schema={given.schema}", *verbose, "--", *given.files])


def run_stream_validator() -> int:
    """Run ``python -m pytest_corpus.stream_validator``, which is `pytest-corpus stream check`."""
    return main(["stream", "check", *sys.argv[1:]])


def _run(argv: list[str]) -> int:
    name, action = ([part for part in argv if not part.startswith("-")] + ["", ""])[:2]
    words = PROG
    try:
        if name:
            check_word(name, COMMANDS, "command")
        parser, own, command = _make_parsers(name)
        words = f"{PROG} {name}"
        actions = own.get_default(ACTIONS)
        if action and actions:
            check_word(action, actions, "action")
            words += f" {action}"
        given = parser.parse_args(argv)
        if command is None or (actions and given.action is None):
            own.print_help(sys.stderr)
            parser.exit(USAGE)
        code: int = (command.run if hasattr(command, "run") else given.carry_out)(given)
    except PlainError as error:
        sys.stderr.write(f"{words}: {printable(str(error))}\n")
        return USAGE
    except KeyboardInterrupt as stopped:
        after_the_echo = "\n" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{after_the_echo}{words}: {stopped or 'interrupted'}\n")
        return INTERRUPTED
    return code


def _make_parsers(name: str) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, ModuleType | None]:
    """Return the parser of the command line, the parser of the named command, and the command's module.

    The parsers of other commands have only a summary. For shell completion, all parsers are complete.
    """
    parser = argparse.ArgumentParser(
        prog=PROG,
        description="Tools of the Corpus Protocol v1.0.",
        epilog="To test an adapter, run: pytest --corpus-adapter=module:factory",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    below = parser.add_subparsers(metavar="COMMAND")
    command, chosen = None, parser
    for each, summary in COMMANDS.items():
        own = below.add_parser(each, help=summary, description=summary, allow_abbrev=False)
        if name in (each, COMPLETING):
            module = importlib.import_module(f"pytest_corpus.commands.{each}")
            module.arguments(own)
            if each == name:
                command, chosen = module, own
                own.set_defaults(whole=parser)
    return parser, chosen, command


def _discard_stdout() -> None:
    """Redirect unwritten output to the null device; otherwise Python prints an error when it exits."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # stdout is not a file
        return
