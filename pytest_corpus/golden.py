"""Golden files: check them, make a missing one from its schema, tell what a changed schema means for them.

    for finding in check("my/golden"):
        print(finding)
    generate(["llm/llm_complete_request.json"], root="my/golden")
    for change in diff("my/golden", schemas="my/schemas"):
        print(change.patch)

The files are those of the table `pytest_corpus.spec.goldens`. Another folder than the shipped one is named by ``root``
or by the environment variable ``CORPUS_GOLDEN_ROOT``, other schemas by ``CORPUS_SCHEMAS_ROOT``.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pytest_corpus._findings import Finding, drift, files_below, parsed, read_bytes, root_of
from pytest_corpus._golden_rules import CONDITIONS, DERIVATIONS, MAX_STRING_BYTES, broken
from pytest_corpus._whole import write_whole
from pytest_corpus.schema_registry import SchemaFileError, SchemaRegistry, registry
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS, Golden, goldens_of
from pytest_corpus.spec.schemas import BY_NAME
from pytest_corpus.stream_validator import StreamValidationEngine

__all__ = [
    "CONDITIONS",
    "DERIVATIONS",
    "MAX_BYTES",
    "MAX_STRING_BYTES",
    "ROOT_VARIABLE",
    "Change",
    "Finding",
    "GoldenError",
    "check",
    "check_file",
    "check_text",
    "diff",
    "files",
    "generate",
    "goldens_of",
    "made",
    "root_folder",
]

ROOT_VARIABLE: Final = "CORPUS_GOLDEN_ROOT"
"""Environment variable that names another ``golden/`` folder."""

MAX_BYTES: Final = 10 * 1024 * 1024
"""The most that a golden file may measure (SCHEMA 7.3)."""

_TABLE: Final = "the table pytest_corpus/spec/goldens.py"
_SHOWN: Final = 5


class GoldenError(Exception):
    """A golden cannot be made: one sentence that says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """What other schemas mean for one golden.

    Attributes:
        file: the golden, relative to its root.
        stops: every (schema, edition) under which it was valid and no longer is.
        starts: every (schema, edition) under which it becomes valid.
        problems: why it stops, a line each, without values.
        patch: a unified diff from the golden to what it would have to be; empty where nothing stops.
    """

    file: str
    stops: tuple[tuple[str, str], ...]
    starts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    patch: str

    def as_json(self) -> dict[str, Any]:
        """The change as an object of its fields."""
        return asdict(self)


def root_folder(root: Path | str | None = None) -> Path:
    """The ``golden/`` folder that is meant: the one given, that of ``CORPUS_GOLDEN_ROOT``, or the shipped one.

    Raises:
        NotADirectoryError: it is no folder.
    """
    return root_of(root, ROOT_VARIABLE, "golden")


def files(root: Path | str | None = None) -> tuple[str, ...]:
    """Every file that is checked, relative to the root: those of the table, then those that only the folder has.

    Raises:
        NotADirectoryError: the root is no folder.
    """
    return tuple(dict.fromkeys((*BY_FILE, *files_below(root_folder(root)))))


def check(
    root: Path | str | None = None, *, names: Iterable[str] | None = None, schemas: SchemaRegistry | None = None
) -> list[Finding]:
    """What is wrong with the goldens below a folder, file by file (SCHEMA 7.3; R40, R41).

    Each exists and is in the table; is strict JSON in UTF-8 of at most 10 MiB; is valid under each of its schemas and
    editions; keeps the invariants; and, of a stream, is a legal stream. One whose schemas are broken is a finding too.

    Args:
        root: the ``golden/`` folder, as in `root_folder`.
        names: files of the table to check, and no others; by default all, and all that lie there.
        schemas: what to hold them against; by default the shared registry.

    Raises:
        NotADirectoryError: the root is no folder.
        KeyError: a name is not in the table.
    """
    folder = root_folder(root)
    wanted = [BY_FILE[name] for name in names] if names is not None else list(GOLDENS)
    below = files_below(folder)
    findings = {finding.file: [finding] for finding in drift((row.file for row in wanted), below, _TABLE)}
    if names is not None:
        findings = {file: found for file, found in findings.items() if file in names}
    for golden in wanted:
        if golden.file not in findings:
            findings[golden.file] = _held(golden, folder / golden.file, schemas)
    return [finding for file in sorted(findings) for finding in findings[file]]


