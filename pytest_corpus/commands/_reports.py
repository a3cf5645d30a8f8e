"""Reports in the arguments of commands: reading a named report, and the file to write."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.commands import CommandError
from pytest_corpus.reports import formats, view
from pytest_corpus.reports.reading import read_report
from pytest_corpus.reports.text import printable
from pytest_corpus.text.atomic_write import find_obstacle

Suffixes = Mapping[str, str] | tuple[str, ...]


def read_named_report(name: str) -> dict[str, Any]:
    """Return the report in a file, of any version of the format; warn if it was altered."""
    document, _ = read_report(Path(name))
    if view.is_altered(document):
        sys.stderr.write(f"warning: {printable(name)}: its sha256 does not match its content; it was altered\n")
    return document


def output_target(output: str | None, known: Suffixes) -> tuple[Path, str] | None:
    """Return the path to write and its suffix, or None without `-o`. Raises CommandError if it cannot be written."""
    if output is None:
        return None
    path = Path(output)
    suffix = formats.suffix_of(path.name, known)
    if suffix is None:
        raise CommandError(f"-o {printable(output)}: the name must end in {formats.list_suffixes(known)}")
    if blocked := find_obstacle(path):
        raise CommandError(f"-o {printable(output)}: {printable(blocked)}")
    return path, suffix
