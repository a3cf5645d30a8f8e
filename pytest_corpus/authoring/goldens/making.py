"""Golden files made from their schemas."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_corpus.authoring.goldens.checks import check_text, root_folder
from pytest_corpus.spec.goldens import BY_FILE, GOLDENS, Golden
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry


class GoldenError(PlainError):
    """A golden cannot be made: one sentence that says which, why, and what to do."""


def made(golden: Golden, *, seeds: Iterable[Any] = (), schemas: SchemaRegistry | None = None) -> str:
    """The text of a golden, made from its schemas: realistic, valid under its editions, the same each time.

    Args:
        golden: the row; one that is not in the table will do.
        seeds: the document, or the frames, to change as little as the schemas allow.
        schemas: the registry of its schemas; by default the shared one.

    Raises:
        GoldenError: no valid document was found.
        SchemaFileError: a schema that is needed is missing or broken.
    """
    from pytest_corpus.authoring.goldens.maker import Maker, written

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
        write_atomically(text, path)
    return [folder / file for file in texts], [folder / row.file for row in kept]
