"""Servers for tests: the embedded reference adapters behind each transport, in processes of their own."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SERVE = [sys.executable, "-c", "import sys; from pytest_corpus.cli import main; sys.exit(main())", "serve"]


def command(factory: str = "pytest_corpus.reference:all") -> str:
    """The address of a factory behind stdio."""
    return "cmd:" + shlex.join([*SERVE, "--stdio", factory])


@contextmanager
def served(factory: str = "pytest_corpus.reference:all", *more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Where a factory is served over HTTP, as ``127.0.0.1:port``, and the process."""
    process = subprocess.Popen(
        [*SERVE, factory, "--port", "0", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.rpartition("://")[2].strip().rstrip("/"), process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
