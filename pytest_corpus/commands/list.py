"""`pytest-corpus list`: requirements, one per line."""

import argparse
from dataclasses import asdict

from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue import list_entries, select_requirements, unknown_id_message
from pytest_corpus.spec.components import COMPONENTS, WIRE

LEVELS = ("must", "should", "may")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the filters and the format."""
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="only ids that match, such as 'VEC-*' (default: all)")
    of_component = "only requirements of this component, shared ones included"
    console.add_component_argument(parser, (*COMPONENTS, *WIRE), of_component, several=True)
    only = "only this level; repeatable"
    parser.add_argument("--level", type=str.lower, action="append", choices=LEVELS, help=only)
    console.add_format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Print the selected requirements."""
    for glob in given.globs:
        if not select_requirements([glob]):
            raise CommandError(unknown_id_message(glob))
    entries = select_requirements(given.globs, given.component, given.level or ())
    if not entries:
        raise CommandError("no requirement is of that id, component and level at once; leave one of them out")
    console.print_result(
        given, {"requirements": [asdict(entry) for entry in entries]}, *list_entries(entries).split("\n")
    )
    return FINE
