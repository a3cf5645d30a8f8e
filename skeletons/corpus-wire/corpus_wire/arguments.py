"""The members of a request: one that is missing, or of the wrong type or range, is refused with BAD_REQUEST."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import WireError, invalid

TYPES: dict[str, type | tuple[type, ...]] = {
    "a string": str,
    "a number": (int, float),
    "a boolean": bool,
    "an object": Mapping,
    "a list": list,
}


@dataclass(frozen=True)
class Arguments:
    """The members of one object of the request, by name; null counts as absent."""

    values: Mapping[str, Any]
    path: str = "args"

    def read(self, name: str, kind: str, *, required: bool = False) -> Any:
        """A member of one of `TYPES`; None if it is absent."""
        value = self.values.get(name)
        if value is None:
            if required:
                raise self.invalid(name, f"is required and must be {kind}")
            return None
        if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "a boolean"):
            raise self.invalid(name, f"must be {kind}")
        return value

    def invalid(self, name: str, rule: str, **details: Any) -> WireError:
        """A refusal that names the member."""
        return invalid(f"{self.path}.{name}", rule, **details)

    def text(self, name: str) -> str:
        """A required string."""
        return str(self.read(name, "a string", required=True))

    def filled(self, name: str) -> str:
        """A required string that is not empty."""
        text = self.text(name)
        if not text:
            raise self.invalid(name, "must not be empty")
        return text

    def optional_text(self, name: str) -> str | None:
        """A string, or None."""
        text: str | None = self.read(name, "a string")
        return text

    def flag(self, name: str, *, default: bool) -> bool:
        """A boolean."""
        value = self.read(name, "a boolean")
        return default if value is None else bool(value)

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A number from `low` to `high`, or None."""
        value: float | None = self.read(name, "a number")
        if value is not None and not low <= value <= high:
            raise self.invalid(name, f"must lie between {low} and {high}")
        return value

    def integer(self, name: str, low: int, high: int | None = None, *, required: bool = False) -> int | None:
        """An integer of at least `low` (2.0 is one too), or None; the refusal of one above `high` names the limit."""
        value = self.read(name, "a number", required=required)
        if value is None:
            return None
        if not math.isfinite(value) or value != int(value) or value < low:
            raise self.invalid(name, f"must be an integer of at least {low}")
        if high is not None and value > high:
            raise self.invalid(name, f"must be at most {high}", **{f"max_{name}": high})
        return int(value)

    def object(self, name: str, *, required: bool = False) -> Mapping[str, Any]:
        """An object; an empty one if it is absent."""
        value: Mapping[str, Any] = self.read(name, "an object", required=required) or {}
        return value

    def list_of(self, kind: str, name: str, *, required: bool = False) -> list[Any]:
        """A list whose elements all are `kind`; an empty one if it is absent."""
        values: list[Any] = self.read(name, "a list", required=required) or []
        elements = Arguments({f"{name}[{index}]": value for index, value in enumerate(values)}, self.path)
        return [elements.read(element, kind, required=True) for element in elements.values]

    def objects(self, name: str, *, required: bool = False) -> list[Arguments]:
        """The objects of a list."""
        values = self.list_of("an object", name, required=required)
        return [Arguments(value, f"{self.path}.{name}[{index}]") for index, value in enumerate(values)]

    def check_batch(self, name: str, size: int, most: int) -> None:
        """Refuse a list that is longer than a batch may be."""
        if size > most:
            reduction = math.ceil(100 - 100 * most / size)
            rule, limits = f"must be at most {most}", {"max_batch_size": most, "suggested_batch_reduction": reduction}
            raise self.invalid(name, rule, **limits)


def check_numbers(value: Any, path: str) -> None:
    """Refuse NaN, infinities and integers beyond 64 bit, at any depth (SPECIFICATION 4.1)."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif (isinstance(item, float) and not math.isfinite(item)) or (isinstance(item, int) and abs(item) >= 2**63):
            raise invalid(path, "must hold finite numbers, and integers of 64 bits")


def passes(members: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell if an object has all wanted members with their values: a filter for equality, where true is not 1."""
    return all(
        key in members and members[key] == value and isinstance(members[key], bool) == isinstance(value, bool)
        for key, value in wanted.items()
    )
