"""Explains why an instance violates a schema, without repeating its values.

The compiled validator finds the violated keyword and its location; the message is made from the rule in the schema
file. An instance may contain a prompt, a vector or a credential, so messages name keys, types, rules and lengths, never
values (SPECIFICATION 14; R21). The harmless part of a value is in `Problem.found`, not in the message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from pytest_corpus.redaction import describe_value
from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.text.problems import Problem, path_text, to_plain_json
from pytest_corpus.text.values import value_at
from pytest_corpus.validation.schema.files import ANY_CHARACTER, FORMAT_KEYWORD

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Read = Callable[[str], Mapping[str, Any]]
"""A function that returns the unchanged document of a schema file."""


def find_problems(validator: Validator, instance: object, schema: str, read: Read) -> list[Problem]:
    """Return the problems of an instance, outermost first, one per path. `schema` is the schema's name in problems."""
    value, faults = to_plain_json(instance, schema)
    found = {fault.path: fault for fault in faults}
    for problem in _convert_errors(validator.iter_errors(value), schema, read):
        found.setdefault(problem.path, problem)
    return sorted(found.values(), key=lambda each: (each.path.count(".") + bool(each.path), _RANKS.get(each.rule, 0)))


_RANKS = {"required": 1, "additionalProperties": 2}
"""The order of problems at the same depth: wrong values, missing keys, unknown keys."""


def _locate_rule(error: ValidationError, read: Read) -> tuple[str, str, Any]:
    """Return the location of the violated rule (file and pointer), its keyword, and the schema that contains it."""
    file, _, pointer = unquote(error.absolute_keyword_location or "").removeprefix(BASE_URI).partition("#")
    document, kind = read(file), error.kind.name
    around, _, rule = pointer.replace(ANY_CHARACTER, ".").rpartition("/")
    rule = kind if kind == "required" and rule == "additionalProperties" else rule  # jsonschema-rs before 0.60
    holder = value_at(document, around)
    if not isinstance(holder, Mapping) or rule not in holder:  # for_compiler() replaced a format by other keywords
        around = around if rule == FORMAT_KEYWORD else around.rpartition("/allOf/")[0]
        rule, holder = "format", value_at(document, around)
    return f"{file}#{around}/{rule}", rule, holder


def _convert_errors(errors: Iterable[ValidationError], schema: str, read: Read) -> Iterator[Problem]:
    for error in errors:
        place, rule, holder = _locate_rule(error, read)
        for problem in _convert_error(error, rule, holder, schema, read):
            yield problem if problem.location else replace(problem, location=place)


def _convert_error(error: ValidationError, rule: str, holder: Any, schema: str, read: Read) -> Iterator[Problem]:
    path, instance = tuple(error.instance_path), cast("Any", error.instance)
    said: Any = getattr(error.kind, "value", None)
    known = list(holder.get("properties", {}))
    if rule in ("anyOf", "oneOf"):
        yield from _union_problems(error, rule, path, schema, read)
    elif rule == "propertyNames":
        yield from _convert_errors([said], schema, read)
    elif rule == "required":
        hint = _closest(said, [key for key in instance if key not in known], 0.8)
        yield Problem(path_text((*path, said)), rule, "is missing", schema, hint=hint)
    elif rule == "additionalProperties":
        for key in said:
            hint = _closest(key, known)
            yield Problem(path_text((*path, key)), rule, "is a key that is not allowed here", schema, hint=hint)
    elif error.kind.name == "falseSchema":
        yield Problem(path_text(path), "false", "must not be there", schema)
    else:
        yield _make_problem(rule, holder[rule], instance, path, schema)


def _make_problem(rule: str, wanted: Any, instance: Any, path: tuple[object, ...], schema: str) -> Problem:
    choices = [wanted] if rule == "const" else wanted if rule == "enum" else ()
    hint = _closest(instance, [choice for choice in choices if isinstance(choice, str)])
    return Problem(
        path_text(path),
        rule,
        _describe_rule(rule, wanted, instance),
        schema,
        describe_value(instance, path, rule),
        hint,
    )


def _closest(given: object, choices: list[str], cutoff: float = 0.7) -> str:
    near = get_close_matches(given.casefold(), choices, n=1, cutoff=cutoff) if isinstance(given, str) else []
    return "".join(near)


def _union_problems(
    error: ValidationError, rule: str, path: tuple[object, ...], schema: str, read: Read
) -> Iterator[Problem]:
    """Yield the problems of the branch that was probably meant, or one problem for the whole union."""
    branches: list[list[ValidationError]] = getattr(error.kind, "context", [])
    meant = [errors for errors in branches if not any(_excludes_branch(each, path) for each in errors)]
    if len(meant) == 1:
        yield from _convert_errors(meant[0], schema, read)
        return
    types = [each for errors in branches for each in errors if _is_other_type(each, path)]
    if len(types) == len(branches) > 0:
        wanted = [name for each in types for name in _as_list(_locate_rule(each, read)[2]["type"])]
        yield _make_problem("type", wanted, error.instance, path, schema)
    elif branches:
        yield Problem(path_text(path), rule, f"fits none of the {len(branches)} allowed shapes", schema)
    else:
        yield Problem(path_text(path), rule, "fits more than one of the allowed shapes", schema)


def _is_other_type(error: ValidationError, path: tuple[object, ...]) -> bool:
    return error.kind.name == "type" and len(error.instance_path) == len(path)


def _excludes_branch(error: ValidationError, path: tuple[object, ...]) -> bool:
    """True if an error shows that a branch was not meant: another type, or another value of a discriminating key."""
    near = len(error.instance_path) <= len(path) + 1
    return _is_other_type(error, path) or (error.kind.name in ("const", "enum") and near)


def _as_list(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else list(types)


def _describe_rule(rule: str, wanted: Any, instance: Any) -> str:
    if rule == "type":
        return f"must be {' or '.join(_as_list(wanted))}, is {_type_name(instance)}"
    if rule in ("const", "enum"):
        choices = [wanted] if rule == "const" else wanted
        return f"must be {' or '.join(json.dumps(choice) for choice in choices)}"
    if rule == "pattern":
        return f"must match {wanted}"
    if rule == "format":
        return f"must be a valid {wanted}"
    if rule in _BOUNDS:
        return f"must be {_BOUNDS[rule]} {wanted}"
    if rule in _SIZES:
        bound, unit = _SIZES[rule]
        return f"must have {bound} {wanted} {unit}, has {len(instance)}"
    return f"breaks the rule {rule}"


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}

_SIZES = {
    "minLength": ("at least", "characters"),
    "maxLength": ("at most", "characters"),
    "minItems": ("at least", "items"),
    "maxItems": ("at most", "items"),
    "minProperties": ("at least", "keys"),
    "maxProperties": ("at most", "keys"),
}


def _type_name(value: object) -> str:
    return next((name for kind, name in _TYPE_NAMES if isinstance(value, kind)), type(value).__name__)


_TYPE_NAMES = (
    *((type(None), "null"), (bool, "boolean"), (int, "integer"), (float, "number")),
    *((str, "string"), (dict, "object"), (list, "array")),
)
