"""`pytest-corpus report`: what can be done with reports once they are written."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.reports import formats

SUMMARY = "reports: merge, diff, verify, badge, render"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The five things that can be done, each with its files."""
    below = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, text: str, carried_out: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        own = below.add_parser(name, help=text, description=text)
        own.set_defaults(carry_out=carried_out)
        own.add_argument("--format", choices=("text", "json"), default="text", help="what to print (default text)")
        return own

    merge = action("merge", "several reports side by side: providers by requirements, with verdicts", _merge)
    merge.add_argument("reports", nargs="+", metavar="FILE", help="a JSON report")
    _output(merge, formats.MATRIX_FORMATS, "without it the matrix is printed")
    merge.add_argument("--allow-mixed", action="store_true", help="merge reports of different catalogue versions too")

    diff = action("diff", "what changed between two reports; exit code 1 on a regression", _diff)
    diff.add_argument("old", metavar="OLD", help="the JSON report before")
    diff.add_argument("new", metavar="NEW", help="the JSON report after")
    diff.add_argument(
        "--level",
        choices=("must", "should"),
        default="should",
        help="from which level on a new violation is a regression (default should)",
    )

    verify = action("verify", "whether a report is whole, unaltered and still valid; exit code 1 where not", _verify)
    verify.add_argument("report", metavar="FILE", help="a JSON report")

    badge = action("badge", "the verdict of a report as a badge", _badge)
    badge.add_argument("report", metavar="FILE", help="a JSON report")
    _output(badge, formats.BADGES, "without it the words of the badge are printed")

    render = action("render", "a report in another format", _render)
    render.add_argument("report", metavar="FILE", help="a JSON report")
    _output(render, tuple(formats.FORMATS), "", required=True)
    render.add_argument("--since", metavar="OLD", help="an earlier JSON report: .html shows what changed since then")


def run(given: argparse.Namespace) -> int:
    """Carry out one action.

    Raises:
        CommandError: a file is not a report, a suffix is unknown, or a file cannot be written.
    """
    code: int = given.carry_out(given)
    return code


def _output(
    parser: argparse.ArgumentParser,
    known: Mapping[str, str] | tuple[str, ...],
    otherwise: str,
    *,
    required: bool = False,
) -> None:
    text = f"the file to write, {formats.listed(known)}" + (f"; {otherwise}" if otherwise else "")
    parser.add_argument("-o", "--output", metavar="PATH", required=required, help=text)


def _merge(given: argparse.Namespace) -> int:
    from pytest_corpus.reports import matrix

    target = _target(given.output, formats.MATRIX_FORMATS)
    try:
        read = [(Path(name).name, _read(name)) for name in given.reports]
        links = [_link(Path(name), target[0]) for name in given.reports] if target else ()
        merged = matrix.build(read, allow_mixed=given.allow_mixed, links=links)
    except matrix.Mixed as error:
        raise CommandError(str(error)) from None
    if target is None:
        suffix = ".json" if given.format == "json" else ".md"
        return _say(formats.render(merged, suffix, formats.MATRIX_FORMATS))
    return _write(given, formats.render(merged, target[1], formats.MATRIX_FORMATS), target[0])


def _link(report: Path, matrix: Path) -> str:
    """The way from a matrix to a report: to its page where that lies beside it."""
    page = report.with_suffix(".html")
    found = page if page.is_file() and page.resolve() != matrix.resolve() else report
    try:
        return quote(Path(os.path.relpath(found.resolve(), matrix.resolve().parent)).as_posix())
    except ValueError:  # on another drive
        return quote(found.name)


def _diff(given: argparse.Namespace) -> int:
    from pytest_corpus.reports import difference

    found = difference.build(_read(given.old), _read(given.new), given.level)
    _say(_json(found) if given.format == "json" else difference.text(found))
    return FINDINGS if found["regression"] else FINE


def _verify(given: argparse.Namespace) -> int:
    from datetime import datetime, timezone

    from pytest_corpus.reports import verification
    from pytest_corpus.reports.reading import ReportError
    from pytest_corpus.reports.text import printable

    def shipped(component: str, profile: str) -> Mapping[str, str]:
        from pytest_corpus.suites import inventory

        return inventory.tests(component, profile)

    try:
        faults = verification.faults(Path(given.report), datetime.now(timezone.utc).date(), shipped)
    except ReportError as error:
        raise CommandError(str(error)) from None
    name = printable(given.report)
    if given.format == "json":
        _say(_json({"file": name, "valid": not faults, "faults": faults}))
    elif faults:
        _say("".join(f"{name}: {fault}\n" for fault in faults))
    else:
        _say(f"{name}: whole and unaltered\n")
    return FINDINGS if faults else FINE


def _badge(given: argparse.Namespace) -> int:
    from pytest_corpus.reports import badge_json

    target = _target(given.output, formats.BADGES)
    document = _read(given.report)
    if target is not None:
        return _write(given, formats.render(document, target[1]), target[0])
    if given.format == "json":
        return _say(badge_json.render(document))
    return _say(f"{document['spec']['protocol']}: {badge_json.message(document)}\n")


def _render(given: argparse.Namespace) -> int:
    from pytest_corpus.reports import difference

    target = _target(given.output, formats.FORMATS)
    assert target is not None
    if given.since and target[1] not in formats.COMPARING:
        raise CommandError(f"--since: only {formats.listed(formats.COMPARING)} shows what changed since another report")
    earlier = difference.Earlier.of(_read(given.since)) if given.since else None
    return _write(given, formats.render(_read(given.report), target[1], earlier=earlier), target[0])


def _read(name: str) -> dict[str, Any]:
    """A report; one that was altered is used, for its every format says so, and is told of here."""
    from pytest_corpus.reports import view
    from pytest_corpus.reports.reading import ReportError, read
    from pytest_corpus.reports.text import printable

    try:
        document, _ = read(Path(name))
    except ReportError as error:
        raise CommandError(str(error)) from None
    if view.altered(document):
        sys.stderr.write(f"warning: {printable(name)}: its sha256 does not match its content; it was altered\n")
    return document


def _target(output: str | None, known: Mapping[str, str] | tuple[str, ...]) -> tuple[Path, str] | None:
    """Where to write and in which format, before any work is done."""
    from pytest_corpus.reports.text import printable
    from pytest_corpus.text.whole_files import obstacle

    if output is None:
        return None
    path = Path(output)
    suffix = formats.suffix_of(path.name, known)
    if suffix is None:
        raise CommandError(f"-o {printable(output)}: the name must end in {formats.listed(known)}")
    if blocked := obstacle(path):
        raise CommandError(f"-o {printable(output)}: {printable(blocked)}")
    return path, suffix


def _write(given: argparse.Namespace, text: str, path: Path) -> int:
    from pytest_corpus.reports.text import printable
    from pytest_corpus.text.whole_files import write_whole

    name = printable(str(path))
    try:
        write_whole(text, path)
    except OSError as error:
        raise CommandError(f"{name} could not be written: {error.strerror}") from None
    return _say(_json({"written": name}) if given.format == "json" else f"written: {name}\n")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _say(text: str) -> int:
    sys.stdout.write(text)
    return FINE
