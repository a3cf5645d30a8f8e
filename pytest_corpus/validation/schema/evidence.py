"""The schemas of files that the product writes itself, and what is wrong with a value that was read from one."""

import json
from functools import cache
from typing import Any

from pytest_corpus import resources
from pytest_corpus.redaction import cut, printable

MOST_FLAWS = 10


def flaws(schema: str, value: object, part: str = "") -> list[str]:
    """The violations of a schema in a value, at most ten lines.

    Args:
        schema: the file below ``schemas/``, without ``.schema.json``.
        part: one of its ``$defs``, or of its properties, that the value is to meet instead of the whole.
    """
    found = []
    for error in _validator(schema, part).iter_errors(_whole(value)):
        place = ".".join(str(step) for step in error.instance_path) or "the whole document"
        # The end of a message says what is wrong where a long value comes first.
        found.append(f"{printable(place)[:100]}: {cut(printable(error.message), 200, end=130)}")
        if len(found) == MOST_FLAWS:
            break
    return found


def flaw(schema: str, value: object, part: str = "") -> str:
    """The first violation, as `flaws` has it; empty if the value meets the schema."""
    try:
        if _validator(schema, part).is_valid(value):
            return ""
    except ValueError:  # half a character
        pass
    return next(iter(flaws(schema, value, part)), "")


def _whole(value: object) -> object:
    """A value with question marks for half characters, which the validator does not read."""
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
