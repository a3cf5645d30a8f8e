"""The cases of a bundle: JSON Lines (R84)."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem, suggestion
from pytest_corpus.bundles.evaluation.expression import Expression
from pytest_corpus.bundles.evaluation.syntax import ExpressionError
from pytest_corpus.bundles.evaluation.values import OperationError, check_pattern
from pytest_corpus.bundles.loading.bundle import NOT_GIVEN, Case, Contract
from pytest_corpus.bundles.loading.files import shown, text_of
from pytest_corpus.bundles.matching import MATCHES, TEXT_MATCHES, kind
from pytest_corpus.text.strict_json import read

KEYS = ("input", "id", "expected_output", "metadata", "expected_match", "invariants")
MEANT = {"expected": "expected_output", "vars": "input", "inputs": "input", "tags": "metadata"}
"""Names that other tools use for a key, if the nearest spelling is another key."""

LONGEST_ID = 200
_NO_METADATA: dict[str, Any] = {}


def lines_of(path: Path) -> Iterator[tuple[int, Any, str]]:
    """The number, the value and the flaw (mostly none) of each line that is not blank; lines end at line feeds only."""
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if line.strip():
            value, flaw = read(line.strip(" \t\r").encode("utf-8"))
            yield number, value, "" if flaw is None else f"{flaw.path} {flaw.message}".strip()


def read_cases(path: Path, contract: Contract) -> tuple[Case, ...]:
    """The cases of a dataset. Raises BundleError if it has none, or lines are not cases."""
    reader = _Reader(shown(path), contract)
    for number, value, flaw in lines_of(path):
        reader.take(number, value, flaw)
    if not reader.cases and not reader.problems:
        reader.problems.append(Problem(reader.file, "has no cases; write one JSON object per line"))
    if reader.problems:
        raise BundleError(reader.problems)
    return tuple(reader.cases)


def unnamed(value: Any) -> str:
    """The id of a case without one: a hash of its input as canonical JSON, the same in every process."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"case-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


class _Reader:
    """Reads one dataset, and notes everything that is wrong with it."""

    def __init__(self, file: str, contract: Contract) -> None:
        self.file, self._contract = file, contract
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self._lines: dict[str, int] = {}

    def take(self, number: int, value: Any, flaw: str) -> None:
        try:
            if flaw:
                raise ValueError(f"is not valid JSON: {flaw}" if "JSON" not in flaw else flaw)
            case = self._case(number, value)
            if first := self._lines.get(case.id):
                named = "id" in value
                said = f"the id {case.id!r}" if named else "the same input without an id"
                raise ValueError(f"{said} is in line {first} already; give each case an id of its own")
            self._lines[case.id] = number
            self.cases.append(case)
        except ValueError as error:
            self.problems.append(Problem(self.file, str(error), number))

    def _case(self, number: int, value: Any) -> Case:
        if not isinstance(value, dict):
            raise ValueError(f"is {kind(value)}; a case is an object with the key 'input'")
        for key in value:
            if key not in KEYS:
                known = f"did you mean {MEANT[key]!r}?" if key in MEANT else suggestion(key, KEYS)
                raise ValueError(f"unknown key {key!r}; {known}")
        if "input" not in value:
            raise ValueError("the key 'input' is missing; it holds the variables of the prompt")
        for key, wanted in (("input", dict), ("metadata", dict), ("id", str), ("invariants", list)):
            if key in value and not isinstance(value[key], wanted):
                raise ValueError(f"'{key}' is {kind(value[key])}, and must be {kind(wanted())}")
        match = self._match(value)
        return Case(
            id=_checked_id(value["id"]) if "id" in value else unnamed(value["input"]),
            input=value["input"],
            line=number,
            expected=value.get("expected_output", NOT_GIVEN),
            match=match,
            metadata=value.get("metadata", _NO_METADATA),
            invariants=tuple(map(invariant, value.get("invariants", ()))),
        )

    def _match(self, value: dict[str, Any]) -> str:
        match = value.get("expected_match", self._contract.match)
        if match not in MATCHES:
            raise ValueError(f"'expected_match' is {match!r}; {suggestion(str(match), MATCHES)}")
        if match in TEXT_MATCHES and "expected_output" in value:
            expected = value["expected_output"]
            if not isinstance(expected, str):
                said = f"'expected_output' is {kind(expected)}, and must be a text for expected_match {match}"
                raise ValueError(said)
            if match == "regex":
                try:
                    check_pattern(expected)
                except OperationError as error:
                    raise ValueError(f"'expected_output': {error}") from None
        return str(match)


def _checked_id(given: str) -> str:
    if not given.strip() or len(given) > LONGEST_ID:
        raise ValueError(f"'id' must have from 1 to {LONGEST_ID} characters")
    if not given.isprintable() or "::" in given or given.startswith("threshold["):
        raise ValueError("'id' must be printable text without '::' that does not begin with 'threshold['")
    return given


def invariant(source: Any) -> Expression:
    """An expression that is allowed. Raises ValueError if it is none; the end of a sentence."""
    if not isinstance(source, str):
        raise ValueError(f"an invariant is {kind(source)}, and must be a text")
    expression = Expression(source)
    try:
        _ = expression.tree
    except ExpressionError as error:
        raise ValueError(f"the invariant {source[:100]!r} {error}") from None
    return expression
