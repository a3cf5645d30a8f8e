"""Walking through JSON values, by JSON pointers as well, comparing them, and guessing words that were meant."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any


def meant(wrong: str, known: Iterable[str], otherwise: str = "", *, before: str = "") -> str:
    """The question if the nearest known word was meant; another text if none is near."""
    near = get_close_matches(wrong, list(known), n=1)
    return f"did you mean {before}{near[0]}?" if near else otherwise


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


def same(left: Any, right: Any) -> bool:
    """Return if two JSON values are equal: true is not 1, and 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def at(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer; None if there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document
