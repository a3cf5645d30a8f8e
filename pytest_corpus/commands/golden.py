"""`pytest-corpus golden check|show|generate|diff`: check golden files against schemas, or generate them."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from pytest_corpus import resources
from pytest_corpus.authoring.goldens import checks, maker
from pytest_corpus.authoring.tree import LintFinding
from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS, Golden, goldens_of
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text import bounded
from pytest_corpus.text.values import suggest
from pytest_corpus.validation.schema.registry import SchemaRegistry


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, each with its own arguments."""
    action = console.add_actions(parser)
    check = action("check", "check golden files against their schemas and invariants", _check)
    check.add_argument("files", nargs="*", metavar="FILE", help="a golden file or its name (default: all)")
    show = action("show", "print one golden file", _show)
    show.add_argument("name", metavar="NAME", help="a golden, such as llm_complete_request")
    generate = action("generate", "write missing golden files from their schemas", _generate)
    named = "a golden, such as llm_complete_request (default: all)"
    generate.add_argument("names", nargs="*", metavar="NAME", help=named)
    console.add_component_argument(generate, COMPONENTS, "only goldens of this component")
    generate.add_argument("--operation", metavar="OP", help="only goldens of this operation, such as complete")
    generate.add_argument("--force", action="store_true", help="overwrite existing files")
    where = "where to write (default: golden/, or CORPUS_GOLDEN_ROOT)"
    console.add_output_argument(generate, where, "DIR")
    diff = action("diff", "golden files that other schemas refuse or admit, with the changes needed", _diff)
    for each in (check, show, diff):
        each.add_argument("--goldens", metavar="DIR", help="another golden/ folder (or CORPUS_GOLDEN_ROOT)")
    diff.add_argument("--old-schemas", metavar="DIR", help="the earlier schemas (default: the shipped ones)")
    for each in (check, show, generate, diff):
        each.add_argument("--schemas", metavar="DIR", help="another schemas/ folder")
        console.add_format_argument(each)


def run(given: argparse.Namespace) -> int:
    """Run the chosen action with the schemas that the options name."""
    if given.schemas is not None and not Path(given.schemas).is_dir():
        raise CommandError(f"{given.schemas} is not a folder: --schemas takes one that holds the files of schemas/")
    try:
        schemas = SchemaRegistry(Path(given.schemas) if given.schemas is not None else None)
        schemas.preload_all_schemas()  # a broken folder gives one message instead of one per file
        code: int = given.carry_out(given, schemas)
    except OSError as fault:
        said = f"{fault.filename}: {fault.strerror}" if fault.strerror else str(fault)
        raise CommandError(said) from fault
    return code


def _check(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    if given.files:
        findings = [finding for file in given.files for finding in _check_file(file, given.goldens, schemas)]
        checked = len(given.files)
    else:
        findings = checks.check(given.goldens, schemas=schemas)
        checked = len(checks.files(given.goldens))
    document = {"checked": checked, "findings": [finding.as_json() for finding in findings]}
    last = f"{console.count_in_words(checked, 'file')} checked: {console.findings_text(findings)}"
    console.print_result(given, document, *map(str, findings), last)
    return FINDINGS if findings else FINE


def _check_file(file: str, root: str | None, schemas: SchemaRegistry) -> list[LintFinding]:
    row, path = _find_row(file), Path(file)
    if path.exists():
        return [replace(finding, file=file) for finding in checks.check_file(row, path, schemas=schemas)]
    if file not in (row.file, path.name):
        raise CommandError(f"{file} does not exist: give a path to a golden file, or its name alone")
    return checks.check(root, names=[row.file], schemas=schemas)


def _find_row(name: str) -> Golden:
    """Return the row of a golden by its path or file name, with or without the suffix."""
    bases = {golden.file.rpartition("/")[2]: golden for golden in GOLDENS}
    stems = {base.rpartition(".")[0]: golden for base, golden in bases.items()}
    asked = Path(name).name
    row = bases.get(asked) or stems.get(asked)
    if row is None:
        raise CommandError("; ".join(filter(None, (f"there is no golden {asked!a}", suggest(asked, bases)))))
    return row


def _show(given: argparse.Namespace, schemas: SchemaRegistry) -> int:  # noqa: ARG001 - has the shape of all actions
    row = _find_row(given.name)
    text = bounded.read_contents(checks.root_folder(given.goldens) / row.file).decode("utf-8", "backslashreplace")
    if given.format == "json":
        about = {"file": row.file, "component": row.component, "schema": row.schema, "also": row.also}
        console.say_json({**about, "editions": row.editions, "text": text})
    else:
        sys.stdout.write(text)
    return FINE


def _generate(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    rows = _requested_rows(given)
    if given.output is not None:
        Path(given.output).mkdir(parents=True, exist_ok=True)
    elif stray := [row.file for row in rows if row.file not in BY_FILE]:
        raise CommandError(f"{stray[0]} is not in the table of goldens: name a folder for it with --output")
    written, kept = maker.generate(rows, root=given.output, force=given.force, schemas=schemas)
    lines = [f"wrote {path}" for path in written]
    if kept and (given.names or given.operation or given.component):
        lines += [f"kept {path}, which exists; --force overwrites it" for path in kept]
    document = {"written": [str(path) for path in written], "kept": [str(path) for path in kept]}
    console.print_result(given, document, *lines, f"{len(written)} written, {len(kept)} kept")
    return FINE


def _requested_rows(given: argparse.Namespace) -> list[Golden]:
    rows = [_find_row(name) for name in given.names] or list(GOLDENS)
    if given.operation:
        ops = _find_operations(given.component, given.operation)
        wanted = [row for op in ops for row in goldens_of(op)]
        rows = [row for row in wanted if not given.names or row in rows]
    elif given.component:
        rows = [row for row in rows if row.component == given.component]
    if not rows:
        raise CommandError("no golden is of that name, component and operation at once; leave one of them out")
    return list(dict.fromkeys(rows))


def _find_operations(component: str | None, operation: str) -> list[str]:
    found = [op for op, row in BY_OP.items() if operation in (op, row.name) and component in (None, row.component)]
    if found:
        return found
    names = [row.name for row in BY_OP.values() if component in (None, row.component)]
    said = f"there is no operation {operation!a}{f' of {component}' if component else ''}"
    raise CommandError("; ".join(filter(None, (said, suggest(operation, names)))))


def _diff(given: argparse.Namespace, schemas: SchemaRegistry) -> int:
    before = Path(given.old_schemas) if given.old_schemas is not None else resources.folder("schemas")
    if not before.is_dir():
        raise CommandError(f"{before} is not a folder: --old-schemas takes one that holds the files of schemas/")
    changes = maker.diff(given.goldens, schemas=schemas, before=SchemaRegistry(before))
    if given.format == "json":
        console.say_json({"changes": [change.as_json() for change in changes]})
    else:
        for change in changes:
            becomes = [("is no longer", each) for each in change.stops] + [("becomes", each) for each in change.starts]
            lines = [f"{change.file} {how} valid under {name} (edition {edition})" for how, (name, edition) in becomes]
            console.say(*lines, *(f"  {problem}" for problem in change.problems))
            sys.stdout.write(change.patch)
        console.say(f"{console.count_in_words(len(changes), 'golden')} changed by these schemas")
    return FINDINGS if changes else FINE
