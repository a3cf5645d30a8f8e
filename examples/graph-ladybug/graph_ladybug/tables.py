"""The tables of Ladybug, declared before it stores anything: one for each label, with a typed column for each property."""

import math
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from corpus_wire import WireError, invalid

Rows = list[list[Any]]
Run = Callable[..., Coroutine[Any, Any, Rows]]

KEY = {"NODE": "node_id", "REL": "edge_id"}
RESERVED = ("_id", "_label", "_src", "_dst")
"""Columns that Ladybug makes, but lets a table have all the same."""

UNLABELLED = "Unlabelled"
"""The table of nodes without a label."""

TYPES = {bool: "BOOL", int: "INT64", float: "DOUBLE", str: "STRING"}
EXACT = 2**53  # up to here a DOUBLE is as good as an INT64


class Tables:
    """The tables of a database and their columns, by the names of both."""

    def __init__(self) -> None:
        self.columns: dict[str, dict[str, dict[str, str]]] = {"NODE": {}, "REL": {}}

    async def load(self, run: Run) -> None:
        """Read the catalogue: the database may have existed before, or a transaction was rolled back."""
        self.columns = {"NODE": {}, "REL": {}}
        for _, name, kind, *_ in await run("CALL show_tables() RETURN *"):
            rows = await run(f"CALL table_info({text(name)}) RETURN *")
            self.columns[kind][name] = {column: type_ for _, column, type_, *_ in rows}

    async def prepare(self, run: Run, kind: str, name: str, properties: Mapping[str, Any], ends: str = "") -> None:
        """Make the table and the columns that are missing; `ends` are those of a relationship.

        Raises:
            WireError: a name is taken, or a value has another type than its column.
        """
        if "." in name:  # Ladybug takes what stands before it for a database, even in backticks
            raise invalid("args", "must not have labels with a dot")
        other = "REL" if kind == "NODE" else "NODE"
        if any(name.lower() == each.lower() != (name if kind == each else "") for each in self.columns[other]):
            raise invalid("args", "must not use one label for nodes and edges")
        known = self.columns[kind]
        if name not in known:
            if any(name.lower() == each.lower() for each in known):
                raise invalid("args", "must not have labels that differ in letter case alone")
            key = f"{KEY[kind]} STRING" + (" PRIMARY KEY" if kind == "NODE" else "")
            await run(f"CREATE {kind} TABLE {quoted(name)}({', '.join(filter(None, (ends, key)))})")
            known[name] = {KEY[kind]: "STRING"}
        elif ends:
            await run(f"ALTER TABLE {quoted(name)} ADD IF NOT EXISTS {ends}")
        columns = known[name]
        for column, value in properties.items():
            if column.lower() in RESERVED:
                raise invalid("args", "must not have properties whose names Ladybug uses itself")
            if column not in columns:
                if any(column.lower() == each.lower() for each in columns):
                    raise invalid("args", "must not have properties that differ in letter case alone")
                await run(f"ALTER TABLE {quoted(name)} ADD {quoted(column)} {type_of(value)}")
                columns[column] = type_of(value)
            elif not fits(value, columns[column]):
                raise invalid("args", "must give a property one type in all items of a label")

    def holding(self, kind: str, wanted: Mapping[str, Any]) -> list[str]:
        """The tables whose columns can hold the values of a filter."""
        return [
            name
            for name, columns in self.columns[kind].items()
            if all(key in columns and key != KEY[kind] and comparable(wanted[key], columns[key]) for key in wanted)
        ]


def stored(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties to write: in Cypher, a property that is null is absent."""
    if not set(KEY.values()).isdisjoint(properties):
        raise invalid("args", "must not name a property node_id or edge_id")
    return {key: value for key, value in properties.items() if value is not None}


def type_of(value: Any) -> str:
    """The type of the column for a value."""
    if not isinstance(value, list):
        return TYPES[type(value)]
    types = {type_of(element) if isinstance(element, (bool, int, float, str)) else "" for element in value}
    if types == {"INT64", "DOUBLE"}:
        types = {"DOUBLE"}
    if len(types) > 1 or "" in types:
        raise invalid("args", "must not mix types in a list, nor nest them")
    return f"{types.pop() if types else 'STRING'}[]"


def fits(value: Any, column: str) -> bool:
    """Tell if a column takes a value unchanged; Ladybug would round 3.5 to 4 and write 3 as a string."""
    if value == [] and column.endswith("[]"):
        return True
    return type_of(value) == column or (column == "DOUBLE" and type(value) is int and abs(value) <= EXACT)


def comparable(value: Any, column: str) -> bool:
    """Tell if a value can equal one of a column; Ladybug refuses to compare others."""
    numbers = ("INT64", "DOUBLE")
    return value is not None and (type_of(value) == column or (type_of(value) in numbers and column in numbers))


def as_json(value: Any) -> Any:
    """A value of a record as JSON: nodes and edges as the protocol has them, a type that JSON does not have as a string."""
    if isinstance(value, Mapping):
        plain = {key: as_json(each) for key, each in value.items() if not key.startswith("_") and each is not None}
        if "_LABEL" not in value:
            return plain
        id_ = plain.pop(KEY["REL" if "_SRC" in value else "NODE"])
        if "_SRC" in value:
            return {"id": id_, "label": value["_LABEL"], "properties": plain}
        return {"id": id_, "labels": [label for label in [value["_LABEL"]] if label != UNLABELLED], "properties": plain}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def quoted(name: str) -> str:
    """A name in a query."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string in a query, where a parameter cannot stand."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def one_label(labels: list[str]) -> str:
    """The table of a node. Raises WireError if it has several labels, and a node of Ladybug stands in one table."""
    if len(labels) > 1 or UNLABELLED in labels:
        raise WireError("BadRequest", "A node must have at most one label", max_labels=1)
    return labels[0] if labels else UNLABELLED
