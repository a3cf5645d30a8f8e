"""Checks files of this product (reports, transcripts, recordings, ...) against their schemas."""

import json
from functools import cache
from typing import Any

from pytest_corpus import resources
from pytest_corpus.redaction import printable, shorten

MOST_FLAWS = 10


def find_flaws(schema: str, value: object, part: str = "") -> list[str]:
    """Return the violations of a schema in a value, at most ten, each in one line.

    Args:
        schema: the file below ``schemas/``, without ``.schema.json``.
        part: a name in the schema's ``$defs`` or ``properties``, if the value is only this part of a document.
    """
    found = []
    for error in _validator(schema, part).iter_errors(_replace_surrogates(value)):
        place = ".".join(str(step) for step in error.instance_path) or "the whole document"
        # A message may begin with a long value; the fault is at its end.
        found.append(f"{printable(place)[:100]}: {shorten(printable(error.message), 200, end=130)}")
        if len(found) == MOST_FLAWS:
            break
    return found


def first_flaw(schema: str, value: object, part: str = "") -> str:
    """Return the first violation, as `find_flaws` describes it; empty if the value is valid."""
    try:
        if _validator(schema, part).is_valid(value):
            return ""
    except ValueError:  # a lone surrogate
        pass
    return next(iter(find_flaws(schema, value, part)), "")


def _replace_surrogates(value: object) -> object:
    """Return the value with lone surrogates replaced by question marks, because the validator refuses them."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


@cache
def _validator(schema: str, part: str) -> Any:
    import jsonschema_rs  # light commands do without it

    path = resources.folder("schemas") / f"{schema}.schema.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    if part:
        below = document["$defs"][part] if part in document["$defs"] else document["properties"][part]
        document = {**below, "$defs": document["$defs"]}
    return jsonschema_rs.validator_for(document)
