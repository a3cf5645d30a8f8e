"""Answers kept in a file as they arrive, so that a run that was killed can be resumed: one JSON line each."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_corpus.verdict.shards import Shard

FILE = "answers{}.jsonl"
"""Each shard writes a file of its own, so that shards may share a folder; all of them are read."""


class Journal:
    """The answers of all bundles of a run, in a folder.

    Args:
        shard: the shard that runs; None for a whole run.

    Raises:
        OSError: the file can be neither read nor written.
    """

    def __init__(self, folder: Path, shard: Shard | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        own = folder / FILE.format(f"-{shard.number}-of-{shard.of}" if shard else "")
        self._handle = os.open(own, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self._known: dict[str, Any] = {}
        for path in sorted(folder.glob(FILE.format("*"))):
            with open(path, "rb") as file:
                line = b""
                for line in file:
                    with suppress(ValueError):
                        key, entry = json.loads(line)
                        self._known[key] = entry
            if path == own and line and not line.endswith(b"\n"):  # the process was killed while it wrote
                os.write(self._handle, b"\n")

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
