"""Nodes and edges in memory, by tenant and namespace, instead of a graph database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.reference.request import copy_json

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Node:
    """A vertex; it is replaced, never modified."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]
    namespace: str = DEFAULT_NAMESPACE

    def to_wire(self) -> dict[str, Any]:
        """Return the node as `graph.types.entity`, as an independent copy (SCHEMA 4.4)."""
        return {
            "id": self.id,
            "labels": list(self.labels),
            "properties": copy_json(self.properties),
            "namespace": self.namespace,
        }


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship from `src` to `dst`; it is replaced, never modified."""

    id: str
    src: str
    dst: str
    label: str
    properties: Mapping[str, Any]
    namespace: str = DEFAULT_NAMESPACE

    def to_wire(self) -> dict[str, Any]:
        """Return the edge as `graph.types.entity`, as an independent copy (SCHEMA 4.4)."""
        return {name: copy_json(getattr(self, name)) for name in self.__slots__}


Entity = Node | Edge


@dataclass(slots=True)
class NamespaceGraph:
    """The nodes and edges of one namespace, by id."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)

    def draft(self) -> NamespaceGraph:
        """Return a copy of the graph that can be changed independently."""
        return NamespaceGraph(dict(self.nodes), dict(self.edges))

    def neighbours(self, node: str, direction: str) -> Iterator[tuple[Edge, str]]:
        """Yield each edge of a node, with the node at its other end; `direction` is OUTGOING, INCOMING or BOTH."""
        for edge in self.edges.values():
            if edge.src == node and direction in ("OUTGOING", "BOTH"):
                yield edge, edge.dst
            if edge.dst == node and direction in ("INCOMING", "BOTH"):
                yield edge, edge.src


Space = dict[str, NamespaceGraph]
"""The graphs of one tenant, by namespace."""


def is_same(stored: object, wanted: object) -> bool:
    """True if two JSON values are equal: true is not 1."""
    return isinstance(stored, bool) == isinstance(wanted, bool) and stored == wanted
