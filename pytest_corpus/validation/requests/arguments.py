"""Validators of an operation's arguments: the rules in `spec/arguments.py`, and the operation's request schema."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pytest_corpus.spec.arguments import ALTERNATIVES, RULES, AtLeastOne, Choice, Rule, Within
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import BY_NAME, SCHEMA_VERSIONS
from pytest_corpus.text.problems import Problem, path_text
from pytest_corpus.validation.requests.exceptions import UNKNOWN_CASE, ArgsValidationError
from pytest_corpus.validation.schema import registry as schema_registry

_Fault = tuple[str, str]
"""The path of an invalid argument, and a description of the fault."""


@dataclass(frozen=True, slots=True)
class ArgsValidator:
    """The validator of one operation's arguments: `validate_rules`, then `validate_request_schema`.

    `schema_versions` are the accepted editions of the request schema. If none of them has the schema, only the rules
    are checked.
    """

    op: str
    schema_versions: tuple[str, ...] = SCHEMA_VERSIONS

    def __call__(self, args: dict[str, Any], case_id: str = UNKNOWN_CASE) -> None:
        """Raise ArgsValidationError unless the arguments are valid."""
        if not isinstance(args, dict):
            raise ArgsValidationError(f"{case_id}: args must be a JSON object", case_id, "args")
        validate_rules(self.op, args, case_id)
        validate_request_schema(self.op, args, case_id, self.schema_versions)


def validate_rules(op: str, args: dict[str, Any], case_id: str = UNKNOWN_CASE) -> None:
    """Raise ArgsValidationError unless the arguments satisfy the rules of `spec/arguments.py`."""
    for rule in RULES.get(op, ()):
        for path, said in _rule_faults(rule, args):
            raise ArgsValidationError(f"{case_id}: {said} ({rule.source})", case_id, path)


def validate_request_schema(
    op: str, args: dict[str, Any], case_id: str = UNKNOWN_CASE, schema_versions: Iterable[str] = SCHEMA_VERSIONS
) -> None:
    """Raise ArgsValidationError unless one of the editions accepts the arguments by the operation's request schema
    (R42).

    A key that SCHEMA 6.3 accepts instead of a required key is accepted here too.
    """
    problems: list[Problem] = []
    for edition in request_editions(op, schema_versions):
        problems = _schema_problems(op, args, edition)
        if not problems:
            return
    if problems:
        said = "; ".join(problem.one_line for problem in problems)
        raise ArgsValidationError(f"{case_id}: args validation failed: {said}", case_id, problems[0].path)


def request_editions(op: str, schema_versions: Iterable[str] = SCHEMA_VERSIONS) -> tuple[str, ...]:
    """Return the editions that have a schema for the operation's request."""
    schema = BY_NAME[BY_OP[op].request]
    return tuple(edition for edition in schema_versions if edition in schema.editions)


def replaced_keys(op: str, args: dict[str, Any]) -> dict[str, str]:
    """Return the paths of absent required keys, each with the key that replaces it (SCHEMA 6.3)."""
    row = ALTERNATIVES.get(op)
    return {
        path_text(("args", *path, row.key)): row.other
        for path, value in (_values_at(args, row.path) if row else ())
        if row and isinstance(value, dict) and value.get(row.key) is None and value.get(row.other) is not None
    }


def _schema_problems(op: str, args: dict[str, Any], edition: str) -> list[Problem]:
    envelope = {"op": op, "ctx": {}, "args": args}
    replaced = replaced_keys(op, args)
    found = schema_registry.registry().problems(BY_OP[op].request, envelope, edition)
    return [problem for problem in found if problem.rule != "required" or problem.path not in replaced]


def _rule_faults(rule: Rule, args: dict[str, Any]) -> Iterator[_Fault]:
    if isinstance(rule, AtLeastOne):
        if all(args.get(key) is None for key in rule.keys):
            yield "args", f"requires {' or '.join(map(repr, rule.keys))}"
    elif isinstance(rule, Within):
        value, high = args.get(rule.key), "" if rule.high is None else f" and at most {rule.high:g}"
        if value is not None and not (_is_number(value) and _is_inside(rule, value)):
            low = f"above {rule.low:g}" if rule.above else f"at least {rule.low:g}"
            yield f"args.{rule.key}", f"{rule.key} must be {low}{high}"
    else:
        for path, value in _values_at(args, rule.path):
            where, name = path_text(("args", *path)), rule.path[-1]
            if isinstance(rule, Choice):
                if value not in rule.choices:
                    yield where, f"{name} must be one of {', '.join(rule.choices)}"
            elif not isinstance(value, list) or not value:
                yield where, f"{name} must be a non-empty list"
            elif not all(map(_is_number, value)):
                yield where, f"{name} must contain finite numbers"


def _is_inside(rule: Within, value: float) -> bool:
    above = value > rule.low if rule.above else value >= rule.low
    return above and (rule.high is None or value <= rule.high)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _values_at(
    value: Any, path: tuple[str, ...], here: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Yield each value at a path, with its path, without nulls and absent values. ``*`` means every item of a list."""
    if not path:
        yield here, value
    elif path[0] == "*":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _values_at(item, path[1:], (*here, index))
    elif isinstance(value, dict) and value.get(path[0]) is not None:
        yield from _values_at(value[path[0]], path[1:], (*here, path[0]))


validate_llm_complete_args = ArgsValidator("llm.complete")
"""The validator of `llm.complete` (SCHEMA 6.3)."""

validate_vector_query_args = ArgsValidator("vector.query")
"""The validator of `vector.query` (SCHEMA 6.3)."""
