"""Reads tables of test cases from text files: one row per line, and comments with #."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read_rows(path: Path, comment: str = "#") -> list[str]:
    """Return the rows of a table as text."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(comment)]


def read_json_rows(path: Path) -> list[Any]:
    """Return the values of a table in which each row is JSON."""
    return [json.loads(line) for line in read_rows(path)]


def read_sections(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each line that begins with ##, and the lines after it."""
    for part in ("\n" + "\n".join(read_rows(path, comment="# "))).split("\n## ")[1:]:
        head, _, body = part.partition("\n")
        yield head.split(), body


def apply_changes(document: Any, changes: dict[str, Any]) -> Any:
    """Return a document with changes: for each JSON pointer its new value. Null removes, and the key `-` appends."""
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
