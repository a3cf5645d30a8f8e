"""Walking through JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def strings_of(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
