"""Cypher as FalkorDB reads it: names, parameters, and the values of records as JSON."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from corpus_wire import WireError, invalid
from falkordb.edge import Edge
from falkordb.helpers import stringify_param_value
from falkordb.node import Node
from falkordb.path import Path
from redis.exceptions import ResponseError

ID = "corpus_id"
"""The property that holds the id of a node or an edge."""

ITEM, KEY = "CorpusItem", "corpus_key_of_id"
"""The label of all nodes, and the indexed property that finds them."""

RESERVED = (ID, ITEM, KEY)

UNWRITABLE = ("`", "\0")
"""Characters that a name in backticks cannot have: there is no way to escape them."""

REFUSALS = {
    "errMsg:": invalid("args.text", "is not a query that can be read", error="QueryParseError"),
    "Missing parameters": invalid("args.params", "must have all parameters of the query"),
    "Query timed out": WireError("DeadlineExceeded", "The time budget of the query is spent"),
    "Max pending queries exceeded": WireError("ResourceExhausted", "The provider has too many queries to do"),
    "Query's mem consumption exceeded": WireError("ResourceExhausted", "The query needs too much memory"),
}
"""The errors for the answers of the server, by their beginnings."""


def quoted(name: str, path: str = "args") -> str:
    """A name in a query. Raises WireError if it cannot stand there, or has a use here."""
    if not name or name in RESERVED or any(character in name for character in UNWRITABLE):
        raise invalid(path, f"must not have names that are empty, have a backtick or a NUL, or are one of {RESERVED}")
    return f"`{name}`"


def key_of(id_: str) -> str:
    """The key of a node in the index, which trims blanks and control characters, and loses texts of some thousand bytes."""
    if "\0" in id_:
        raise invalid("args", "must not have ids with a NUL")
    return hashlib.sha256(id_.encode()).hexdigest()


def with_parameters(text: str, params: Mapping[str, Any]) -> str:
    """A query after its parameters: they are text as well, so every quote and backslash in them is escaped."""
    values = (f"`{name}`={stringify_param_value(value)}" for name, value in params.items())
    return f"CYPHER {' '.join(values)} {text}"


def stored(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties to write: in Cypher, a property that is null is absent.

    Raises:
        WireError: FalkorDB does not take a name or a value.
    """
    for name, value in properties.items():
        quoted(name, "args.properties")
        for element in value if isinstance(value, list) else [value]:
            check(element)
    return {name: value for name, value in properties.items() if value is not None}


def check(value: Any) -> None:
    """Refuse a value that is no scalar, or would not come back."""
    if isinstance(value, (Mapping, list)):
        raise invalid("args.properties", "must hold plain values, or lists of them")
    if isinstance(value, str) and "\0" in value:
        raise invalid("args.properties", "must not hold a NUL")
    if isinstance(value, float) and math.isinf(float(f"{value:.15g}")):
        raise invalid("args.properties", "must not hold a number that 15 digits round to infinity")


def conditions(wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition of a filter on `x` after WHERE, and its parameters: no value ever stands in the text."""
    terms = "".join(f" AND x.{quoted(key, 'args.filter')} = $value{number}" for number, key in enumerate(wanted))
    return terms, {f"value{number}": value for number, value in enumerate(wanted.values())}


def refusal(error: ResponseError) -> WireError:
    """The error for an answer to a query; its text quotes the query, so only its beginning is read."""
    found = (refused for beginning, refused in REFUSALS.items() if str(error).startswith(beginning))
    return next(found, invalid("args.text", "is a query that cannot be carried out with these parameters"))


def as_json(value: Any) -> Any:
    """A value of a record as JSON: nodes and edges as the protocol has them, a type that JSON does not have as a string."""
    if isinstance(value, Node):
        labels = [label for label in value.labels or [] if label != ITEM]
        return {**properties_of(value), "labels": labels}
    if isinstance(value, Edge):
        return {**properties_of(value), "label": value.relation}
    if isinstance(value, Path):
        return [as_json(each) for each in (*value.nodes(), *value.edges())]
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def properties_of(item: Node | Edge) -> dict[str, Any]:
    """The id and the properties; another client may have written an item without an id."""
    properties = {name: as_json(value) for name, value in item.properties.items()}
    properties.pop(KEY, None)
    return {"id": properties.pop(ID, str(item.id)), "properties": properties}
