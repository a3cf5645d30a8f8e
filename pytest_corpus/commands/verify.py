"""`pytest-corpus verify`: run the conformance suite with one command, in any folder (SPECIFICATION 17.3.1)."""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._pytest import (
    UNPROVEN,
    add_header_argument,
    read_attestations,
    report_end,
    run_pytest,
    settings_arguments,
    use_connection,
)
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.transports import CONNECTION

EMBEDDED = "pytest_corpus.reference:all"  # the adapter that is verified if none is named
_INFORMATION_OPTIONS = frozenset(
    ("--collect-only", "--co", "--help", "-h", "--version", "-V", "--markers", "--fixtures")
)
"""Arguments that make pytest print something instead of running tests."""

UNENDED = "it ended before the suite did"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the adapters, the attestation and further arguments of pytest."""
    parser.usage = (
        "%(prog)s [-h] [--component COMPONENT]... [--adapter SPEC]... [--report PATH]... [--header NAME:VALUE]...\n"
        "       [--call-timeout SECONDS] [--format text|json] [-- PYTEST ARGUMENT...]"
    )
    console.add_component_argument(
        parser, COMPONENTS, "test only this component (default: those that answer)", several=True
    )
    adapter = f"module:factory or an address, as for --corpus-adapter; repeatable (default: {EMBEDDED})"
    parser.add_argument("--adapter", dest="adapters", action="append", default=[], metavar="SPEC", help=adapter)
    console.add_report_argument(parser)
    add_header_argument(parser)
    timeout = CONNECTION["call-timeout"][1]
    parser.add_argument("--call-timeout", metavar="SECONDS", help=timeout)
    more = "after --: more arguments for pytest, such as -- -x -q"
    parser.add_argument("more", nargs="*", metavar="PYTEST ARGUMENT", help=more)
    console.add_format_argument(parser)
    parser.epilog = (
        "Exit code: 0 nothing binding is violated, 1 violations, 2 a wrong command line or nothing ran, "
        "3 pytest itself failed or ended before the suite did, 130 interrupted. Settings and tests in the current "
        "folder are ignored, but for those of the connection; its modules can be imported."
    )


def run(given: argparse.Namespace) -> int:
    """Run the suite in a separate pytest, without the settings and tests of the current folder.

    Modules and relative paths are still found in the current folder, as with ``python -m pytest``.
    """
    for word in given.more:
        if word in COMPONENTS:
            raise CommandError(f"name a component with --component={word}; arguments after -- go to pytest")
    if not given.adapters:
        console.warn(f"pytest-corpus verify: no --adapter is given, so the embedded ones are verified ({EMBEDDED})")
    with tempfile.TemporaryDirectory(prefix="pytest-corpus-") as name:
        folder = Path(name)
        passed = [*_pytest_arguments(given, folder), f"--corpus-report={folder / 'attestation.json'}"]
        code = run_pytest("verify", passed, folder, sys.stderr if given.format == "json" else None)
        found = read_attestations(folder)
        reason = _missing_proof(given, found) if code in (FINE, FINDINGS) else ""
        if reason and (code == FINE or reason == UNENDED):
            report_end("verify", f"pytest ended with {code}, but {reason}, so nothing is verified")
            code = UNPROVEN
        console.print_result(given, {"exit_code": code, "attestations": found})
        return code


def _missing_proof(given: argparse.Namespace, attestations: Sequence[dict[str, Any]]) -> str:
    """Return the reason why a finished run proves nothing.

    It is empty if the run proves something, or if the user asked for a partial run.
    """
    more = [*given.more, *os.environ.get("PYTEST_ADDOPTS", "").split()]
    if _INFORMATION_OPTIONS.intersection(more):
        return ""
    tests = [[test for entry in each["requirements"] for test in entry["tests"]] for each in attestations]
    if not all(tests) or not tests:
        return UNENDED
    if more:
        return ""
    if len(attestations) < len(given.adapters):
        return f"{len(attestations)} of {len(given.adapters)} adapters have an attestation"
    gaps = [gap for each in attestations if not each["complete"] for gap in each["gaps"]]
    return f"the run was not complete ({'; '.join(gaps)})" if gaps else ""


def _pytest_arguments(given: argparse.Namespace, folder: Path) -> list[str]:
    """Return arguments for pytest: it runs in the current folder, but takes settings and tests from an empty folder."""
    found = settings_arguments(folder)
    use_connection(folder, given.header)
    found += [f"--corpus-adapter={spec}" for spec in given.adapters or [EMBEDDED]]
    if given.component:
        found.append(f"--corpus-components={','.join(given.component)}")
    if given.call_timeout is not None:
        found.append(f"--corpus-call-timeout={given.call_timeout}")
    found += [f"--corpus-report={path}" for path in given.reports]
    return [*found, *given.more, str(folder)]
