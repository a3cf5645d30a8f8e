"""GitHub Actions: an annotation for each violated requirement, and the report as the summary of the step."""

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.integration.concluding.screen import Group
from pytest_corpus.reports.finding_text import one_line
from pytest_corpus.reports.text import printable
from pytest_corpus.verdict.verdict import counted

RAISED = re.compile(r"at ((?!/|\.\./)[^:]+\.py):(\d+)$")  # a place below the current folder
MOST = 10  # the most annotations of one kind that GitHub shows for a step
LONGEST_SUMMARY = 1_000_000  # the most bytes written to the summary of a step, slightly below GitHub's limit
TRUNCATED = "\n\nThe rest is left out: GitHub takes no more.\n"


def commands(groups: Sequence[Group], level: str, factory: Callable[..., Any] | None) -> Iterator[str]:
    """The commands that annotate a run: an error for a violation that counts, a warning for any other.

    Each has the line of the adapter that raised, or else that of its factory, if it is in the current folder.
    """
    number = {"error": 0, "warning": 0}
    for group in groups:
        entry = group.status.requirement
        kind = "error" if group.status.status == "violated" and entry.level in counted(level) else "warning"
        number[kind] += 1
        if number[kind] <= MOST:
            title = _escaped(f"{entry.id} ({entry.level}), {group.status.component}", ":,")
            text = f"{group.of}: {one_line(group.seen[0].finding)}"
            raised = group.seen[0].evidence.raised if group.seen[0].evidence else ""
            place = RAISED.search(raised) or RAISED.search(_place(factory))
            at = f"file={_escaped(place[1], ':,')},line={place[2]}," if place else ""
            yield f"::{kind} {at}title={title}::{_escaped(printable(text))}"


def _place(factory: Callable[..., Any] | None) -> str:
    """The file and the line of a factory; empty if they are unknown."""
    if factory is None:
        return ""
    try:
        return f"at {os.path.relpath(inspect.getsourcefile(factory) or '')}:{inspect.getsourcelines(factory)[1]}"
    except (TypeError, ValueError, OSError):
        return ""


def _escaped(text: str, more: str = "") -> str:
    for char in ("%", "\r", "\n", *more):
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def add_summary(environment: Mapping[str, str], text: str) -> str:
    """Add a text to the summary of the step; return a sentence if that fails."""
    path = environment.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return ""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > LONGEST_SUMMARY:
        data = data[:LONGEST_SUMMARY].rpartition(b"\n")[0] + TRUNCATED.encode()
    try:
        with open(path, "ab") as file:
            file.write(data + b"\n")
    except OSError as error:
        return f"step summary: {printable(path)} could not be written: {os.strerror(error.errno or 0)}"
    return ""
