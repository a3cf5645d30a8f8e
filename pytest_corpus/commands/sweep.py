"""`pytest-corpus sweep`: delete what earlier runs left in an adapter's store."""

import argparse

SUMMARY = "delete what earlier runs left in an adapter's store"

STORES = ("vector", "graph")
"""The components that keep what they are given."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The adapter, and which runs."""
    parser.set_defaults(stores=STORES)
    parser.add_argument("--adapter", required=True, metavar="SPEC", help="as for --corpus-adapter")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--run", metavar="ID", help="only this run, whose id stands at the start of it and in reports")
    chosen.add_argument("--older-than", metavar="TIME", help="only runs that began so long ago: 90s, 30m, 1h or 7d")
    parser.add_argument(
        "--component", action="append", choices=STORES, help="vector or graph (default: both); repeatable"
    )
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="for an address")
    parser.add_argument("--folder", default=".", metavar="DIR", help="where pytest was started (default: here)")


def run(given: argparse.Namespace) -> int:
    """Delete it, and say what is still there.

    Raises:
        CommandError: there is no such adapter or run, or the time makes no sense.
    """
    from pytest_corpus.commands import _sweep_run

    return _sweep_run.run(given)
