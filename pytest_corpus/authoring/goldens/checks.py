"""Checks golden files against their schemas, the rules in `invariants.py` and the rules of streams."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pytest_corpus.authoring.goldens.invariants import find_broken_rules
from pytest_corpus.authoring.tree import (
    LintFinding,
    compare_with_table,
    find_root,
    list_files,
    parse_document,
    read_bytes,
)
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS, Golden
from pytest_corpus.validation.schema.exceptions import SchemaFileError
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry
from pytest_corpus.validation.streams.engine import StreamValidationEngine

ROOT_VARIABLE: Final = "CORPUS_GOLDEN_ROOT"
"""Environment variable that names another ``golden/`` folder."""

MAX_BYTES: Final = 10 * 1024 * 1024
"""The size limit of a golden file (SCHEMA 7.3)."""
_TABLE: Final = "the table pytest_corpus/spec/goldens.py"
MAX_SHOWN: Final = 5


def root_folder(root: Path | str | None = None) -> Path:
    """Return the given ``golden/`` folder, else the one in ``CORPUS_GOLDEN_ROOT``, else the shipped one.

    Raises:
        NotADirectoryError: that path is not a folder.
    """
    return find_root(root, ROOT_VARIABLE, "golden")


def files(root: Path | str | None = None) -> tuple[str, ...]:
    """Return the files in the table, then other files in the folder, as relative paths. Raises NotADirectoryError."""
    return tuple(dict.fromkeys((*BY_FILE, *list_files(root_folder(root)))))


def check(
    root: Path | str | None = None, *, names: Iterable[str] | None = None, schemas: SchemaRegistry | None = None
) -> list[LintFinding]:
    """Return the findings about the goldens below a folder, file by file (SCHEMA 7.3; R40, R41).

    A golden must exist and be in the table. It must be strict JSON in UTF-8 of at most 10 MiB, be valid under its
    schemas and editions, and satisfy the invariants and the rules of streams. A broken schema is also a finding.

    Args:
        root: the ``golden/`` folder, as in `root_folder`.
        names: the files of the table to check; by default all files of the table and of the folder.
        schemas: the registry to check with; by default the shared registry.

    Raises:
        NotADirectoryError: the root is not a folder.
        KeyError: a name is not in the table.
    """
    folder = root_folder(root)
    wanted = [BY_FILE[name] for name in names] if names is not None else list(GOLDENS)
    below = list_files(folder)
    findings = {finding.file: [finding] for finding in compare_with_table((row.file for row in wanted), below, _TABLE)}
    if names is not None:
        findings = {file: found for file, found in findings.items() if file in names}
    for golden in wanted:
        if golden.file not in findings:
            findings[golden.file] = _check_row(golden, folder / golden.file, schemas)
    return [finding for file in sorted(findings) for finding in findings[file]]


def _check_row(golden: Golden, path: Path, schemas: SchemaRegistry | None) -> list[LintFinding]:
    try:
        return check_file(golden, path, schemas=schemas)
    except SchemaFileError as fault:
        return [LintFinding(golden.file, "schema", f"cannot be held to its schemas, lint them first: {fault}")]


def check_file(golden: Golden, path: Path, *, schemas: SchemaRegistry | None = None) -> list[LintFinding]:
    """Check any file as if it were this golden, and return the findings. Raises SchemaFileError for a broken schema."""
    data, rule, fault = read_bytes(path, MAX_BYTES)
    if fault:
        return [LintFinding(golden.file, rule, fault)]
    return check_text(golden, data, schemas=schemas)


def check_text(golden: Golden, data: bytes, *, schemas: SchemaRegistry | None = None) -> list[LintFinding]:
    """Return the findings about the bytes of a golden. Raises SchemaFileError for a broken schema."""
    held = schemas or registry()
    if golden.is_stream:
        return _check_stream(golden, data, held)
    document, fault = parse_document(data)
    if fault:
        return [LintFinding(golden.file, "json", fault)]
    return _check_document(golden, document, list(golden.checks()), held)


def _check_document(
    golden: Golden, document: Any, checks: list[tuple[str, str]], schemas: SchemaRegistry, line: str = ""
) -> list[LintFinding]:
    found: dict[tuple[str, str], LintFinding] = {}
    for name, edition in checks:
        for problem in schemas.problems(name, document, edition)[:MAX_SHOWN]:
            message = f"{problem.one_line.removeprefix(f'{problem.path} ')} under {name} (edition {edition})"
            path = f"{line}{problem.path}"
            found.setdefault((path, problem.rule), LintFinding(golden.file, "schema", message, path))
    if found:
        return list(found.values())
    if golden.op and isinstance(document, dict) and document.get("op", golden.op) != golden.op:
        return [LintFinding(golden.file, "operation", f"must be {golden.op}, for which the file is named", f"{line}op")]
    rules = find_broken_rules(document, golden.component, golden.schema.rpartition(".")[2])
    return [LintFinding(golden.file, rule, message, f"{line}{path}") for rule, path, message in rules]


def _check_stream(golden: Golden, data: bytes, schemas: SchemaRegistry) -> list[LintFinding]:
    if not data.strip():
        return [LintFinding(golden.file, "json", "is empty")]
    report = StreamValidationEngine(golden.component, schemas=schemas).read_ndjson(data)
    if not report.is_valid:
        errors = report.validation_errors[:MAX_SHOWN]
        return [
            LintFinding(golden.file, "stream", f"{error.error_type}: {error.message}", f"frame {error.frame_number}")
            for error in errors
        ]
    wanted = "error" if golden.last_line else "success"
    if report.terminal != wanted:
        return [LintFinding(golden.file, "stream", f"must end with {wanted}, and ends with {report.terminal}")]
    *before, last = [parse_document(line)[0] for line in data.splitlines() if line.strip()]
    found = [
        _check_document(golden, frame, list(golden.checks()), schemas, f"frame {number}.")
        for number, frame in enumerate(before, 1)
    ]
    found.append(
        _check_document(golden, last, list(golden.checks(last_line=True)), schemas, f"frame {len(before) + 1}.")
    )
    return [finding for findings in found for finding in findings]
