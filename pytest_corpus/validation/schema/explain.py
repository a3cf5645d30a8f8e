"""Explains why an instance violates a schema, without repeating its values.

The compiled validator only decides; this module finds place and reason. It runs for refused instances only, so it may
be slow. An instance may contain a prompt, a vector or a credential, so messages name keys, types, rules and lengths,
never values (SPECIFICATION 14; R21). The harmless part of a value is in `Problem.found`, not in the message.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import FormatError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from pytest_corpus.redaction import describe
from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.text.problems import Problem, path_text, to_plain_json
from pytest_corpus.validation.schema.files import ANY_CHARACTER, rewrite_patterns, spell_out_dots, transform

Conforms = Callable[[object, str], bool]
"""A function that decides if an instance is of a format."""


class Explainer:
    """Explains violations. `retrieve` returns the schema of an `$id`, or raises an exception.

    `conforms` checks formats.
    """

    def __init__(self, retrieve: Callable[[str], Mapping[str, Any]], conforms: Conforms | None = None) -> None:
        self._retrieve = retrieve
        self._formats = _Formats(conforms) if conforms else None

        @cache
        def resource(uri: str) -> Resource[Any]:
            return DRAFT202012.create_resource(transform(retrieve(uri), _for_python))

        self._registry: Registry[Any] = Registry(retrieve=resource)  # type: ignore[call-arg]

    def problems(self, instance: object, uri: str, schema: str) -> list[Problem]:
        """The problems of an instance under the schema with an `$id`, outermost first, one per path."""
        value, faults = to_plain_json(instance, schema)
        found = {fault.path: fault for fault in faults}
        root = {"$ref": uri}
        validator = Draft202012Validator(root, registry=self._registry, format_checker=self._formats)
        for error, problem in _problems(validator.iter_errors(value), schema):
            if problem.path not in found:
                found[problem.path] = replace(problem, location=self._location(root, error))
        return sorted(found.values(), key=lambda problem: len(problem.path.split(".")) if problem.path else 0)

    def _location(self, root: Mapping[str, Any], error: ValidationError) -> str:
        """The place of the rule that an error violates; empty if the rule is not in a file."""
        node: Any = root
        base, pointer = "", list[str]()
        for part in error.absolute_schema_path:  # which leaves out every "$ref" on the way
            while isinstance(node, Mapping) and "$ref" in node and part not in node:
                target, _, fragment = node["$ref"].partition("#")
                base, pointer = target or base, fragment.split("/")[1:]
                node = self._retrieve(base)
                for step in pointer:
                    node = node[int(step) if isinstance(node, list) else step]
            if isinstance(node, Mapping) and part not in node:
                part = _pattern_text(str(part))  # noqa: PLW2901  # the name of a pattern that was rewritten
            pointer.append(str(part))
            node = node[part]
        return f"{base.removeprefix(BASE_URI)}#/{'/'.join(pointer)}"


class _Formats(FormatChecker):
    """Passes every format check on to a function."""

    def __init__(self, conforms: Conforms) -> None:
        super().__init__(())
        self._conforms = conforms

    def check(self, instance: object, format: str) -> None:  # noqa: A002  # as in jsonschema
        if not self._conforms(instance, format):
            raise FormatError(f"not of the format {format}")


def _for_python(schema: dict[str, Any]) -> None:
    """Rewrite the patterns of a schema so that Python's `re` agrees with ECMA 262.

    In ECMA 262 `$` matches only at the end; in Python it also matches before a final newline.
    """
    rewrite_patterns(schema, _python_pattern)


def _python_pattern(pattern: str) -> str:
    spelled = spell_out_dots(pattern)
    return spelled[:-1] + r"\Z" if spelled.endswith("$") else spelled


def _pattern_text(pattern: str) -> str:
    plain = pattern.replace(ANY_CHARACTER, ".")
    return plain[:-2] + "$" if plain.endswith(r"\Z") else plain


_Found = tuple[ValidationError, Problem]


def _problems(errors: Iterable[ValidationError], schema: str) -> Iterator[_Found]:
    for error in errors:
        path = tuple(error.absolute_path)
        rule = str(error.validator)
        if rule in ("anyOf", "oneOf"):
            yield from _union_problems(error, rule, path, schema)
        elif rule == "required":
            present, wanted = _keys(error.instance), _keys(error.validator_value)
            unknown = [key for key in present if key not in error.schema.get("properties", {})]  # type: ignore[union-attr]
            for key in wanted:
                if key not in present:
                    yield (
                        error,
                        Problem(path_text((*path, key)), rule, "is missing", schema, hint=_near(key, unknown, 0.8)),
                    )
        elif rule == "additionalProperties" and error.validator_value is False:
            known = _keys(error.schema.get("properties", {}))  # type: ignore[union-attr]
            for key in _unexpected(error):
                message = "is a key that is not allowed here"
                yield error, Problem(path_text((*path, key)), rule, message, schema, hint=_near(key, known))
        else:
            yield error, _problem(rule, error.validator_value, error.instance, path, schema)


def _problem(rule: str, wanted: Any, instance: Any, path: tuple[object, ...], schema: str) -> Problem:
    choices = [wanted] if rule == "const" else wanted if rule == "enum" else ()
    hint = _near(instance, [choice for choice in choices if isinstance(choice, str)])
    return Problem(
        path_text(path), rule, _message(rule, wanted, instance), schema, describe(instance, path, rule), hint
    )


def _keys(keys: Any) -> list[str]:
    return list(keys)


def _near(given: object, choices: list[str], cutoff: float = 0.7) -> str:
    near = get_close_matches(given.casefold(), choices, n=1, cutoff=cutoff) if isinstance(given, str) else []
    return "".join(near)


def _union_problems(error: ValidationError, rule: str, path: tuple[object, ...], schema: str) -> Iterator[_Found]:
    """The problems of the branch that was meant, or one problem for the whole union."""
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
        yield error, _problem("type", wanted, error.instance, path, schema)
    elif branches:
        yield error, Problem(path_text(path), rule, f"fits none of the {len(branches)} allowed shapes", schema)
    else:
        yield error, Problem(path_text(path), rule, "fits more than one of the allowed shapes", schema)


def _is_other_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path


def _tells_apart(error: ValidationError) -> bool:
    """True if an error shows that a branch was not meant: another type, or another value of a discriminating key."""
    return _is_other_type(error) or (error.validator in ("const", "enum") and len(error.relative_path) <= 1)


def _names(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else list(types)


def _unexpected(error: ValidationError) -> list[str]:
    instance: Any = error.instance
    schema: Any = error.schema
    patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    return [key for key in instance if key not in known and not any(p.search(key) for p in patterns)]


def _message(rule: str, wanted: Any, instance: Any) -> str:
    if rule == "type":
        return f"must be {' or '.join(_names(wanted))}, is {_type_name(instance)}"
    if rule in ("const", "enum"):
        choices = [wanted] if rule == "const" else wanted
        return f"must be {' or '.join(json.dumps(choice) for choice in choices)}"
    if rule == "pattern":
        return f"must match {_pattern_text(wanted)}"
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