def _held(golden: Golden, path: Path, schemas: SchemaRegistry | None) -> list[Finding]:
    try:
        return check_file(golden, path, schemas=schemas)
    except SchemaFileError as fault:
        return [Finding(golden.file, "schema", f"cannot be held to its schemas, lint them first: {fault}")]


def check_file(golden: Golden, path: Path, *, schemas: SchemaRegistry | None = None) -> list[Finding]:
    """What is wrong with a file that is to be a golden, wherever it lies; see `check`.

    Raises:
        SchemaFileError: a schema that is needed is missing or broken.
    """
    data, rule, fault = read_bytes(path, MAX_BYTES)
    if fault:
        return [Finding(golden.file, rule, fault)]
    return check_text(golden, data, schemas=schemas)


def check_text(golden: Golden, data: bytes, *, schemas: SchemaRegistry | None = None) -> list[Finding]:
    """What is wrong with the bytes of one golden; see `check_file`."""
    held = schemas or registry()
    if golden.is_stream:
        return _check_stream(golden, data, held)
    document, fault = parsed(data)
    if fault:
        return [Finding(golden.file, "json", fault)]
    return _check_document(golden, document, list(golden.checks()), held)


def _check_document(
    golden: Golden, document: Any, checks: list[tuple[str, str]], schemas: SchemaRegistry, line: str = ""
) -> list[Finding]:
    found: dict[tuple[str, str], Finding] = {}
    for name, edition in checks:
        for problem in schemas.problems(name, document, edition)[:_SHOWN]:
            message = f"{problem.told.removeprefix(f'{problem.path} ')} under {name} (edition {edition})"
            path = f"{line}{problem.path}"
            found.setdefault((path, problem.rule), Finding(golden.file, "schema", message, path))
    if found:
        return list(found.values())
    if golden.op and isinstance(document, dict) and document.get("op", golden.op) != golden.op:
        return [Finding(golden.file, "operation", f"must be {golden.op}, for which the file is named", f"{line}op")]
    rules = broken(document, golden.component, golden.schema.rpartition(".")[2])
    return [Finding(golden.file, rule, message, f"{line}{path}") for rule, path, message in rules]


def _check_stream(golden: Golden, data: bytes, schemas: SchemaRegistry) -> list[Finding]:
    """The stream as a whole, and if that is sound its lines."""
    if not data.strip():
        return [Finding(golden.file, "json", "is empty")]
    report = StreamValidationEngine(golden.component, schemas=schemas).read_ndjson(data)
    if not report.is_valid:
        errors = report.validation_errors[:_SHOWN]
        return [
            Finding(golden.file, "stream", f"{error.error_type}: {error.message}", f"frame {error.frame_number}")
            for error in errors
        ]
    wanted = "error" if golden.last_line else "success"
    if report.terminal != wanted:
        return [Finding(golden.file, "stream", f"must end with {wanted}, and ends with {report.terminal}")]
    *before, last = [parsed(line)[0] for line in data.splitlines() if line.strip()]
    found = [
        _check_document(golden, frame, list(golden.checks()), schemas, f"frame {number}.")
        for number, frame in enumerate(before, 1)
    ]
    found.append(
        _check_document(golden, last, list(golden.checks(last_line=True)), schemas, f"frame {len(before) + 1}.")
    )
    return [finding for findings in found for finding in findings]


def made(golden: Golden, *, seeds: Iterable[Any] = (), schemas: SchemaRegistry | None = None) -> str:
    """The text of a golden, made from its schemas: realistic, valid under its editions, the same each time.

    Args:
        golden: the row; one that is not in the table will do.
        seeds: the document, or the frames, to stay as near to as the schemas let it.
        schemas: what it is made from; by default the shared registry.

    Raises:
        GoldenError: no valid document was found.
        SchemaFileError: a schema that is needed is missing or broken.
    """
    from pytest_corpus._golden_maker import Maker, written

    held = schemas or registry()
    try:
        text = written(Maker(golden, held).documents(seeds), stream=golden.is_stream)
    except (RecursionError, TypeError, ValueError, LookupError, re.error) as fault:
        raise GoldenError(f"{golden.file} cannot be made: its schema cannot be followed; lint the schemas") from fault
    if findings := check_text(golden, text.encode(), schemas=held):
        raise GoldenError(
            f"{golden.file} cannot be made from its schemas; write it by hand. What was made: {findings[0]}"
        )
    return text


