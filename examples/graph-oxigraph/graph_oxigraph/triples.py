"""A property graph as triples: an item is a resource, its labels are types, its properties are predicates.

An edge is a resource, too, with `graph:src` and `graph:dst`, so that it can have an id and properties. SPARQL has no lists,
so lists and null are JSON literals. Queries have the prefixes of `PREFIXES`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote

from corpus_wire.graph import Edge, Node
from pyoxigraph import Literal, NamedNode, Quad

PREFIXES = {name: f"urn:corpus:{name}:" for name in ("namespace", "graph", "node", "edge", "label", "property")}
XSD = "http://www.w3.org/2001/XMLSchema#"

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
NODE, EDGE, SRC, DST, JSON = (NamedNode(PREFIXES["graph"] + name) for name in ("Node", "Edge", "src", "dst", "json"))


def iri(prefix: str, name: str) -> NamedNode:
    return NamedNode(PREFIXES[prefix] + quote(name, safe=""))


def graph_iri(namespace: str) -> NamedNode:
    return iri("namespace", namespace)


def node_iri(id_: str) -> NamedNode:
    return iri("node", id_)


def iri_of(item: Node | Edge) -> NamedNode:
    return iri("node" if isinstance(item, Node) else "edge", item.id)


def name_of(resource: NamedNode) -> str:
    """The name in an IRI of ours; any other IRI is unchanged."""
    for prefix in PREFIXES.values():
        if resource.value.startswith(prefix):
            return unquote(resource.value.removeprefix(prefix))
    return resource.value


def triples(item: Node | Edge, graph: NamedNode) -> Iterator[Quad]:
    """Yield the triples of an item in a graph."""
    subject = iri_of(item)
    types = [NODE, *(iri("label", label) for label in item.labels)] if isinstance(item, Node) else [EDGE]
    if isinstance(item, Edge):
        types.append(iri("label", item.label))
        yield Quad(subject, SRC, node_iri(item.src), graph)
        yield Quad(subject, DST, node_iri(item.dst), graph)
    for type_ in types:
        yield Quad(subject, TYPE, type_, graph)
    for key, given in item.properties.items():
        yield Quad(subject, iri("property", key), term(given), graph)


def node_of(subject: NamedNode, quads: Sequence[Quad]) -> Node | None:
    """The node that triples describe; None if it is not one."""
    types = [quad.object for quad in quads if quad.predicate == TYPE]
    return Node(name_of(subject), labels(types), properties(quads)) if NODE in types else None


def edge_of(subject: NamedNode, quads: Sequence[Quad]) -> Edge | None:
    """The edge that triples describe; None if it is not one."""
    types = [quad.object for quad in quads if quad.predicate == TYPE]
    if EDGE not in types:
        return None
    ends = {quad.predicate: name_of(quad.object) for quad in quads if quad.predicate in (SRC, DST)}
    return Edge(name_of(subject), ends[SRC], ends[DST], labels(types)[0], properties(quads))


def labels(types: Sequence[Any]) -> list[str]:
    return sorted(name_of(each) for each in types if each not in (NODE, EDGE))


def properties(quads: Sequence[Quad]) -> dict[str, Any]:
    own = [quad for quad in quads if quad.predicate.value.startswith(PREFIXES["property"])]
    return {name_of(quad.predicate): value(quad.object) for quad in own}


def term(given: Any) -> Literal:
    """A value of JSON as a literal of its type."""
    if isinstance(given, (str, bool, int, float)):
        return Literal(given)
    return Literal(json.dumps(given), datatype=JSON)


def value(found: Any) -> Any:
    """A value of a record as JSON; an IRI of ours becomes the name in it."""
    if isinstance(found, NamedNode):
        return name_of(found)
    if not isinstance(found, Literal):
        return None if found is None else str(found)
    kind = found.datatype.value.removeprefix(XSD)
    if kind == "integer":
        return int(found.value)
    if kind in ("double", "float", "decimal"):
        return float(found.value)
    if kind == "boolean":
        return found.value in ("true", "1")
    return json.loads(found.value) if found.datatype == JSON else found.value
