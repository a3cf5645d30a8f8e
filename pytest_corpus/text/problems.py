"""Problems of JSON values that are checked against a schema (instances), and the check that a value is JSON at all."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

MAX_DEPTH = 200  # deeper instances are refused before Python's own recursion limit is reached
TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"  # the message of a problem of such an instance
MOST_BITS = 2_100  # the most bits of an integer; Python can always write 640 digits, which have more
NO_JSON = "json"  # the `rule` of a problem that no schema states: the value is not JSON at all


class PlainError(Exception):
    """An error whose text explains what is wrong, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of an instance (a value that was checked against a schema).

    Attributes:
        path: keys and array indexes joined by dots, e.g. ``result.usage.total_tokens``; ``""`` is the root. It ends
            with the missing or forbidden key, not with the object around it.
        rule: the violated schema keyword, or ``json`` for a value that is not JSON.
        message: the demand of the rule, without any value of the instance.
        schema: short name of the schema that the instance was checked against.
        found: the value at the path, shortened. Of a value that may be content or a secret, only type and size are
        given.
        hint: the key or value that was probably meant; for a missing key, a similar key of the object. May be empty.
        location: the file and the JSON pointer of the rule, e.g.
            ``llm/llm.types.message.json#/properties/role/enum``.
    """

    path: str
    rule: str
    message: str
    schema: str
    found: str = ""
    hint: str = ""
    location: str = ""

    def __str__(self) -> str:
        return f"{self.path or 'the whole'} {self.message}"

    @property
    def one_line(self) -> str:
        """The complete problem in one line."""
        found = f", found {self.found}" if self.found else ""
        asked = "is it spelt" if self.rule == "required" else "did you mean"
        hint = f"; {asked} {self.hint}?" if self.hint else ""
        return f"{self}{found}{hint} [{self.rule}{f' in {self.location}' if self.location else ''}]"


def json_problems(instance: object) -> list[Problem]:
    """Return the faults of a Python value as JSON: NaN, lone surrogates, other types, keys that are not strings."""
    return to_plain_json(instance, "")[1]


def to_plain_json(instance: object, schema: str) -> tuple[Any, list[Problem]]:
    """Return the value as `json.loads` would return it, and its faults. Faulty values are replaced by null."""
    faults: list[Problem] = []

    def walk(value: object, path: tuple[object, ...], around: tuple[int, ...]) -> Any:
        if isinstance(value, str) and isinstance(value, Enum):
            value = value.value
        if fault := _json_fault(value, around):
            faults.append(Problem(path_text(path), NO_JSON, fault, schema))
            return None
        inside = (*around, id(value))
        if isinstance(value, dict):
            return {key: walk(item, (*path, key), inside) for key, item in value.items() if isinstance(key, str)}
        if isinstance(value, list | tuple):
            return [walk(item, (*path, index), inside) for index, item in enumerate(value)]
        return value

    return walk(instance, (), ()), faults


def _json_fault(value: object, around: tuple[int, ...]) -> str | None:
    """Return the reason why a value is not JSON, ignoring its items; `around` has the ids of its containers."""
    fault = None
    if isinstance(value, str):
        if not _is_encodable(value):
            fault = "holds a lone surrogate, which UTF-8 cannot carry"
    elif isinstance(value, float):
        if not math.isfinite(value):
            fault = "is not finite; JSON has only finite numbers"
    elif isinstance(value, dict | list | tuple):
        if id(value) in around:
            fault = "contains itself"
        elif len(around) >= MAX_DEPTH:
            fault = TOO_DEEP
        elif isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            fault = "has a key that is not a string"
        elif isinstance(value, dict) and not all(map(_is_encodable, value)):
            fault = "has a key with a lone surrogate, which UTF-8 cannot carry"
    elif isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            fault = "is an integer of more than 632 digits, which readers of JSON refuse"
    elif value is not None:
        fault = f"is a Python {type(value).__name__}, which JSON does not have"
    return fault


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_text(path: Iterable[object]) -> str:
    """Join keys and indexes by dots, as in `Problem.path`."""
    return ".".join(str(part) for part in path)
