"""Tables of tests that stand in text files: a row a line, and comments with #."""

import json
from pathlib import Path
from typing import Any


def lines(path: Path) -> list[str]:
    """The rows as they are."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def documents(path: Path) -> list[Any]:
    """The rows of a table in which each is JSON."""
    return [json.loads(line) for line in lines(path)]
