"""Reads the files and the connection settings that options name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.opening.remote import Connection
from pytest_corpus.adapter.opening.settings import ConnectionSettings, SettingError, setting_name, table_in
from pytest_corpus.reports.formats import FORMATS, JUNIT, suffix_of
from pytest_corpus.spec.dialects import DIALECTS, Dialect, with_overrides
from pytest_corpus.spec.transports import CONNECTION
from pytest_corpus.text import bounded
from pytest_corpus.verdict.deviations import FILE, Deviation, DeviationError
from pytest_corpus.verdict.deviations import read as read_deviations


def dialects(config: pytest.Config, given: str | None) -> tuple[Mapping[str, Dialect], Mapping[str, Any]]:
    """Return the query languages with their probe queries, and the queries in a file that the user named."""
    if given is None:
        return DIALECTS, {}
    try:
        queries = bounded.read_document(config.invocation_params.dir / given)
        return with_overrides(queries), queries
    except bounded.FileRefused as error:
        raise pytest.UsageError(f"--corpus-dialects={given}: {error.why}") from None
    except ValueError as error:
        raise pytest.UsageError(f"--corpus-dialects={given}: {error}") from None


def deviations(config: pytest.Config, given: str | None, *, drafting: bool) -> tuple[Path, tuple[Deviation, ...]]:
    """Return the path of the file with deviations, and the deviations in it."""
    folders = (config.invocation_params.dir, config.rootpath)
    path = folders[0] / given if given else next((f / FILE for f in folders if (f / FILE).exists()), folders[0] / FILE)
    if not path.exists() and (drafting or not given):
        return path, ()
    try:
        return path, read_deviations(path, drafting=drafting)
    except DeviationError as error:
        named = f"--corpus-deviations={given}" if given else str(path)
        raise pytest.UsageError(f"{named}: {error}") from None


def report_paths(asked: Path, labels: Sequence[str]) -> list[Path]:
    """Return the path of each adapter's report. With several adapters the path contains the label, and a number if
    labels clash.
    """
    if len(labels) < 2:
        return [asked]
    end = len(suffix_of(asked.name, tuple(FORMATS)) or asked.suffix)
    names = ["".join(char if char.isalnum() or char in "._-" else "_" for char in label) for label in labels]
    numbered = [
        f"{name}.{again + 1}" if (again := names[:number].count(name)) else name for number, name in enumerate(names)
    ]
    return [asked.with_name(f"{asked.name[:-end]}.{name}{asked.name[-end:]}") for name in numbered]


def switch_on_junit(config: pytest.Config, reports: Sequence[str]) -> None:
    """Let pytest write the report whose name ends in `.junit.xml`, as with ``--junitxml``.

    This works because pytest's own plugin reads the option after all external plugins are configured.

    Raises:
        pytest.UsageError: pytest cannot write such a file, or another file was requested.
    """
    paths = dict.fromkeys(path for path in reports if path.lower().endswith(JUNIT))
    given = ", ".join(f"--corpus-report={path}" for path in paths)
    if not hasattr(config.option, "xmlpath"):
        raise pytest.UsageError(f"{given}: pytest's plugin junitxml, which writes it, is switched off")
    if len(paths) > 1 or config.option.xmlpath:
        asked = f" and --junitxml={config.option.xmlpath}" if config.option.xmlpath else ""
        raise pytest.UsageError(f"{given}{asked}: pytest writes one JUnit file a run; name one")
    config.option.xmlpath = str(config.invocation_params.dir / next(iter(paths)))


def read_connection(config: pytest.Config, usual_timeout_s: float) -> tuple[Connection, float]:
    """Return the connection to an adapter, and the time limit of calls.

    Options replace settings, except that headers of both are used. The table [tool.pytest-corpus] is in the
    pyproject.toml next to the ini file or in pytest's root folder.

    Raises:
        pytest.UsageError: a setting has an invalid value; the value of a header is not shown.
    """
    ini = {key: config.getini(setting_name(key)) for key in CONNECTION}
    given = {key: value for key in CONNECTION if (value := config.getoption(setting_name(key), None)) is not None}
    try:
        table = table_in(config.inipath.parent if config.inipath else config.rootpath)
        settings = ConnectionSettings(config.invocation_params.dir, ini, table)
        if "header" in given:
            given["header"] = [*settings.headers, *given["header"]]
        settings = ConnectionSettings(config.invocation_params.dir, {**ini, **given}, table, options=given)
        return settings.connection(), settings.call_timeout_s(usual_timeout_s)
    except SettingError as error:
        raise pytest.UsageError(str(error)) from None
