"""Parts of mutants of several chapters."""

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call


def changed(call: Call, **values: Any) -> None:
    """Give a call other arguments than its request has."""
    call.args = replace(call.args, values={**call.args.values, **values})


def failed(outcome: Any) -> bool:
    """Return true for a text that failed."""
    return isinstance(outcome, AdapterError)
