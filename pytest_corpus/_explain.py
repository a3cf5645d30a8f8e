"""Why an instance does not meet a schema, in words that never repeat the instance.

The compiled validator says whether; this module says where and why. It is only reached for instances
that were refused, so it may be slow. A prompt, a vector or a credential may stand in the instance: messages
name keys, types, rules and lengths, never values (SPECIFICATION 14; R21).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from pytest_corpus._problems import Problem, dotted, plain


class Explainer:
    """Explanations under the schemas that `retrieve` gives: the document of an `$id`, or an exception."""

    def __init__(self, retrieve: Callable[[str], Mapping[str, Any]]) -> None:
        @cache
        def resource(uri: str) -> Resource[Any]:
            return DRAFT202012.create_resource(_for_python(retrieve(uri)))

        self._registry: Registry[Any] = Registry(retrieve=resource)  # type: ignore[call-arg]

    def problems(self, instance: object, uri: str, schema: str) -> list[Problem]:
        """The problems of an instance under the schema with an `$id`, outermost first, one at each path."""
        value, faults = plain(instance, schema)
        found = {fault.path: fault for fault in faults}
        validator = Draft202012Validator({"$ref": uri}, registry=self._registry)
        for problem in _problems(validator.iter_errors(value), schema):
            found.setdefault(problem.path, problem)
        return sorted(found.values(), key=lambda problem: len(problem.path.split(".")) if problem.path else 0)


def _for_python(node: Any) -> Any:
    """The schema with its patterns as Python's `re` must read them to agree with ECMA 262.

    There `$` is the end of the text; in Python it also stands before a final newline.
    """
    if isinstance(node, list):
        return [_for_python(item) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _for_python(value) for key, value in node.items()}
    if isinstance(copy.get("pattern"), str):
        copy["pattern"] = _python_pattern(copy["pattern"])
    if isinstance(copy.get("patternProperties"), dict):
        copy["patternProperties"] = {_python_pattern(key): value for key, value in copy["patternProperties"].items()}
    return copy


def _python_pattern(pattern: str) -> str:
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _printed_pattern(pattern: str) -> str:
    return pattern[:-2] + "$" if pattern.endswith(r"\Z") else pattern


def _problems(errors: Iterable[ValidationError], schema: str) -> Iterator[Problem]:
    for error in errors:
        path = tuple(error.absolute_path)
        rule = str(error.validator)
        if rule in ("anyOf", "oneOf"):
            yield from _union_problems(error, rule, path, schema)
        elif rule == "required":
            for key in _missing(error):
                yield Problem(dotted((*path, key)), rule, "is missing", schema)
        elif rule == "additionalProperties" and error.validator_value is False:
            for key in _unexpected(error):
                yield Problem(dotted((*path, key)), rule, "is a key that is not allowed here", schema)
        else:
            yield Problem(dotted(path), rule, _message(rule, error.validator_value, error.instance), schema)


def _union_problems(error: ValidationError, rule: str, path: tuple[object, ...], schema: str) -> Iterator[Problem]:
    """The problems of the one branch that was meant, or else one problem for the whole union."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [errors for errors in branches.values() if not any(map(_tells_apart, errors))]
    if len(meant) == 1:
        yield from _problems(meant[0], schema)
        return
    types = [inner for errors in branches.values() for inner in errors if _is_other_type(inner)]
    if len(types) == len(branches) > 0:
        wanted = [name for inner in types for name in _names(inner.validator_value)]
        yield Problem(dotted(path), "type", _message("type", wanted, error.instance), schema)
    elif branches:
        yield Problem(dotted(path), rule, f"fits none of the {len(branches)} allowed shapes", schema)
    else:
        yield Problem(dotted(path), rule, "fits more than one of the allowed shapes", schema)


def _is_other_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path


def _tells_apart(error: ValidationError) -> bool:
    """Whether an error says that a branch was not meant: another type, or another discriminating key."""
    return _is_other_type(error) or (error.validator in ("const", "enum") and len(error.relative_path) <= 1)


def _names(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else list(types)


def _missing(error: ValidationError) -> list[str]:
    present: Any = error.instance
    wanted: Any = error.validator_value
    return [key for key in wanted if key not in present]


def _unexpected(error: ValidationError) -> list[str]:
    instance: Any = error.instance
    schema: Any = error.schema
    patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    return [key for key in instance if key not in known and not any(p.search(key) for p in patterns)]


def _message(rule: str, wanted: Any, instance: Any) -> str:
    """What a rule asks for; `wanted` is the keyword's value and comes from the schema."""
    if rule == "type":
        return f"must be {' or '.join(_names(wanted))}, is {_type_name(instance)}"
    if rule in ("const", "enum"):
        choices = [wanted] if rule == "const" else wanted
        return f"must be {' or '.join(json.dumps(choice) for choice in choices)}"
    if rule == "pattern":
        return f"must match {_printed_pattern(wanted)}"
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
    if value is None:
        return "null"
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    return type(value).__name__


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (dict, "object"),
    (list, "array"),
)
