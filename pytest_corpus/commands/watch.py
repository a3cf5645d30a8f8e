"""`pytest-corpus watch`: after each change of the adapter's files, run the open requirements until one is violated."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._pytest import (
    add_header_argument,
    read_attestations,
    run_pytest,
    settings_arguments,
    use_connection,
)
from pytest_corpus.reports import view
from pytest_corpus.reports.text import printable, received_sentence
from pytest_corpus.spec.components import COMPONENTS, TITLES

SUFFIXES = (".py", ".toml", ".json", ".yaml", ".yml", ".js", ".ts", ".go", ".rs", ".java", ".kt", ".cs", ".rb")
OTHERS = ("__pycache__", "node_modules", "venv", "build", "dist", "target")
"""Folders without source files of the adapter; folders whose names begin with a dot are also ignored."""

PAUSE_S = 0.3

Document = dict[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the adapter and the selection."""
    parser.add_argument("--adapter", required=True, metavar="SPEC", help="as for --corpus-adapter")
    console.add_component_argument(parser, COMPONENTS, "test only this component", several=True)
    add_header_argument(parser)
    folder = "run again when a source file below this folder changes (default: here)"
    parser.add_argument("--folder", default=".", metavar="DIR", help=folder)
    parser.epilog = (
        "The first run is the whole suite. After a change the requirement to fix first runs alone, and if it is "
        "satisfied, the other open ones; if none is left, the whole suite. Ctrl-C ends it. Settings and tests in the "
        "current folder are ignored, as with verify."
    )


def run(given: argparse.Namespace) -> int:
    """Run the suite; after each change, run the requirements that are still open; end with Ctrl-C."""
    if not Path(given.folder).is_dir():
        raise CommandError(f"--folder {given.folder}: there is no such folder")
    left: list[Mapping[str, Any]] = []
    before = dict(_source_files(given.folder))
    try:
        while True:
            left = _run_round(given, left)
            before = _wait_for_change(given.folder, before)
    except KeyboardInterrupt:
        console.say("")
        return FINDINGS if left else FINE


def _run_round(given: argparse.Namespace, left: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Run the first open requirement, then the other open ones, then the whole suite; return the open requirements.

    Stop at the first run with a violation, and show this finding.
    """
    ids = list(dict.fromkeys(str(entry["id"]) for entry in left))
    for wanted in filter(None, (ids[:1], ids[1:])):
        document = _run_suite(given, wanted)
        if document is None:
            return list(left)
        violated = view.order_violations(document)
        if violated:
            ran = {(entry["component"], entry["id"]) for entry in document["requirements"] if entry["tests"]}
            others = [entry for entry in left if (entry["component"], entry["id"]) not in ran]
            return _show(document, [*violated, *others])
        satisfied = {entry["id"] for entry in view.requirements_of_status(document, "satisfied")}
        if fixed := [name for name in wanted if name in satisfied]:
            console.say(f"{console.make_green('fixed')}: {', '.join(fixed)}")
    document = _run_suite(given, ())
    return list(left) if document is None else _show(document, view.order_violations(document))


def _run_suite(given: argparse.Namespace, ids: Sequence[str]) -> Document | None:
    """Run the requirements `ids` (all if empty); return the report, or None if the adapter could not be tested."""
    console.warn(f"running {', '.join(ids) or 'the whole suite'} ...")
    with tempfile.TemporaryDirectory(prefix="pytest-corpus-") as name:
        folder = Path(name)
        passed = [*settings_arguments(folder), f"--corpus-adapter={given.adapter}", "-q"]
        use_connection(folder, given.header)
        passed += [f"--corpus-components={','.join(given.component)}"] if given.component else []
        passed += [f"--corpus-requirement={','.join(ids)}"] if ids else []
        with (folder / "output.txt").open("w", encoding="utf-8") as file:
            run_pytest("watch", [*passed, f"--corpus-report={folder / 'attestation.json'}", str(folder)], folder, file)
        documents = read_attestations(folder)
        if documents:
            return documents[0]
        return None  # pytest reported the reason on stderr


def _show(document: Document, left: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Print the finding to fix first, or the verdict if nothing is open; return the open requirements as a list."""
    if not left:
        console.print_verdict("verdict", console.make_green(view.verdict_words(document)), "")
        return []
    first, musts = left[0], sum(entry["level"] == "MUST" for entry in left)
    counted = f"{len(left)} open, {musts} of them MUST"
    if sys.stdout.isatty() and find_spec("rich") is not None:
        _show_requirement(first, f"{counted}; waiting for a change")
        return list(left)
    console.say(
        "", f"{console.make_red(first['id'])} ({first['level']}, {TITLES[first['component']]}): {first['text']}"
    )
    console.say(
        *_finding_lines(first), f"  source:   {', '.join(first['source'])}", "", f"{counted}; waiting for a change"
    )
    return list(left)


def _show_requirement(entry: Mapping[str, Any], below: str) -> None:
    """Clear the screen and show a requirement: its sentence, its hint, expected and received value side by side."""
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    sides = Table(box=None, expand=True, padding=(0, 2, 1, 0))
    sides.add_column("expected", ratio=1, header_style="bold green")
    sides.add_column("got", ratio=1, header_style="bold red")
    for finding in entry.get("findings", ())[:1]:
        got, path = received_sentence(finding["got"], finding["path"])
        sides.add_row(*(Text(printable(each)) for each in (finding["expected"], f"{got} at {path}" if path else got)))
    more = [("hint", entry.get("hint", "")), ("source", ", ".join(entry["source"]))]
    lines = [Text.assemble((f"{name}: ", "dim"), printable(said)) for name, said in more if said]
    title = f"{entry['id']} ({entry['level']}, {TITLES[entry['component']]})"
    screen = Console()
    screen.clear()
    screen.print(
        Panel(Group(Text(printable(entry["text"])), sides, *lines), title=title, subtitle=below, padding=(1, 2))
    )


def _finding_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    for finding in entry.get("findings", ())[:1]:
        got, path = received_sentence(finding["got"], finding["path"])
        yield f"  expected: {finding['expected']}"
        yield f"  got:      {got}" + (f"  (at {path})" if path else "")
    if hint := entry.get("hint"):
        yield f"  hint:     {hint}"


def _wait_for_change(folder: str, before: Mapping[str, int]) -> dict[str, int]:
    """Wait until a source file is changed, added or removed; return all source files with their times."""
    while (now := dict(_source_files(folder))) == before:
        time.sleep(PAUSE_S)
    time.sleep(PAUSE_S)  # an editor may write several files
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    console.warn(f"\nchanged: {printable(', '.join(names[:3]))}{' ...' if len(names) > 3 else ''}")
    return dict(_source_files(folder))


def _source_files(folder: str) -> Iterator[tuple[str, int]]:
    """Yield the source files below a folder, each with the time of its last change in nanoseconds."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in OTHERS and not name.startswith(".")]
        for name in names:
            if name.endswith(SUFFIXES):
                path = os.path.join(here, name)
                try:
                    yield path, os.stat(path).st_mtime_ns
                except OSError:
                    continue
