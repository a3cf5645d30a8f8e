"""Settings of the connection to an adapter, from the ini file of pytest or [tool.pytest-corpus] in pyproject.toml."""

import configparser
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.opening.remote import CONNECTIONS, STARTUP_S, Connection
from pytest_corpus.redaction import printable
from pytest_corpus.spec.transports import CONNECTION
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.text.values import suggest

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_OURS = ("accept", "accept-encoding", "content-type", "content-length", "host", "transfer-encoding", "x-corpus-hooks")

_VARIABLE = re.compile(r"\$\{(\w+)\}")

PROJECT = "pyproject.toml"
TABLE = "[tool.pytest-corpus]"
SECONDS = "a number of seconds above 0"
CALL_TIMEOUT_S = 30.0
MOST_CONNECTIONS = 10_000
MOST_STARTUP_S = 600

INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", PROJECT, "tox.ini", "setup.cfg")
"""The files that may hold settings of pytest, in the order in which pytest looks for them in a folder."""


class SettingError(PlainError):
    """A setting with an invalid value. The message does not show the value of a header."""


def setting_name(key: str) -> str:
    """Return the name of a setting in the ini file."""
    return f"corpus_{key.replace('-', '_')}"


class ConnectionSettings:
    """Settings from the ini file or from the table in pyproject.toml; the ini file takes precedence.

    Args:
        folder: the base of relative paths.
        ini: the settings of the ini file; each value is a text, but headers are a list of texts.
        table: the result of `table_in`.
        options: the keys in `ini` whose value comes from the command line.
    """

    def __init__(
        self, folder: Path, ini: Mapping[str, Any], table: Mapping[str, Any], options: Collection[str] = ()
    ) -> None:
        self.folder, self._ini, self._table, self._options = folder, ini, table, options

    def connection(self) -> Connection:
        """Return the settings of connections. Raises SettingError."""
        longest = f"{SECONDS}, at most {MOST_STARTUP_S}"
        number = self.number("connections", CONNECTIONS, lambda n: n in range(1, MOST_CONNECTIONS + 1),
                             f"a whole number from 1 to {MOST_CONNECTIONS}")  # fmt: skip
        return Connection(
            headers=dict(_parse_header(given, self.source_of("header")) for given in self.headers),
            tls=self._tls_setting(),
            connections=int(number),
            startup_s=self.number("startup-timeout", STARTUP_S, lambda s: 0 < s <= MOST_STARTUP_S, longest),
            upstream=self.text("provider-upstream"),
            log=self._path_setting("log", "there is no such file to read") if self.text("log") else None,
        )

    def call_timeout_s(self, usual: float = CALL_TIMEOUT_S) -> float:
        """Return the seconds after which a call is abandoned. Raises SettingError."""
        return self.number("call-timeout", usual, lambda s: 0 < s < float("inf"), SECONDS)

    def text(self, key: str) -> str:
        """Return the value of a setting as text; empty if it has none."""
        value = self._ini.get(key)
        if value is None or not str(value).strip():
            value = self._table.get(key, "")
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value).strip()

    @property
    def headers(self) -> list[str]:
        """The headers as NAME:VALUE. Raises SettingError."""
        given = self._ini.get("header") or self._table.get("header", [])
        lines = [f"{name}:{value}" for name, value in given.items()] if isinstance(given, dict) else given
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise SettingError(f"{TABLE} header: write a table of names and values")
        return lines

    def source_of(self, key: str) -> str:
        """Return the place where a setting was given, for messages."""
        if key in self._options:
            return f"--corpus-{key}"
        return f"{TABLE} {key}" if key in self._table and not self._ini.get(key) else setting_name(key)

    def describe_setting(self, key: str) -> str:
        """Return a setting and its value as text for messages."""
        return f"{self.source_of(key)}={printable(self.text(key))}"

    def number(self, key: str, usual: float, valid: Callable[[float], bool], form: str) -> float:
        """Return the value of a setting as a number. Raises SettingError."""
        try:
            number = float(self.text(key) or usual)
        except ValueError:
            number = float("nan")
        if not valid(number):
            raise SettingError(f"{self.describe_setting(key)}: use {form}")
        return number

    def _tls_setting(self) -> str:
        given = self.text("tls-verify") or "yes"
        if given.lower() in ("yes", "true", "on", "1"):
            return "yes"
        if given.lower() in ("no", "false", "off", "0"):
            return "no"
        return str(self._path_setting("tls-verify", "there is no such file; use yes, no or a CA bundle"))

    def _path_setting(self, key: str, otherwise: str) -> Path:
        path = self.folder / self.text(key)
        if not path.is_file() or not os.access(path, os.R_OK):
            raise SettingError(f"{self.describe_setting(key)}: {otherwise}")
        return path


