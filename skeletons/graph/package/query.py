r"""A stand-in for a query language, of which it knows one kind of sentence. Delete it once your library takes queries.

    MATCH (a:Label {name: $value})-[r:TYPE]->(b:Label {name: 'text'}) RETURN b.name AS alias, r ORDER BY b.name

Names, labels, braces, the arrow with its second node, aliases and the order may be left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from .corpus_wire.graph import Edge, Node, selected

Nodes = Mapping[str, Node]

VALUE = r"\$\w+|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|true|false"
PAIR = rf"(\w+)\s*:\s*({VALUE})"
COLUMN = r"(\w+)(?:\.(\w+))?(?:\s+AS\s+(\w+))?"


def node_pattern(name: str) -> str:
    """A node in parentheses, as the groups `name`, `name_label` and `name_map`."""
    braces = rf"\{{\s*{PAIR}(?:\s*,\s*{PAIR})*\s*\}}"
    return rf"\(\s*(?P<{name}>\w+)?\s*(?::\s*(?P<{name}_label>\w+))?\s*(?P<{name}_map>{braces})?\s*\)"


SENTENCE = re.compile(
    rf"\s*MATCH\s*{node_pattern('a')}"
    rf"(?P<arrow>\s*-\[\s*(?P<r>\w+)?\s*(?::\s*(?P<type>\w+))?\s*\]->\s*{node_pattern('b')})?"
    rf"\s+RETURN\s+(?P<columns>{COLUMN}(?:\s*,\s*{COLUMN})*)"
    r"(?:\s+ORDER\s+BY\s+(?P<by>\w+)\.(?P<key>\w+))?\s*",
    re.IGNORECASE,
)


class QueryError(Exception):
    """A text that is not a query; the message does not quote it."""


def evaluate(nodes: Nodes, edges: Iterable[Edge], text: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of a query."""
    found = SENTENCE.fullmatch(text)
    if found is None:
        raise QueryError("is not a query of the kind that is known")
    columns = re.findall(COLUMN, found["columns"], re.IGNORECASE)
    names = {found[name] for name in ("a", "r", "b")} - {None}
    if not names >= {variable for variable, _, _ in columns} | ({found["by"]} - {None}):
        raise QueryError("uses a name that it does not match")
    rows = list(matches(nodes, edges, found, params))
    if found["by"]:
        rows.sort(key=lambda row: order(row[found["by"]].properties.get(found["key"])))
    return [
        {alias or f"{name}.{key}".rstrip("."): value(row[name], key) for name, key, alias in columns} for row in rows
    ]


def matches(
    nodes: Nodes, edges: Iterable[Edge], found: re.Match[str], params: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the values of the names in the pattern, once for each way to match it."""
    wanted = {name: conditions(found[f"{name}_map"], params) for name in "ab"}

    def is_match(name: str, node: Node) -> bool:
        label = found[f"{name}_label"]
        return (label is None or label in node.labels) and selected(node, None, wanted[name])

    if found["arrow"] is None:
        yield from ({found["a"]: node} for node in nodes.values() if is_match("a", node))
        return
    for edge in edges:
        start, end = nodes[edge.src], nodes[edge.dst]
        if found["type"] in (None, edge.label) and is_match("a", start) and is_match("b", end):
            yield {found["a"]: start, found["r"]: edge, found["b"]: end}


def conditions(braces: str | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that a node must have, their parameters looked up."""
    wanted: dict[str, Any] = {}
    for name, text in re.findall(PAIR, braces or "", re.IGNORECASE):
        if text.startswith("$"):
            if text[1:] not in params:
                raise QueryError("has a parameter that is not given")
            wanted[name] = params[text[1:]]
        elif text.startswith("'"):
            wanted[name] = re.sub(r"\\(.)", r"\1", text[1:-1])
        else:
            wanted[name] = {"true": True, "false": False}.get(text.lower()) if text.isalpha() else float(text)
    return wanted


def order(value: Any) -> tuple[str, Any]:
    """The sort key of a value: numbers among numbers, texts among texts."""
    return ("number", value) if isinstance(value, (int, float)) else ("text", str(value))


def value(item: Node | Edge, key: str) -> Any:
    """A property of a node or an edge, or the whole of it."""
    return item.properties.get(key) if key else asdict(item)
