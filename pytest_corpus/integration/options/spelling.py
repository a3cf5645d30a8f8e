"""Suggestions for misspelt options; pytest only says that it does not know them."""

from collections.abc import Iterable
from difflib import get_close_matches

import pytest

from pytest_corpus.redaction.values import printable

PREFIX = "--corpus-"


def check(parser: pytest.Parser, arguments: Iterable[str]) -> None:
    """Refuse an option that begins as ours do and is nobody's.

    Raises:
        pytest.UsageError: there is one; the sentence names a near one.
    """
    groups = [*parser._groups, parser._anonymous]
    known = {name for group in groups for option in group.options for name in option.names()}
    for argument in arguments:
        if argument == "--":
            return
        name = argument.partition("=")[0]
        if name.startswith(PREFIX) and name not in known:
            ours = [each.removeprefix(PREFIX) for each in known if each.startswith(PREFIX)]
            near = get_close_matches(name.removeprefix(PREFIX), ours, n=1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else "pytest --help lists them all"
            raise pytest.UsageError(f"{printable(name)}: there is no such option; {hint}")
