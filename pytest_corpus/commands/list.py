"""`pytest-corpus list`: requirements, one on a line."""

import argparse
import sys
from dataclasses import asdict

from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue.listing import chosen, listed, unknown
from pytest_corpus.spec.components import COMPONENTS, WIRE

SUMMARY = "requirements: id, level, sentence"

LEVELS = ("must", "should", "may")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to choose by, and the format."""
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="only ids that match, such as 'VEC-*' (default: all)")
    parser.add_argument(
        "--component",
        choices=(*COMPONENTS, *WIRE),
        type=str.lower,
        action="append",
        help="only what speaks of this component, what it shares with others included; repeatable",
    )
    parser.add_argument("--level", choices=LEVELS, type=str.lower, action="append", help="only this level; repeatable")
    console.format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Print the requirements that were asked for.

    Raises:
        CommandError: a glob matches no requirement, or nothing is all that was asked for at once.
    """
    for glob in given.globs:
        if not chosen([glob]):
            raise CommandError(unknown(glob))
    entries = chosen(given.globs, given.component or (), given.level or ())
    if not entries:
        raise CommandError("no requirement is of that id, component and level at once; leave one of them out")
    if given.format == "json":
        console.say_json({"requirements": [asdict(entry) for entry in entries]})
    else:
        sys.stdout.write(listed(entries) + "\n")
    return FINE
