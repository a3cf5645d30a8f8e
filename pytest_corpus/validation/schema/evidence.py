"""The schemas of the product's own files, and the flaws of values read from such files."""

import json
from functools import cache
from typing import Any

from pytest_corpus import resources
from pytest_corpus.redaction import printable, shorten

MOST_FLAWS = 10


def flaws(schema: str, value: object, part: str = "") -> list[str]:
    """Return the violations of a schema in a value, as at most ten lines.

    Args:
        schema: the file below ``schemas/``, without ``.schema.json``.
        part: the name in ``$defs`` or ``properties`` of the part to check the value against; by default the whole.
    """
    found = []
    for error in _validator(schema, part).iter_errors(_without_surrogates(value)):
        place = ".".join(str(step) for step in error.instance_path) or "the whole document"
        # The end of a message says what is wrong where a long value comes first.
        found.append(f"{printable(place)[:100]}: {shorten(printable(error.message), 200, end=130)}")
        if len(found) == MOST_FLAWS:
            break
    return found


def first_flaw(schema: str, value: object, part: str = "") -> str:
    """Return the first violation in the form of `flaws`; empty if the value is valid."""
    try:
        if _validator(schema, part).is_valid(value):
            return ""
    except ValueError:  # half a character
        pass
    return next(iter(flaws(schema, value, part)), "")


def _without_surrogates(value: object) -> object:
    """Replace lone surrogates by question marks, because the validator cannot read them."""
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
