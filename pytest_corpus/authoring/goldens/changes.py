"""The effect of other schemas on golden files."""

import difflib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_corpus.authoring.goldens.checks import MAX_BYTES, MAX_SHOWN, root_folder
from pytest_corpus.authoring.goldens.maker import GoldenError, made, written
from pytest_corpus.authoring.tree import parsed, read_bytes
from pytest_corpus.spec.goldens import GOLDENS, Golden
from pytest_corpus.spec.schemas import BY_NAME
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of other schemas on one golden.

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


def diff(
    root: Path | str | None = None, *, schemas: SchemaRegistry, before: SchemaRegistry | None = None
) -> list[Change]:
    """The goldens that other schemas make invalid or valid, and the changes that would make them valid again.

    Goldens that cannot be read are passed over; `check` finds them.

    Args:
        root: the ``golden/`` folder, as in `root_folder`.
        schemas: the schemas to look ahead to.
        before: those of now; by default the shared registry.

    Raises:
        NotADirectoryError: the root is not a folder.
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
        f"{problem.one_line} under {name} (edition {edition})"
        for name, edition in stops
        for frame in frames
        for problem in then.problems(name, frame, edition)[:MAX_SHOWN]
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
    try:
        new = made(golden, seeds=frames, schemas=schemas)
    except GoldenError as fault:
        return f"# {fault}\n"
    old, names = written(frames, stream=golden.is_stream), (f"a/golden/{golden.file}", f"b/golden/{golden.file}")
    return "".join(difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *names))
