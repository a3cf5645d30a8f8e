"""The output of the commands: results on stdout, progress and warnings on stderr, JSON for machines."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

from pytest_corpus.commands import CommandError
from pytest_corpus.redaction import printable
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.text.values import suggest

Measure = Callable[[int], str]  # returns an amount of work as text
ACTIONS = "actions"  # the key under which a command's parser keeps the parsers of its actions


def add_format_argument(parser: argparse.ArgumentParser, **more: str) -> None:
    """Add `--format text|json`, which every command with a result has; `more` has further formats and descriptions."""
    others = (f"{name}: {what}" for name, what in more.items())
    text = "; ".join(("text for people (default)", "json for machines", *others))
    parser.add_argument("--format", choices=("text", "json", *more), default="text", help=text)


def add_actions(parser: argparse.ArgumentParser) -> Callable[[str, str, Callable[..., int]], argparse.ArgumentParser]:
    """Prepare a command for actions; return a function that adds an action by its name, summary and function."""
    below = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(**{ACTIONS: below.choices})

    def add(name: str, text: str, carry_out: Callable[..., int]) -> argparse.ArgumentParser:
        own: argparse.ArgumentParser = below.add_parser(name, help=text, description=text, allow_abbrev=False)
        own.set_defaults(carry_out=carry_out)
        return own

    return add


def add_component_argument(
    parser: argparse.ArgumentParser, known: Sequence[str], text: str, *, several: bool = False, **more: Any
) -> None:
    """Add `--component COMPONENT`, one of the known components. With `several` it may be repeated or have commas."""

    class ComponentAction(argparse.Action):
        def __call__(self, _: Any, namespace: argparse.Namespace, values: Any, *__: Any) -> None:
            names = [part.strip().lower() for part in (values.split(",") if several else [values])]
            for name in names:
                check_word(name, known, "component")
            found = list(dict.fromkeys([*getattr(namespace, self.dest), *names])) if several else names[0]
            setattr(namespace, self.dest, found)

    text = f"{', '.join(known)}: {text}" + ("; several with commas, or repeated" if several else "")
    default: Any = [] if several else None
    parser.add_argument("--component", action=ComponentAction, metavar="COMPONENT", help=text, default=default, **more)


def check_word(word: str, known: Iterable[str], kind: str) -> None:
    """Raise CommandError if a word is unknown. The message names the most similar known word, or all of them."""
    if word not in (every := list(known)):
        hint = suggest(word, every, f"use {', '.join(every)}")
        raise CommandError(f"there is no {kind} {word!r}; {hint}")


def add_schema_version_argument(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--schema-version VERSION`; `text` explains the default."""
    parser.add_argument(
        "--schema-version",
        choices=SCHEMA_VERSIONS,
        metavar="VERSION",
        help=f"{' or '.join(SCHEMA_VERSIONS)} (default: {text})",
    )


def add_output_argument(parser: argparse.ArgumentParser, text: str, metavar: str = "PATH", **more: Any) -> None:
    """Add `-o PATH`, the one file or folder that a command writes."""
    parser.add_argument("-o", "--output", metavar=metavar, help=text, **more)


def add_report_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--report PATH` and `-o`, equal to `--corpus-report` of pytest."""
    text = "write a report in the format of the suffix, as --corpus-report does; repeatable"
    parser.add_argument("-o", "--report", dest="reports", action="append", default=[], metavar="PATH", help=text)


def positive_integer(text: str) -> int:
    """Convert an argument that must be a positive integer."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def say(*lines: str) -> None:
    """Write lines to stdout; control characters are escaped."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


def say_json(value: Any) -> None:
    """Write one JSON document to stdout, in ASCII, so that every pipe can encode it."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def print_result(given: argparse.Namespace, document: Any, *lines: str) -> None:
    """Write a result in the requested `--format`: the document as JSON, or the lines as text."""
    if given.format == "json":
        say_json(document)
    else:
        say(*lines)


def warn(text: str) -> None:
    """Write a line to stderr that is not a part of the result."""
    sys.stderr.write(printable(text) + "\n")


def make_green(text: str) -> str:
    """Return a word in green if stdout is a terminal with colours."""
    return _colour(text, "32")


def make_red(text: str) -> str:
    """Return a word in red if stdout is a terminal with colours."""
    return _colour(text, "31")


def _colour(text: str, colour: str) -> str:
    dull = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if dull or not sys.stdout.isatty() else f"\x1b[{colour}m{text}\x1b[0m"


def print_verdict(subject: str, word: str, rest: str) -> None:
    """Write one line of results: the subject, a coloured word, and the rest."""
    sys.stdout.write(f"{printable(subject)}: {word} {printable(rest)}\n")


def align_columns(rows: list[tuple[str, ...]], right: tuple[int, ...] = ()) -> list[str]:
    """Return rows as lines of aligned columns; columns whose index is in `right` are aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def count_in_words(number: int, noun: str) -> str:
    """Return a count with its noun, e.g. ``1 file`` and ``2 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def findings_text(findings: Sized) -> str:
    """Return a number of findings as text: ``no findings``, ``1 finding``, ``2 findings``."""
    return count_in_words(len(findings), "finding") if findings else "no findings"


def size_text(number: int) -> str:
    """Return a number of bytes as text, in binary units."""
    amount = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{number} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


class ProgressLine:
    """A line on stderr that shows the progress, if stderr is a terminal.

    The context manager removes the line at the end. Call `clear` before you write to stdout.

    Args:
        total: the total amount; None if it is unknown.
        measure: returns an amount as text.
    """

    _PAUSE_S = 0.1

    def __init__(self, total: int | None, measure: Measure) -> None:
        self._total = total
        self._measure = measure
        self._stream = sys.stderr
        self._shows = self._stream.isatty()
        self._width = 0
        self._next = 0.0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def show(self, done: int, note: str = "") -> None:
        """Show the finished amount, with a note."""
        if not self._shows or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._PAUSE_S
        parts = [self._measure(done)]
        if self._total:
            parts.append(f"of {self._measure(self._total)} ({done * 100 // self._total} %)")
        line = printable(f"{' '.join(parts)}  {note}".rstrip())[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Remove the line, so that other output can follow."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0
            self._next = 0.0
