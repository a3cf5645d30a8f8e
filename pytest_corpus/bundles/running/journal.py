"""Answers kept in a file as they arrive, so that a run that was killed can be resumed: one JSON line each."""

import json
import os
import threading
from pathlib import Path
from typing import Any

FILE = "answers.jsonl"


class Journal:
    """The answers of all bundles of a run, in a folder.

    Raises:
        OSError: the file can be neither read nor written.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._handle = os.open(folder / FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self._known: dict[str, Any] = {}
        with open(folder / FILE, "rb") as file:
            line = b""
            for line in file:
                self._take(line)
        if line and not line.endswith(b"\n"):  # the process was killed while it wrote
            os.write(self._handle, b"\n")

    def _take(self, line: bytes) -> None:
        try:
            key, entry = json.loads(line)
        except ValueError:
            return
        self._known[key] = entry

    def recall(self, key: str) -> Any:
        """The entry of a key; None if there is none."""
        return self._known.get(key)

    def record(self, key: str, entry: Any) -> None:
        """Keep an entry; it is in the file when this returns."""
        line = json.dumps([key, entry]).encode() + b"\n"
        with self._lock:
            self._known[key] = entry
            os.write(self._handle, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)
