"""Dataclasses that travel as JSON: `rebuilt` reads what `asdict` or `bare` made of them."""

from collections.abc import Container, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def bare(value: Any, without: Container[str] = ()) -> Any:
    """The JSON value of a record, without the fields that have their default, and those named."""
    if is_dataclass(value):
        kept = {each.name: (getattr(value, each.name), each.default) for each in fields(value)}
        return {
            name: bare(found, without)
            for name, (found, default) in kept.items()
            if name not in without and found != default and found not in ((), {})
        }
    if isinstance(value, tuple | list):
        return [bare(each, without) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


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
