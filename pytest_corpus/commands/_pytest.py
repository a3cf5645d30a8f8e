"""Runs pytest in another process, without the settings and tests of the current folder."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TextIO

from pytest_corpus.adapter.opening.settings import ConnectionSettings, folder_settings, setting_name
from pytest_corpus.commands import FINDINGS, FINE, INTERRUPTED, USAGE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.reports.json_report import INTERNAL_REPORT_DIR
from pytest_corpus.reports.reading import ReportError, read_report
from pytest_corpus.spec.transports import CONNECTION

EXIT_CODES = {0: FINE, 1: FINDINGS, 2: USAGE, 4: USAGE, 5: USAGE}
"""The command's exit code for each exit code of pytest. After 2 and 5 nothing was verified. Other codes are kept."""

UNPROVEN = 3  # the exit code if pytest succeeded, but no attestation shows that the suite ran
_PYTEST_INTERRUPTED = 2  # pytest's exit code after Ctrl-C or an error in the collection
_PYTEST_FAILED = 3  # pytest's exit code of an internal error
_DISABLED_PLUGINS = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:randomly")
"""Options for pytest: no cache in the current folder, and no plugins that only concern other tests."""


def settings_arguments(folder: Path) -> list[str]:
    """Return arguments for pytest: it runs in the current folder, but takes settings and tests from an empty folder."""
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    # An installed plugin would be loaded twice by another name; without an entry point only the module is known.
    plugin = "corpus" if entry_points(group="pytest11", name="corpus") else "pytest_corpus.plugin"
    return ["-c", str(settings), f"--rootdir={Path.cwd()}", "-p", plugin, *_DISABLED_PLUGINS]


def use_connection(folder: Path, headers: Sequence[str]) -> None:
    """Write the connection settings of the current folder, and `headers`, for a pytest run whose settings are in
    `folder`.

    They are not passed as arguments, because every user of the machine can see the arguments of a process.
    """
    found = connection_settings(headers)
    with (folder / "pytest.ini").open("a", encoding="utf-8") as file:
        for key, (kind, _) in CONNECTION.items():
            lines = found.headers if kind == "linelist" else [found.text(key)]
            file.write(f"{setting_name(key)} =\n" + "".join(f"    {each}\n" for each in lines if each))


def connection_settings(headers: Sequence[str]) -> ConnectionSettings:
    """Return the connection settings of the current folder, with headers of the command line (NAME:VALUE)."""
    if any(not each.isprintable() or ":" not in each for each in headers):
        raise CommandError("--header: write NAME:VALUE in one line")
    found = folder_settings(Path.cwd(), headers)
    found.connection()
    found.call_timeout_s()
    return found


def add_header_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--header NAME:VALUE`, for an adapter at an address."""
    text = "sent to an adapter at an address, besides the headers of the settings; repeatable"
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help=text)


def read_attestations(folder: Path) -> list[dict[str, Any]]:
    """Return the report of each adapter that a pytest run wrote into a folder."""
    found = []
    for path in sorted(folder.glob("attestation*.json")):
        with contextlib.suppress(ReportError):
            found.append(read_report(path)[0])
    return found


def run_pytest(command: str, arguments: list[str], folder: Path, output: TextIO | None = None) -> int:
    """Run pytest, wait for it, and return the exit code for the command.

    Ctrl-C also reaches pytest, which then closes the adapters and writes the reports.
    """
    sys.stdout.flush()
    environment = {**os.environ, INTERNAL_REPORT_DIR: str(folder)}
    words = [sys.executable, "-m", "pytest", *arguments]
    process = subprocess.Popen(words, stdout=output, env=environment)  # noqa: S603  # our own interpreter
    interrupted = False
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            interrupted = True
            continue
        if code < 0:
            report_end(command, f"pytest was ended by {_signal_name(-code)}, so nothing is verified")
            return 128 - code
        if code not in (*EXIT_CODES, _PYTEST_FAILED):
            report_end(command, f"pytest ended with {code}, which it does not do by itself")
        return INTERRUPTED if interrupted and code == _PYTEST_INTERRUPTED else EXIT_CODES.get(code, code)


def report_end(command: str, text: str) -> None:
    """Write a message about the end of pytest on a new line, because pytest may have stopped within a line."""
    sys.stderr.write("\n")
    console.warn(f"pytest-corpus {command}: {text}")


def _signal_name(number: int) -> str:
    """Return the name of a signal, or its number if this system has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
