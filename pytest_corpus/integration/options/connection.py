"""Settings of the connection to an adapter."""

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.opening.remote import CONNECTIONS, STARTUP_S, Connection
from pytest_corpus.integration.options.table import CONNECTION, setting
from pytest_corpus.redaction import printable
from pytest_corpus.text.values import meant

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_OURS = ("accept", "accept-encoding", "content-type", "content-length", "host", "transfer-encoding", "x-corpus-hooks")

_VARIABLE = re.compile(r"\$\{(\w+)\}")

TABLE = "[tool.pytest-corpus]"
SECONDS = "a number of seconds above 0"
MOST_CONNECTIONS = 10_000
MOST_STARTUP_S = 600


def read(config: pytest.Config, usual_timeout_s: float) -> tuple[Connection, float]:
    """The connection to an adapter, and the seconds after which a call is abandoned.

    Raises:
        pytest.UsageError: a setting has an invalid value; the value of a header is not shown.
    """
    settings = _Settings(config)
    seconds = settings.number("call-timeout", usual_timeout_s, lambda s: 0 < s < float("inf"), SECONDS)
    longest = f"{SECONDS}, at most {MOST_STARTUP_S}"
    number = settings.number("connections", CONNECTIONS, lambda n: n in range(1, MOST_CONNECTIONS + 1),
                             f"a whole number from 1 to {MOST_CONNECTIONS}")  # fmt: skip
    return Connection(
        headers=dict(_header(given, settings.place("headers")) for given in settings.headers),
        tls=_tls(settings),
        connections=int(number),
        startup_s=settings.number("startup-timeout", STARTUP_S, lambda s: 0 < s <= MOST_STARTUP_S, longest),
        log=_file(settings, "log", "there is no such file to read") if settings.text("log") else None,
    ), seconds


class _Settings:
    """Settings of the ini file, or of the table [tool.pytest-corpus] in pyproject.toml; the ini file wins."""

    def __init__(self, config: pytest.Config) -> None:
        self.folder = config.invocation_params.dir
        self._config = config
        self._table = _table(config)

    def text(self, key: str) -> str:
        """The value of a setting as text; empty if it has none."""
        value = self._config.getini(setting(key))
        if value is None or not str(value).strip():
            value = self._table.get(key, "")
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value).strip()

    @property
    def headers(self) -> list[str]:
        """The headers as NAME:VALUE."""
        given = self._config.getini(setting("headers")) or self._table.get("headers", [])
        lines = [f"{name}:{value}" for name, value in given.items()] if isinstance(given, dict) else given
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise pytest.UsageError(f"{TABLE} headers: write a table of names and values")
        return lines

    def place(self, key: str) -> str:
        """The place that sets a setting, for messages."""
        return f"{TABLE} {key}" if key in self._table and not self._config.getini(setting(key)) else setting(key)

    def shown(self, key: str) -> str:
        """A setting and its value, for messages."""
        return f"{self.place(key)}={printable(self.text(key))}"

    def number(self, key: str, usual: float, valid: Callable[[float], bool], form: str) -> float:
        """The value of a setting as a number."""
        try:
            number = float(self.text(key) or usual)
        except ValueError:
            number = float("nan")
        if not valid(number):
            raise pytest.UsageError(f"{self.shown(key)}: use {form}")
        return number


def _table(config: pytest.Config) -> dict[str, Any]:
    """The table in the pyproject.toml next to the ini file, or in pytest's root folder."""
    path = (config.inipath.parent if config.inipath else config.rootpath) / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8")).get("tool", {}).get("pytest-corpus", {})
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"{path}: it cannot be read as TOML: {printable(str(error))}") from None
    if not isinstance(found, dict):
        raise pytest.UsageError(f"{path}: tool.pytest-corpus must be a table")
    for key in found:
        if key not in CONNECTION:
            hint = meant(key, CONNECTION, f"use {', '.join(CONNECTION)}")
            raise pytest.UsageError(f"{TABLE} has no key {printable(key)!r}; {hint}")
    return found


def _header(given: str, place: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise pytest.UsageError(f"{place}: write each header as NAME:VALUE")
    for variable in _VARIABLE.findall(value):
        if variable not in os.environ:
            raise pytest.UsageError(f"{place}: {name}: the environment variable {variable} is not set")
    value = _VARIABLE.sub(lambda found: os.environ[found[1]], value)
    if not _VALUE.fullmatch(value):
        raise pytest.UsageError(f"{place}: {name}: the value contains a control character")
    if name.lower() in _OURS:
        raise pytest.UsageError(f"{place}: {name}: the suite sets this header itself")
    return name, value


def _tls(settings: _Settings) -> str:
    given = settings.text("tls-verify") or "yes"
    if given.lower() in ("yes", "true", "on", "1"):
        return "yes"
    if given.lower() in ("no", "false", "off", "0"):
        return "no"
    return str(_file(settings, "tls-verify", "there is no such file; use yes, no or a CA bundle"))


def _file(settings: _Settings, key: str, otherwise: str) -> Path:
    path = settings.folder / settings.text(key)
    if not path.is_file() or not os.access(path, os.R_OK):
        raise pytest.UsageError(f"{settings.shown(key)}: {otherwise}")
    return path
