"""Generates golden files from their schemas reproducibly, and computes the effect of changed schemas on goldens."""

import copy
import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from pytest_corpus.authoring.goldens.checks import MAX_BYTES, MAX_SHOWN, check_text, root_folder
from pytest_corpus.authoring.goldens.invariants import set_computed_values
from pytest_corpus.authoring.schema_rules import RuleCollector, Schema, SchemaRules, generate_variants
from pytest_corpus.authoring.tree import parse_document, read_bytes
from pytest_corpus.spec.goldens import (
    BRANCHES,
    BY_FILE,
    COMMON,
    ERROR_KEYS,
    ERRORS,
    GOLDENS,
    OF_COMPONENT,
    PARTS,
    SELDOM,
    USUAL,
    WARNING,
    Golden,
)
from pytest_corpus.spec.operations import protocol_of
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMAS
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry

_NOTHING: Final = object()
_MAX_DEPTH: Final = 12
_MAX_CANDIDATES: Final = 200
FILES: Final = {
    BASE_URI + file: (schema.name, edition)
    for schema in SCHEMAS
    for edition, file in zip(schema.own, schema.files, strict=True)
}
"""The short name and the edition of each schema, by its ``$id``."""


class GoldenMaker:
    """Generates the documents of one golden from the schemas of a registry."""

    def __init__(self, golden: Golden, registry: SchemaRegistry) -> None:
        self._golden = golden
        self._registry = registry
        self._collector = RuleCollector(self._retrieve)
        self._examples = _examples_for(golden)
        self._wanted = {key for word, key in BRANCHES.items() if word in golden.file}

    def make_documents(self, seeds: Iterable[Any] = ()) -> list[Any]:
        """Return a list with the golden's document, or its frames if it is a stream.

        `seeds` are earlier documents; the result differs from them only as far as the schemas demand. Without seeds,
        the documents are new.
        """
        earlier = list(seeds)
        if not self._golden.is_stream:
            return [self.make_document(self._golden.checks(), *earlier[:1])]
        if earlier:
            *before, last = earlier
            frames = [self.make_document(self._golden.checks(), frame) for frame in before]
            return [*frames, self.make_document(self._golden.checks(last_line=True), last)]
        return list(self._make_frames())

    def make_document(self, checks: Iterable[tuple[str, str]], seed: Any = _NOTHING) -> Any:
        """Return a document that is valid under every given (schema, edition), close to an earlier one (`seed`)."""
        files = dict.fromkeys(BY_NAME[name].file(edition) for name, edition in checks)
        schema = {"allOf": [{"$ref": BASE_URI + file} for file in files]}
        document = set_computed_values(
            self._make(schema, self._golden.schema.rpartition(".")[2], seed, 0), self._golden.component
        )
        if isinstance(document, dict) and "op" in document and self._golden.op:
            document["op"] = self._golden.op
        return document

    def _make_frames(self) -> Iterator[Any]:
        """Yield the frames of a new stream: data frames, then the terminal frame (SPECIFICATION 4.2.3)."""
        plain = self.make_document(self._golden.checks())
        for number, part in enumerate(PARTS, 1):
            frame = copy.deepcopy(plain)
            frame["ms"] = round(plain["ms"] * number, 1)
            chunk = frame["chunk"]
            chunk["is_final"] = number == len(PARTS)
            if not chunk["is_final"]:
                chunk.pop("summary", None)
            if "usage_so_far" in chunk:
                chunk["text"] = part
                usage = chunk["usage_so_far"]
                usage["completion_tokens"] = usage["completion_tokens"] * number // len(PARTS)
            if self._golden.last_line and number == len(PARTS):
                error = self.make_document(self._golden.checks(last_line=True))
                yield {**error, "ms": frame["ms"]}
            else:
                yield set_computed_values(frame, self._golden.component)

    def _retrieve(self, uri: str) -> dict[str, Any]:
        return self._registry.get_schema(*FILES[uri])

    def _is_valid(self, schema: Schema, value: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        try:
            return self._registry.compile(dict(schema)).is_valid(value)
        except ValueError:
            return False

    def _make(self, schema: Schema, key: str, seed: Any, depth: int) -> Any:
        """Return a valid value for a key, made from its schema and an earlier value; `_NOTHING` if none was found."""
        if seed is not _NOTHING and self._is_valid(schema, seed):
            return copy.deepcopy(seed)
        example = self._examples.get(key, _NOTHING)
        fits = example is not _NOTHING and self._is_valid(schema, example)
        rules = self._collector.collect(schema)
        if fits and seed is _NOTHING and (depth == 0 or rules.choices):
            return copy.deepcopy(example)
        if rules.choices:
            for value in islice(self._candidate_objects(rules, seed, depth, frozenset()), _MAX_CANDIDATES):
                if self._is_valid(schema, value):
                    return value
            return self._simplest_value(schema)
        objects = "object" in rules.types and depth < _MAX_DEPTH and (seed is _NOTHING or isinstance(seed, dict))
        if objects and (rules.properties or isinstance(seed, dict)):
            return self._make_object(rules, seed, depth)
        if "array" in rules.types and rules.items and (isinstance(seed, list) or not fits):
            return self._make_array(rules, key, seed, depth)
        return copy.deepcopy(example) if fits else self._simplest_value(schema)

    def _simplest_value(self, schema: Schema) -> Any:
        """Return the simplest valid value; null only if no other value is valid."""
        made = (value for value in generate_variants(self._collector, schema) if value is not None)
        return next((value for value in made if self._is_valid(schema, value)), self._null_or_nothing(schema))

    def _null_or_nothing(self, schema: Schema) -> Any:
        return None if self._is_valid(schema, None) else _NOTHING

    def _rank_branch(self, branch: Schema) -> int:
        """Return the rank of a branch: 0 if it needs a key that the file name suggests, 1 for a usual key, else 2."""
        required = set(self._collector.collect(branch).required)
        return 0 if required & self._wanted else 1 if required & USUAL else 2

    def _candidate_objects(self, rules: SchemaRules, seed: Any, depth: int, others: frozenset[str]) -> Iterator[Any]:
        """Yield an object for each combination of branches, the most probable combination first."""
        if not rules.choices:
            if "object" in rules.types and (rules.properties or isinstance(seed, dict)):
                yield self._make_object(rules, seed, depth, others)
            return
        branches, *rest = rules.choices
        for branch in sorted(branches, key=self._rank_branch):
            narrowed = self._collector.narrow(rules, branch, rest)
            yield from self._candidate_objects(narrowed, seed, depth, others | rules.branch_keys)

    def _make_object(self, rules: SchemaRules, seed: Any, depth: int, others: frozenset[str] = frozenset()) -> Any:
        if isinstance(seed, dict):
            wanted = [*seed, *(key for key in rules.required if key not in seed)]
        else:
            known = (self._examples.keys() - others) - SELDOM
            wanted = [key for key in rules.properties if key in rules.required or key in known]
            wanted += [key for key in rules.required if key not in rules.properties]
        made: dict[str, Any] = {}
        for key in wanted:
            said = rules.schema_of_key(key)
            if said is None:
                continue
            earlier = seed.get(key, _NOTHING) if isinstance(seed, dict) else _NOTHING
            value = self._make(said, key, earlier, depth + 1)
            if value is not _NOTHING:
                made[key] = value
        return made

    def _make_array(self, rules: SchemaRules, key: str, seed: Any, depth: int) -> list[Any]:
        schema: Schema = {"allOf": rules.items}
        least, most = int(rules.bounds.get("minItems", 0)), int(rules.bounds.get("maxItems", 2**31))
        if isinstance(seed, list):
            items = [self._make(schema, _singular(key), item, depth + 1) for item in seed][:most]
        else:
            items = [self._make(schema, _singular(key), _NOTHING, depth + 1)][:most]
        items = [item for item in items if item is not _NOTHING]
        return items + [copy.deepcopy(items[0]) for _ in range(least - len(items))] if items else []


def _examples_for(golden: Golden) -> dict[str, Any]:
    component = golden.component
    examples = {**COMMON, **ERRORS[component], **OF_COMPONENT[component], "protocol": protocol_of(component)}
    examples["request_id"] = f"req-{crc32(golden.file.encode()):08x}"
    if golden.schema.endswith(".warning"):
        examples |= WARNING
    if golden.schema.endswith(".success"):
        for key in ERROR_KEYS:
            del examples[key]
    if "partial" in golden.file:
        del examples["failures"]
        examples["index"] = 1
    return examples


def _singular(key: str) -> str:
    """Return the singular of a key that names a list."""
    return key[:-1] if key.endswith("s") else key


_FLAT: Final = 100


def golden_text(documents: list[Any], *, stream: bool) -> str:
    """Return the text of a golden file: indented JSON with short lists on one line, or a stream with one frame per
    line.
    """
    if stream:
        return "".join(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n" for document in documents)
    text = json.dumps(documents[0], indent=2, ensure_ascii=False, allow_nan=False)
    return re.sub(r"\[\n\s+[^\[\]{}\"]*?\n\s*\]", _join_lines, text) + "\n"


def _join_lines(found: re.Match[str]) -> str:
    line = re.sub(r"\s*\n\s*", " ", found.group()).replace("[ ", "[").replace(" ]", "]")
    return line if len(line) <= _FLAT else found.group()


class GoldenError(PlainError):
    """A golden that cannot be made. The message names the golden, the reason and the remedy."""


def make_golden(golden: Golden, *, seeds: Iterable[Any] = (), schemas: SchemaRegistry | None = None) -> str:
    """Return the text of a golden, generated from its schemas: realistic, valid and reproducible.

    Args:
        golden: the row of the table; rows outside of the table are allowed.
        seeds: earlier documents or frames; the result differs from them only as far as the schemas demand.
        schemas: the registry of its schemas; by default the shared one.

    Raises:
        GoldenError: no valid document was found.
        SchemaFileError: a schema that is needed is missing or broken.
    """
    held = schemas or registry()
    try:
        text = golden_text(GoldenMaker(golden, held).make_documents(seeds), stream=golden.is_stream)
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
    """Write missing goldens; return the written files, and the existing files that were kept.

    Args:
        goldens: rows or files of the table; by default the whole table.
        root: the folder to write below, as in `root_folder`.
        force: overwrite existing files.
        schemas: the registry to generate from; by default the shared registry.

    Raises:
        GoldenError: a golden cannot be made; then no file is written.
        NotADirectoryError, KeyError, SchemaFileError: as in `check` and `make_golden`.
        OSError: a file cannot be written.
    """
    folder = root_folder(root)
    rows = [BY_FILE[one] if isinstance(one, str) else one for one in (goldens if goldens is not None else GOLDENS)]
    kept = [row for row in rows if not force and os.path.lexists(folder / row.file)]
    texts = {row.file: make_golden(row, schemas=schemas) for row in rows if row not in kept}
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(text, path)
    return [folder / file for file in texts], [folder / row.file for row in kept]


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of changed schemas on one golden.

    Attributes:
        file: the golden, relative to the ``golden/`` folder.
        stops: every (schema, edition) under which the golden becomes invalid.
        starts: every (schema, edition) under which the golden becomes valid.
        problems: the reasons, one per line, without values of the golden.
        patch: a unified diff that makes the golden valid again; empty if it stays valid.
    """

    file: str
    stops: tuple[tuple[str, str], ...]
    starts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    patch: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)


def diff(
    root: Path | str | None = None, *, schemas: SchemaRegistry, before: SchemaRegistry | None = None
) -> list[Change]:
    """Return the goldens that changed schemas make invalid or valid, with the edits that repair them.

    Unreadable goldens are skipped; `check` finds them.

    Args:
        root: the ``golden/`` folder, as in `root_folder`.
        schemas: the changed schemas.
        before: the present schemas; by default the shared registry.

    Raises:
        NotADirectoryError: the root is not a folder.
        SchemaFileError: a schema that is needed is missing or broken.
    """
    folder, now = root_folder(root), before or registry()
    changes = (_compare_schemas(golden, folder, now, schemas) for golden in GOLDENS)
    return [change for change in changes if change and (change.stops or change.starts)]


def _compare_schemas(golden: Golden, folder: Path, now: SchemaRegistry, then: SchemaRegistry) -> Change | None:
    data, _, fault = read_bytes(folder / golden.file, MAX_BYTES)
    documents = [] if fault else [parse_document(part) for part in (data.splitlines() if golden.is_stream else [data])]
    if not documents or any(wrong for _, wrong in documents):
        return None
    frames = [document for document, _ in documents]
    earlier, later = _valid_under(golden, frames, now), _valid_under(golden, frames, then)
    stops = tuple(pair for pair in earlier if pair not in later)
    problems = [
        f"{problem.one_line} under {name} (edition {edition})"
        for name, edition in stops
        for frame in frames
        for problem in then.problems(name, frame, edition)[:MAX_SHOWN]
    ]
    starts = tuple(pair for pair in later if pair not in earlier)
    patch = _repair_patch(golden, frames, then) if stops else ""
    return Change(golden.file, stops, starts, tuple(dict.fromkeys(problems)), patch)


def _valid_under(golden: Golden, frames: list[Any], schemas: SchemaRegistry) -> list[tuple[str, str]]:
    """Return every (schema, edition) that a golden's frames satisfy; the last frame may have a different schema."""
    *before, last = frames
    pairs = [(name, edition) for name in (golden.schema, *golden.also) for edition in BY_NAME[name].editions]
    lines = before if golden.last_line else frames
    met = [pair for pair in pairs if all(schemas.is_valid(pair[0], line, pair[1]) for line in lines)]
    if golden.last_line:
        ends = [(golden.last_line, edition) for edition in BY_NAME[golden.last_line].editions]
        met += [pair for pair in ends if schemas.is_valid(pair[0], last, pair[1])]
    return met


def _repair_patch(golden: Golden, frames: list[Any], schemas: SchemaRegistry) -> str:
    try:
        new = make_golden(golden, seeds=frames, schemas=schemas)
    except GoldenError as fault:
        return f"# {fault}\n"
    old, names = golden_text(frames, stream=golden.is_stream), (f"a/golden/{golden.file}", f"b/golden/{golden.file}")
    return "".join(difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *names))