def _parse_header(given: str, place: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise SettingError(f"{place}: write each header as NAME:VALUE")
    for variable in _VARIABLE.findall(value):
        if variable not in os.environ:
            raise SettingError(f"{place}: {name}: the environment variable {variable} is not set")
    value = _VARIABLE.sub(lambda found: os.environ[found[1]], value)
    if not _VALUE.fullmatch(value):
        raise SettingError(f"{place}: {name}: the value contains a control character")
    if name.lower() in _OURS:
        raise SettingError(f"{place}: {name}: the suite sets this header itself")
    return name, value


def table_in(folder: Path) -> dict[str, Any]:
    """Return the table in the pyproject.toml of a folder. Raises SettingError."""
    path = folder / PROJECT
    if not path.is_file():
        return {}
    try:
        found = _read_toml(path).get("tool", {}).get("pytest-corpus", {})
    except ValueError as error:
        why = error.why if isinstance(error, bounded.FileRefused) else f"it cannot be read as TOML: {error}"
        raise SettingError(f"{path}: {printable(why)}") from None
    if not isinstance(found, dict):
        raise SettingError(f"{path}: tool.pytest-corpus must be a table")
    for key in found:
        if key not in CONNECTION:
            hint = suggest(key, CONNECTION, f"use {', '.join(CONNECTION)}")
            raise SettingError(f"{TABLE} has no key {printable(key)!r}; {hint}")
    return found


def folder_settings(folder: Path, headers: Sequence[str] = ()) -> ConnectionSettings:
    """Return the settings that a pytest run in a folder would have, plus these headers. Raises SettingError."""
    place, ini = find_settings(folder)
    table = table_in(place)
    held = ConnectionSettings(folder, ini, table)
    return ConnectionSettings(folder, {**ini, "header": [*held.headers, *headers]}, table) if headers else held


def find_settings(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the ini file that pytest would read, and the connection settings in the file.

    Like pytest, take the first ini file in the folder or a parent; if there is none, the nearest pyproject.toml.
    """
    project = None
    for place in (folder.absolute(), *folder.absolute().parents):
        for name in INI_FILES:
            path = place / name
            if not path.is_file():
                continue
            if name == PROJECT:
                project = project or place
            section = _pytest_section(path)
            if section is not None:
                return place, dict(_connection_settings(section))
    return project or folder, {}


def _pytest_section(path: Path) -> Mapping[str, Any] | None:
    """Return the pytest settings in a file; None without any. If a file is unreadable, pytest reports the reason."""
    with suppress(ValueError, AttributeError, configparser.Error):
        if path.suffix != ".toml":
            parser = configparser.RawConfigParser(
                delimiters=("=", ":"), comment_prefixes=("#", ";"), strict=False, allow_no_value=True
            )
            parser.read_string(bounded.read_contents(path).decode("utf-8-sig"))
            name = "tool:pytest" if path.suffix == ".cfg" else "pytest"
            if name in parser:
                return parser[name]
            return {} if path.name.endswith("pytest.ini") else None
        document = _read_toml(path)
        if path.name != PROJECT:
            return dict(document.get("pytest", {}))
        own = document.get("tool", {}).get("pytest")
        return None if own is None else {**own, **own.get("ini_options", {})}
    return {}


def _connection_settings(section: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, (kind, _) in CONNECTION.items():
        value = section.get(setting_name(key))
        if value and kind == "linelist":
            lines = value if isinstance(value, list) else str(value).split("\n")
            yield key, [str(line).strip() for line in lines if str(line).strip()]
        elif value is not None:
            yield key, value


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(bounded.read_contents(path).decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
