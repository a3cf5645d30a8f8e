"""Tables of tests that stand in text files: a row a line, and comments with #."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines(path: Path, comment: str = "#") -> list[str]:
    """The rows as they are."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(comment)]


def documents(path: Path) -> list[Any]:
    """The rows of a table in which each is JSON."""
    return [json.loads(line) for line in lines(path)]


def sections(path: Path) -> Iterator[tuple[list[str], str]]:
    """The words of each line that begins with ##, and the lines below it."""
    for part in ("\n" + "\n".join(lines(path, comment="# "))).split("\n## ")[1:]:
        head, _, body = part.partition("\n")
        yield head.split(), body


def patched(document: Any, changes: dict[str, Any]) -> Any:
    """A document after changes: by JSON pointer the new value, where null takes away and `-` appends."""
    for pointer, value in changes.items():
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        inside = document
        for part in path:
            inside = inside[int(part) if isinstance(inside, list) else part]
        if last == "-":
            inside.append(value)
        elif value is None:
            inside.pop(int(last) if isinstance(inside, list) else last)
        else:
            inside[int(last) if isinstance(inside, list) else last] = value
    return document
