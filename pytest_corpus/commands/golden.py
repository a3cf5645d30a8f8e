"""`pytest-corpus golden check|show|generate|diff`: the golden files, held against schemas and made from them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS, Golden, goldens_of
from pytest_corpus.spec.operations import BY_OP

if TYPE_CHECKING:
    from pytest_corpus.authoring.findings import Finding
    from pytest_corpus.validation.schema.registry import SchemaRegistry

SUMMARY = "golden messages: check, show, generate, diff"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The actions and what each takes."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text, add, _ in _ACTIONS:
        action = actions.add_parser(name, help=text, description=text)
        add(action)
        action.add_argument("--schemas", metavar="DIR", help="another schemas/ folder")
        console.format_argument(action)


def run(given: argparse.Namespace) -> int:
    """Carry out one action.

    Raises:
        CommandError: a file, folder or name that is not there, a schema that is broken, or what cannot be written.
    """
    from pytest_corpus.authoring.goldens.making import GoldenError
    from pytest_corpus.validation.schema.exceptions import SchemaFileError
    from pytest_corpus.validation.schema.registry import SchemaRegistry

    act = next(act for name, _, _, act in _ACTIONS if name == given.action)
    if given.schemas is not None and not Path(given.schemas).is_dir():
        raise CommandError(f"{given.schemas} is not a folder: --schemas takes one that holds the files of schemas/")
    try:
        schemas = SchemaRegistry(Path(given.schemas) if given.schemas is not None else None)
        schemas.preload_all_schemas()  # a broken folder is one sentence, not one a golden
        return act(given, schemas)
    except (GoldenError, SchemaFileError) as fault:
        raise CommandError(str(fault)) from fault
    except OSError as fault:
        said = f"{fault.filename}: {fault.strerror}" if fault.strerror else str(fault)
        raise CommandError(said) from fault


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a golden file or its name (default: all)")
    parser.add_argument("--root", metavar="DIR", help="another golden/ folder (or CORPUS_GOLDEN_ROOT)")


def _check(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    from pytest_corpus.authoring.goldens import checks

    if given.files:
        findings = [finding for file in given.files for finding in _check_file(file, given.root, schemas)]
        checked = len(given.files)
    else:
        findings = checks.check(given.root, schemas=schemas)
        checked = len(checks.files(given.root))
    if given.format == "json":
        console.say_json({"checked": checked, "findings": [finding.as_json() for finding in findings]})
    else:
        console.say(*map(str, findings), _counted(checked, findings))
    return FINDINGS if findings else FINE


def _check_file(file: str, root: str | None, schemas: SchemaRegistry) -> list[Finding]:
    """The findings of a path, or of a name that is looked up below the root."""
    from pytest_corpus.authoring.goldens import checks

    row, path = _row(file), Path(file)
    if path.exists():
        return [replace(finding, file=file) for finding in checks.check_file(row, path, schemas=schemas)]
    if file not in (row.file, path.name):
        raise CommandError(f"{file} does not exist: give a path to a golden file, or its name alone")
    return checks.check(root, names=[row.file], schemas=schemas)


def _row(name: str) -> Golden:
    """The row that a name or a path means: by its file name, with the ending or without."""
    bases = {golden.file.rpartition("/")[2]: golden for golden in GOLDENS}
    stems = {base.rpartition(".")[0]: golden for base, golden in bases.items()}
    asked = Path(name).name
    row = bases.get(asked) or stems.get(asked)
    if row is None:
        near = get_close_matches(asked, bases, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise CommandError(f"there is no golden {asked!a}{hint}")
    return row


def _counted(checked: int, findings: list[Finding]) -> str:
    files = "1 file" if checked == 1 else f"{checked} files"
    return f"{files} checked: {len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}"


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a golden, such as llm_complete_request")
    parser.add_argument("--root", metavar="DIR", help="another golden/ folder (or CORPUS_GOLDEN_ROOT)")


def _show(given: argparse.Namespace, schemas: SchemaRegistry) -> int:  # noqa: ARG001 - has the shape of all actions
    from pytest_corpus.authoring.goldens import checks

    row = _row(given.name)
    text = (checks.root_folder(given.root) / row.file).read_text("utf-8")
    if given.format == "json":
        about = {"file": row.file, "component": row.component, "schema": row.schema, "also": row.also}
        console.say_json({**about, "editions": row.editions, "text": text})
    else:
        sys.stdout.write(text)
    return FINE


def _generate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a golden, such as llm_complete_request (default: all)"
    )
    parser.add_argument("--component", choices=COMPONENTS, help="only goldens of this component")
    parser.add_argument("--operation", metavar="OP", help="only goldens of this operation, such as complete")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    parser.add_argument("--output", metavar="DIR", help="where to write (default: golden/, or CORPUS_GOLDEN_ROOT)")


def _generate(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    from pytest_corpus.authoring.goldens import making

    rows = _asked_for(given)
    if given.output is not None:
        Path(given.output).mkdir(parents=True, exist_ok=True)
    elif stray := [row.file for row in rows if row.file not in BY_FILE]:
        raise CommandError(f"{stray[0]} is not in the table of goldens: name a folder for it with --output")
    written, kept = making.generate(rows, root=given.output, force=given.force, schemas=schemas)
    if given.format == "json":
        console.say_json({"written": [str(path) for path in written], "kept": [str(path) for path in kept]})
        return FINE
    lines = [f"wrote {path}" for path in written]
    if kept and (given.names or given.operation or given.component):
        lines += [f"kept {path}, which exists; --force overwrites it" for path in kept]
    console.say(*lines, f"{len(written)} written, {len(kept)} kept")
    return FINE


def _asked_for(given: argparse.Namespace) -> list[Golden]:
    """The rows that names, component and operation choose together."""
    rows = [_row(name) for name in given.names] or list(GOLDENS)
    if given.operation:
        ops = _operations(given.component, given.operation)
        wanted = [row for op in ops for row in goldens_of(op)]
        rows = [row for row in wanted if not given.names or row in rows]
    elif given.component:
        rows = [row for row in rows if row.component == given.component]
    if not rows:
        raise CommandError("no golden is of that name, component and operation at once; leave one of them out")
    return list(dict.fromkeys(rows))


def _operations(component: str | None, operation: str) -> list[str]:
    """Every operation of a bare or a full name."""
    found = [op for op, row in BY_OP.items() if operation in (op, row.name) and component in (None, row.component)]
    if found:
        return found
    names = [row.name for row in BY_OP.values() if component in (None, row.component)]
    near = get_close_matches(operation, names, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise CommandError(f"there is no operation {operation!a}{f' of {component}' if component else ''}{hint}")


def _diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="another golden/ folder (or CORPUS_GOLDEN_ROOT)")
    parser.add_argument("--before", metavar="DIR", help="the schemas of before (default: those that are shipped)")


def _diff(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    from pytest_corpus import resources
    from pytest_corpus.authoring.goldens import changes as golden_changes
    from pytest_corpus.validation.schema.registry import SchemaRegistry

    before = Path(given.before) if given.before is not None else resources.folder("schemas")
    if not before.is_dir():
        raise CommandError(f"{before} is not a folder: --before takes one that holds the files of schemas/")
    changes = golden_changes.diff(given.root, schemas=schemas, before=SchemaRegistry(before))
    if given.format == "json":
        console.say_json({"changes": [change.as_json() for change in changes]})
    else:
        for change in changes:
            lines = [
                f"{change.file} stops to be valid under {name} (edition {edition})" for name, edition in change.stops
            ]
            lines += [
                f"{change.file} becomes valid under {name} (edition {edition})" for name, edition in change.starts
            ]
            console.say(*lines, *(f"  {problem}" for problem in change.problems))
            sys.stdout.write(change.patch)
        console.say(f"{len(changes)} golden{'' if len(changes) == 1 else 's'} changed by these schemas")
    return FINDINGS if changes else FINE


_Action = tuple[
    str, str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace, "SchemaRegistry"], int]
]
_ACTIONS: tuple[_Action, ...] = (
    ("check", "hold golden files against their schemas and invariants", _check_arguments, _check),
    ("show", "print one golden file", _show_arguments, _show),
    ("generate", "write golden files that are missing, from their schemas", _generate_arguments, _generate),
    ("diff", "which golden files other schemas refuse or admit, and what would have to change", _diff_arguments, _diff),
)
