"""Compares an answer with the expected answer (R44, R82)."""

import json
from dataclasses import dataclass
from typing import Any

from pytest_corpus.bundles.evaluation.values import BudgetError, OperationError, search_pattern
from pytest_corpus.text.bounded import measure_depth
from pytest_corpus.text.problems import MAX_DEPTH

MATCHES = ("subset", "exact", "contains", "regex", "ignore")
"""The ways to compare an answer with the expected one; the first is the default."""

TEXT_MATCHES = ("contains", "regex")


@dataclass(frozen=True)
class Difference:
    """A difference between an answer and the expected answer: the path, and both values or the missing part."""

    path: tuple[str | int, ...]
    expected: str
    got: str
    kind: str = ""
    """A description of the difference without content."""


def parse_json(text: str) -> Any:
    """Parse JSON (RFC 8259); return the text unchanged if it is not JSON.

    NaN and code fences are not JSON; white space around is allowed. JSON that is nested too deeply, has a number with
    too many digits for Python, or contains a lone surrogate stays text.
    """
    stripped = text.strip(" \t\r\n")
    try:
        if measure_depth(stripped.encode("utf-8")) > MAX_DEPTH:
            return text
        value = json.loads(stripped, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def find_differences(expected: Any, raw: str, how: str) -> list[Difference]:
    """Return the differences between an answer and the expected answer, at most ten.

    Args:
        raw: the answer as text.
        how: one of `MATCHES`.
    """
    if how == "ignore":
        return []
    if how in TEXT_MATCHES:
        return _search_text(str(expected), raw, how)
    output = parse_json(raw)
    if isinstance(expected, str):
        return _text_differences(expected, raw, output, exact=how == "exact")
    found: list[Difference] = []
    _collect_differences(expected, output, (), found, exact=how == "exact")
    return found[:10]


def _search_text(expected: str, raw: str, how: str) -> list[Difference]:
    said = {"contains": "the text is not contained in the answer"}.get(
        how, "the regular expression is not found in the answer"
    )
    try:
        if expected in raw if how == "contains" else search_pattern(expected, raw):
            return []
    except (OperationError, BudgetError) as error:
        said = f"the regular expression {error}"
    return [Difference((), expected, raw, said)]


def _text_differences(expected: str, raw: str, output: Any, *, exact: bool) -> list[Difference]:
    if expected.strip() == raw.strip() or (isinstance(output, str) and output.strip() == expected.strip()):
        return []
    wanted = parse_json(expected)
    found: list[Difference] = []
    if wanted is not expected and output is not raw:
        _collect_differences(wanted, output, (), found, exact=exact)
    else:
        found.append(Difference((), expected, raw, "another text"))
    return found[:10]


def _collect_differences(
    expected: Any, got: Any, path: tuple[str | int, ...], found: list[Difference], *, exact: bool
) -> None:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key in got:
                _collect_differences(value, got[key], (*path, key), found, exact=exact)
            else:
                found.append(Difference((*path, key), to_json(value), "nothing", "a key is missing"))
        for key in got.keys() - expected.keys() if exact else ():
            found.append(Difference((*path, key), "nothing", to_json(got[key]), "a key too many"))
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            said = f"{len(got)} items where {len(expected)} are expected"
            found.append(Difference(path, to_json(expected), to_json(got), said))
            return
        for number, (one, other) in enumerate(zip(expected, got, strict=True)):
            _collect_differences(one, other, (*path, number), found, exact=True)
    elif not _are_equal(expected, got):
        found.append(Difference(path, to_json(expected), to_json(got), _describe_types(expected, got)))


def _are_equal(expected: Any, got: Any) -> bool:
    """True if two texts (without outer spaces), numbers, booleans or nulls are equal; a boolean is not a number."""
    if isinstance(expected, str) and isinstance(got, str):
        return expected.strip() == got.strip()
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, int | float) and isinstance(got, int | float):
        return expected == got
    return expected is None and got is None


def name_type(value: Any) -> str:
    """Return the JSON name of a value's type, with an article: "a number"."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "an array", dict: "an object"}
    return names.get(type(value), "a value")


def _describe_types(expected: Any, got: Any) -> str:
    if name_type(expected) == name_type(got):
        return f"another {name_type(got).partition(' ')[2]}"
    return f"{name_type(got)} where {name_type(expected)} is expected"


def as_text(value: Any) -> str:
    """Return a text unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def to_json(value: Any) -> str:
    """Write a value as JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
