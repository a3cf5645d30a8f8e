"""Records that travel between processes as JSON."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def plain(record: Any) -> dict[str, Any]:
    """A record as a JSON value without the members that have their default, which `rebuilt` gives them again."""
    members = ((name, getattr(record, name), default) for name, default in _defaults(type(record)))  # type: ignore[arg-type]  # as below
    return {name: _value(value) for name, value, default in members if value != default}


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    made = ((each, each.default_factory) for each in fields(kind))
    return tuple((each.name, each.default if factory is MISSING else factory()) for each, factory in made)


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return plain(value) if is_dataclass(value) else value


def rebuilt(kind: type[T], value: Mapping[str, Any]) -> T:
    """The record of a JSON value. Raises TypeError or AttributeError if the value is another one."""
    hints = _hints_of(kind)  # type: ignore[arg-type]  # mypy: a type is not hashable
    return kind(**{name: _part(hints.get(name), each) for name, each in value.items()})


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _part(hint: Any, value: Any) -> Any:
    if get_origin(hint) is tuple:
        return tuple(_part(get_args(hint)[0], each) for each in value)
    record: Any = next(filter(is_dataclass, (hint, *get_args(hint))), None)
    return value if record is None or value is None else rebuilt(record, value)
