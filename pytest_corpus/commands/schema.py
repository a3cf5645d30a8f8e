"""`pytest-corpus schema`: list, count, show and lint the schemas of both editions; validate messages."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pytest_corpus.commands import FINDINGS, FINE, CommandError, _validate
from pytest_corpus.commands import _console as console
from pytest_corpus.spec.schemas import BASE_URI, LATEST, SCHEMA_VERSIONS, SCHEMAS, SchemaFile
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.exceptions import UnknownSchemaError
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE, SchemaRegistry, registry

FOLDERS = tuple(dict.fromkeys(schema.component for schema in SCHEMAS))
"""The folders of schemas: one for each component, and one with shared schemas."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, each with its own arguments."""
    action = console.add_actions(parser)
    listing = action("list", "every schema: name, editions, file", _list)
    console.add_schema_version_argument(listing, f"{LATEST}, which has every schema")
    console.add_component_argument(listing, FOLDERS, "only the schemas of this folder")
    stats = action("stats", "numbers of schemas, files, bytes and goldens", _stats)
    show = action("show", "print one schema", _show)
    show.add_argument("schema", metavar="NAME", help="short name, file name or $id")
    console.add_schema_version_argument(show, f"{LATEST}, or the one that the name pins")
    show.add_argument("--resolved", action="store_true", help="include every schema that it refers to in $defs")
    lint = action("lint", "check the schema files themselves", _lint)
    lint.add_argument("--rule", action="append", metavar="NAME", help="only this rule; repeatable")
    for each in (listing, stats, lint):
        console.add_format_argument(each)
    _validate.arguments(action("check", "check messages in files against their schemas", _validate.run))


def run(given: argparse.Namespace) -> int:
    """Run one action."""
    try:
        code: int = given.carry_out(given)
    except UnknownSchemaError as error:
        shown_all = "" if error.suggestions or error.known else "; pytest-corpus schema list shows them"
        raise CommandError(f"{error}{shown_all}") from None
    return code


def _list(given: argparse.Namespace) -> int:
    edition = given.schema_version or LATEST
    root, table = _require_root(registry()), registry().table.schemas
    chosen = [each for each in table if edition in each.editions and given.component in (None, each.component)]
    rows = [_schema_row(schema, edition, root) for schema in chosen]
    missing = sum(row["missing"] for row in rows)
    cells = [(r["name"], " ".join(r["versions"]), r["file"], "missing" if r["missing"] else "") for r in rows]
    lines = console.align_columns([("schema", "versions", f"file in {edition}", ""), *cells])
    lines += [f"{console.count_in_words(len(rows), 'schema')} in {root}"]
    lines += [f"{console.count_in_words(missing, 'file')} missing"] if missing else []
    console.print_result(given, {"root": str(root), "edition": edition, "schemas": rows}, *lines)
    return FINDINGS if missing else FINE


def _schema_row(schema: SchemaFile, edition: str, root: Path) -> dict[str, Any]:
    file = schema.file(edition)
    row = {"name": schema.name, "component": schema.component, "versions": list(schema.editions)}
    return {**row, "id": BASE_URI + file, "file": file, "missing": not (root / file).is_file()}


def _stats(given: argparse.Namespace) -> int:
    from pytest_corpus.spec.goldens import GOLDENS

    root, table = _require_root(registry()), registry().table.schemas
    counted: dict[str, dict[str, int]] = {}
    for folder in dict.fromkeys((*FOLDERS, *(schema.component for schema in table))):
        schemas = [schema for schema in table if schema.component == folder]
        files = [root / file for schema in schemas for file in schema.files]
        there = [file for file in files if file.is_file()]
        counted[folder] = {
            **{edition: sum(edition in schema.editions for schema in schemas) for edition in SCHEMA_VERSIONS},
            "files": len(files),
            "missing": len(files) - len(there),
            "bytes": sum(file.stat().st_size for file in there),
            "goldens": sum(golden.component == folder for golden in GOLDENS),
        }
    total = {key: sum(row[key] for row in counted.values()) for key in counted[FOLDERS[0]]}
    rows = [(name, *(f"{number:,}" for number in row.values())) for name, row in [*counted.items(), ("all", total)]]
    head = ("", *(f"in {key}" if key in SCHEMA_VERSIONS else key for key in total))
    document = {"root": str(root), "versions": list(SCHEMA_VERSIONS), "components": counted, "total": total}
    lines = console.align_columns([head, *rows], right=tuple(range(1, len(head))))
    console.print_result(given, document, f"schemas in {root}", *lines)
    return FINDINGS if total["missing"] else FINE


def _show(given: argparse.Namespace) -> int:
    schemas = registry()
    document = schemas.get_schema(given.schema, given.schema_version)
    if given.resolved:
        console.say_json(_resolve_references(schemas, document))
    else:
        schema, edition = schemas.table.resolve(given.schema, given.schema_version)
        sys.stdout.write(
            bounded.read_contents(_require_root(schemas) / schema.file(edition)).decode("utf-8", "backslashreplace")
        )
    return FINE


def _lint(given: argparse.Namespace) -> int:
    from pytest_corpus.authoring.lint import linter

    root = _require_root(registry())
    for name in given.rule or ():
        if name not in linter.RULES:
            raise CommandError(f"there is no rule {name!a}; use {', '.join(linter.RULES)}")
    findings = linter.lint(root, rules=given.rule or tuple(linter.RULES))
    checked = len(linter.files(root))
    last = f"{console.count_in_words(checked, 'file')} in {root} checked: {console.findings_text(findings)}"
    document = {"root": str(root), "checked": checked, "findings": [each.as_json() for each in findings]}
    console.print_result(given, document, *map(str, findings), last)
    return FINDINGS if findings else FINE


def _resolve_references(schemas: SchemaRegistry, document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose ``$defs`` contain each schema that it refers to, by ``$id`` (JSON Schema Core 9.3)."""
    found: dict[str, dict[str, Any]] = {document["$id"]: document}
    waiting = [document]
    while waiting:
        for uri in sorted(_referenced_files(waiting.pop()) - found.keys()):
            schema, pinned = schemas.table.find_schema(uri)
            found[uri] = schemas.get_schema(uri, pinned or schema.own[0])
            waiting.append(found[uri])
    others = {uri: found[uri] for uri in sorted(found) if uri != document["$id"]}
    return {**document, "$defs": {**document.get("$defs", {}), **others}} if others else document


def _referenced_files(node: Any) -> set[str]:
    """Return the ``$id`` of each file that a schema refers to."""
    if isinstance(node, list):
        return set().union(*map(_referenced_files, node))
    if not isinstance(node, dict):
        return set()
    own = node.get("$ref")
    here = {own.partition("#")[0]} - {""} if isinstance(own, str) else set()
    return here.union(*map(_referenced_files, node.values()))


def _require_root(schemas: SchemaRegistry) -> Path:
    try:
        root = schemas.root
    except FileNotFoundError as error:
        raise CommandError(str(error)) from None
    if not root.is_dir():
        said = f"{ROOT_VARIABLE}={os.environ.get(ROOT_VARIABLE)}"
        raise CommandError(f"{said}: there is no such folder; name a schemas folder, or unset the variable")
    return root