def generate(
    goldens: Iterable[Golden | str] | None = None,
    *,
    root: Path | str | None = None,
    force: bool = False,
    schemas: SchemaRegistry | None = None,
) -> tuple[list[Path], list[Path]]:
    """Write goldens that are missing; the files written, and those that were there and are kept.

    Args:
        goldens: rows, or files of the table; by default all of the table.
        root: the folder to write below, as in `root_folder`.
        force: overwrite files that are there.
        schemas: what they are made from; by default the shared registry.

    Raises:
        GoldenError: one cannot be made; then none is written.
        NotADirectoryError, KeyError, SchemaFileError: as in `check` and `made`.
        OSError: a file cannot be written.
    """
    folder = root_folder(root)
    rows = [BY_FILE[one] if isinstance(one, str) else one for one in (goldens if goldens is not None else GOLDENS)]
    kept = [row for row in rows if not force and os.path.lexists(folder / row.file)]
    texts = {row.file: made(row, schemas=schemas) for row in rows if row not in kept}
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(text, path)
    return [folder / file for file in texts], [folder / row.file for row in kept]


def diff(
    root: Path | str | None = None, *, schemas: SchemaRegistry, before: SchemaRegistry | None = None
) -> list[Change]:
    """What other schemas mean for the goldens: which stop or start to be valid, and how they would have to change.

    Goldens that cannot be read are passed over; `check` finds them.

    Args:
        root: the ``golden/`` folder, as in `root_folder`.
        schemas: the schemas to look ahead to.
        before: those of now; by default the shared registry.

    Raises:
        NotADirectoryError: the root is no folder.
        SchemaFileError: a schema that is needed is missing or broken.
    """
    folder, now = root_folder(root), before or registry()
    changes = (_change(golden, folder, now, schemas) for golden in GOLDENS)
    return [change for change in changes if change and (change.stops or change.starts)]


def _change(golden: Golden, folder: Path, now: SchemaRegistry, then: SchemaRegistry) -> Change | None:
    data, _, fault = read_bytes(folder / golden.file, MAX_BYTES)
    documents = [] if fault else [parsed(part) for part in (data.splitlines() if golden.is_stream else [data])]
    if not documents or any(wrong for _, wrong in documents):
        return None
    frames = [document for document, _ in documents]
    earlier, later = _met(golden, frames, now), _met(golden, frames, then)
    stops = tuple(pair for pair in earlier if pair not in later)
    problems = [
        f"{problem.told} under {name} (edition {edition})"
        for name, edition in stops
        for frame in frames
        for problem in then.problems(name, frame, edition)[:_SHOWN]
    ]
    starts = tuple(pair for pair in later if pair not in earlier)
    patch = _patch(golden, frames, then) if stops else ""
    return Change(golden.file, stops, starts, tuple(dict.fromkeys(problems)), patch)


def _met(golden: Golden, frames: list[Any], schemas: SchemaRegistry) -> list[tuple[str, str]]:
    """Every (schema, edition) of a golden that all its lines meet; of its last line apart where that is another's."""
    *before, last = frames
    pairs = [(name, edition) for name in (golden.schema, *golden.also) for edition in BY_NAME[name].editions]
    lines = before if golden.last_line else frames
    met = [pair for pair in pairs if all(schemas.is_valid(pair[0], line, pair[1]) for line in lines)]
    if golden.last_line:
        ends = [(golden.last_line, edition) for edition in BY_NAME[golden.last_line].editions]
        met += [pair for pair in ends if schemas.is_valid(pair[0], last, pair[1])]
    return met


def _patch(golden: Golden, frames: list[Any], schemas: SchemaRegistry) -> str:
    from pytest_corpus._golden_maker import written

    try:
        new = made(golden, seeds=frames, schemas=schemas)
    except GoldenError as fault:
        return f"# {fault}\n"
    return "".join(_lines(golden.file, written(frames, stream=golden.is_stream), new))


def _lines(file: str, old: str, new: str) -> Iterator[str]:
    return difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/golden/{file}", f"b/golden/{file}"
    )
