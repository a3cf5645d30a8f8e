"""Servers for tests: the embedded reference adapters behind each transport, in processes of their own."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SERVE = [sys.executable, "-c", "import sys; from pytest_corpus.cli import main; sys.exit(main())", "serve"]

_SSE_ALONE = """
import sys
from pytest_corpus.cli import main
from pytest_corpus.serving import http

accepted = http._accepted_type
http._accepted_type = lambda accept: None if "ndjson" in accept else accepted(accept)
sys.exit(main())
"""
SERVE_SSE_ALONE = [sys.executable, "-c", _SSE_ALONE, "serve"]
"""As `SERVE`, and NDJSON is answered with 406."""


def command(factory: str = "pytest_corpus.reference:all") -> str:
    """The address of a factory behind stdio."""
    return "cmd:" + shlex.join([*SERVE, "--stdio", factory])


@contextmanager
def served(
    factory: str = "pytest_corpus.reference:all", *more: str, serve: Sequence[str] = SERVE, log: str | Path = os.devnull
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a served factory, as ``127.0.0.1:port``, and its process, which writes its log to a file."""
    with open(log, "w") as written:
        process = subprocess.Popen(
            [*serve, factory, "--port", "0", *more],
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().rpartition("://")[2].strip().rstrip("/"), process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
