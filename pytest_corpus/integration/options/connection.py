"""Settings of the connection to an adapter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from pytest_corpus.adapter.opening.remote import CONNECTIONS, STARTUP_S, Connection
from pytest_corpus.text.redaction import printable

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_OURS = ("accept", "accept-encoding", "content-type", "content-length", "host", "transfer-encoding", "x-corpus-hooks")

MOST_CONNECTIONS = 10_000
MOST_STARTUP_S = 600


def read(one: Callable[[str], str | None], headers: Iterable[str], folder: Path) -> Connection:
    """How addresses are reached.

    Args:
        one: the value of an option that is given once, by its name.
        folder: where relative paths start.

    Raises:
        pytest.UsageError: an option has a value that makes no sense; the value of a header is not shown.
    """
    return Connection(
        headers=dict(_header(given) for given in headers),
        tls=_tls(one("tls-verify"), folder),
        connections=_connections(one("connections")),
        startup_s=_startup(one("startup-timeout")),
        log=_log(one("log"), folder),
    )


def _header(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise pytest.UsageError("--corpus-header: write it as NAME:VALUE")
    if not _VALUE.fullmatch(value):
        raise pytest.UsageError(f"--corpus-header={name}: the value holds a control character")
    if name.lower() in _OURS:
        raise pytest.UsageError(f"--corpus-header={name}: the suite sets this header itself")
    return name, value


def _tls(given: str | None, folder: Path) -> str:
    word = (given or "yes").lower()
    if word in ("yes", "true", "on", "1"):
        return "yes"
    if word in ("no", "false", "off", "0"):
        return "no"
    path = folder / str(given)
    if not path.is_file() or not os.access(path, os.R_OK):
        raise pytest.UsageError(
            f"--corpus-tls-verify={printable(str(given))}: there is no such file; use yes, no or a file of certificates"
        )
    return str(path)


def _log(given: str | None, folder: Path) -> Path | None:
    if given is None:
        return None
    path = folder / given
    if not path.is_file() or not os.access(path, os.R_OK):
        raise pytest.UsageError(f"--corpus-log={printable(given)}: there is no such file to read")
    return path


def _connections(given: str | None) -> int:
    try:
        number = int(given or CONNECTIONS)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_CONNECTIONS:
        raise pytest.UsageError(f"--corpus-connections={given}: use a whole number from 1 to {MOST_CONNECTIONS}")
    return number


def _startup(given: str | None) -> float:
    try:
        seconds = float(given or STARTUP_S)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_STARTUP_S:
        raise pytest.UsageError(
            f"--corpus-startup-timeout={given}: use a number of seconds above 0, at most {MOST_STARTUP_S}"
        )
    return seconds
