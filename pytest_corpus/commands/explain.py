"""`pytest-corpus explain ID`: print everything about a requirement or ruling, or the guide of an operation."""

import argparse
from dataclasses import asdict
from typing import Any

from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.catalogue import (
    explain,
    make_examples,
    read_rulings,
    requirements_of_ruling,
    rulings_of,
    unknown_id_message,
)
from pytest_corpus.reports.pages.plain import to_plain_text
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.requirements import catalogue


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the id and the format."""
    parser.add_argument("id", metavar="ID", help="a requirement, ruling or operation: LLM-STREAM-1, R20, llm.complete")
    console.add_format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Print one requirement, ruling or operation."""
    if given.id.strip() in BY_OP:
        from pytest_corpus.reports.pages.components import render_operation

        page = render_operation(given.id.strip())
        console.print_result(given, {"op": given.id.strip(), "page": page}, *to_plain_text(page).splitlines())
        return FINE
    try:
        text = explain(given.id)
        if text is None:
            raise CommandError(unknown_id_message(given.id))
        console.print_result(given, _as_json(given.id.strip().upper()), *text.split("\n"))
    except FileNotFoundError as error:
        raise CommandError(str(error)) from None
    return FINE


def _as_json(wanted: str) -> dict[str, Any]:
    if ruling := read_rulings().get(wanted):
        return {**asdict(ruling), "requirements": requirements_of_ruling(ruling)}
    entry = catalogue()[wanted]
    shown = [asdict(example) for example in make_examples(entry)]
    return {**asdict(entry), "rulings": [asdict(ruling) for ruling in rulings_of(entry)], "examples": shown}
