"""The provider: Oxigraph, a store of triples that speaks SPARQL. A namespace is a named graph."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, QueryTriples, Store, Variable

from .context import sent_along
from .errors import WireError, invalid
from .triples import (
    DST,
    PREFIXES,
    SRC,
    Edge,
    Node,
    edge_of,
    graph_iri,
    iri_of,
    node_iri,
    node_of,
    term,
    triples,
    value,
)

T = TypeVar("T")

# What may hold any word, and the one word that lets a query ask other servers.
TEXTS = (
    r"""\#[^\n]*|<[^<>"{}|^`\\\s]*>|\"{3}.*?(?<!\\)\"{3}|'{3}.*?(?<!\\)'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
)
SERVICE = re.compile(rf"{TEXTS}|(?P<word>\\u|(?<![?$:\w])service(?!\w))", re.DOTALL | re.IGNORECASE)


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Query:
    """A query that was read and checked; its text is in one of the `dialects`."""

    namespace: str
    text: str
    params: Mapping[str, Any]
    timeout_ms: float | None


class Provider:
    """One store, in a folder or in memory. It blocks, so what may take long happens in threads."""

    dialects = ("sparql",)
    max_query_length = 8192

    def __init__(self, probe: Probe | None = None, path: str | None = None) -> None:
        self.probe = probe
        self.store = Store(path)
        self.lock = threading.Lock()

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("graph.health")
            self.store.query("ASK {}")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    # Queries

    async def query(self, asked: Query) -> list[dict[str, Any]]:
        """The records of a query."""
        await self.reached("graph.query")
        return await self.records(asked)

    async def stream(self, asked: Query) -> AsyncGenerator[dict[str, Any], None]:
        """The records of a query one by one; the probe is reached once more before each of them."""
        await self.reached("graph.stream_query")
        for number, record in enumerate(await self.records(asked)):
            await self.reached("graph.stream_query", chunk=number)
            yield record

    async def records(self, asked: Query) -> list[dict[str, Any]]:
        """A thread evaluates the query, and gives it up with the next record when nobody waits for it any more."""
        if any(found["word"] for found in SERVICE.finditer(asked.text)):
            raise WireError("NotSupported", "args.text must not ask other servers: SERVICE is not supported")
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self.evaluate, asked, given_up)
        except SyntaxError:
            raise invalid("args.text", "is not a query that can be read", error="QueryParseError") from None
        except RuntimeError:
            raise invalid("args.params", "must be variables that the query selects") from None
        finally:
            given_up.set()

    def evaluate(self, asked: Query, given_up: threading.Event) -> list[dict[str, Any]]:
        found = self.store.query(
            asked.text,
            prefixes=PREFIXES,
            default_graph=graph_iri(asked.namespace),
            named_graphs=[],
            substitutions=bound(asked.params),
        )
        if isinstance(found, QuerySolutions):
            names = [variable.value for variable in found.variables]
            return [dict(zip(names, map(value, row), strict=True)) for row in until(given_up, found)]
        if isinstance(found, QueryTriples):
            parts = ("subject", "predicate", "object")
            return [dict(zip(parts, map(value, triple), strict=True)) for triple in until(given_up, found)]
        return [{"boolean": bool(found)}]

    # Writes

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        """Write all of them, in the place of those with the same id; the first write makes a namespace."""
        await self.reached("graph.upsert_nodes", items=len(nodes))
        await self.change(self.put, graph_iri(namespace), nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        """Write all of them, or none if one lacks a node."""
        await self.reached("graph.upsert_edges", items=len(edges))
        await self.change(self.link, graph_iri(namespace), edges)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete by ids (None: whatever id) and filter, with the edges at these nodes; how many nodes that were."""
        await self.reached("graph.delete_nodes")
        return await self.change(self.remove_nodes, graph_iri(namespace), ids, wanted)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("graph.delete_edges")
        return await self.change(self.remove_edges, graph_iri(namespace), ids, wanted)

    async def change(self, work: Callable[..., T], *args: Any) -> T:
        """Do something in a thread, one change at a time."""

        def alone() -> T:
            with self.lock:
                return work(*args)

        return await asyncio.to_thread(alone)

    def put(self, graph: NamedNode, items: Iterable[Node | Edge]) -> None:
        """What is new comes before what is old goes: an item is never missing."""
        new = {iri_of(item): set(triples(item, graph)) for item in items}  # of two with one id the last one counts
        self.store.extend([quad for quads in new.values() for quad in quads])
        for subject, quads in new.items():
            for quad in set(self.store.quads_for_pattern(subject, None, None, graph)) - quads:
                self.store.remove(quad)

    def link(self, graph: NamedNode, edges: Sequence[Edge]) -> None:
        for end in {end for edge in edges for end in (edge.src, edge.dst)}:
            if not any(self.store.quads_for_pattern(node_iri(end), None, None, graph)):
                raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        self.put(graph, edges)

    def remove_nodes(self, graph: NamedNode, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        chosen = [iri_of(node) for node in self.found(graph, node_of) if selected(node, ids, wanted)]
        edges = [
            quad.subject
            for node in chosen
            for way in (SRC, DST)
            for quad in self.store.quads_for_pattern(None, way, node, graph)
        ]
        self.remove(graph, [*edges, *chosen])
        return len(chosen)

    def remove_edges(self, graph: NamedNode, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        chosen = [iri_of(edge) for edge in self.found(graph, edge_of) if selected(edge, ids, wanted)]
        self.remove(graph, chosen)
        return len(chosen)

    def remove(self, graph: NamedNode, subjects: Iterable[NamedNode]) -> None:
        for subject in subjects:
            for quad in list(self.store.quads_for_pattern(subject, None, None, graph)):
                self.store.remove(quad)

    # Reading

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """The first nodes that fit a filter, in the order of their ids, after one id."""
        await self.reached("graph.bulk_vertices")
        found = await self.change(self.found, graph_iri(namespace), node_of)
        later = [node for node in found if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    def found(self, graph: NamedNode, read: Callable[[NamedNode, Sequence[Quad]], T | None]) -> list[T]:
        """The nodes, or the edges, of a graph."""
        subjects: dict[NamedNode, list[Quad]] = {}
        for quad in self.store.quads_for_pattern(None, None, None, graph):
            subjects.setdefault(quad.subject, []).append(quad)
        return [item for subject, quads in subjects.items() if (item := read(subject, quads)) is not None]


def until(given_up: threading.Event, records: Iterable[T]) -> Iterator[T]:
    """Records until the query is given up."""
    for record in records:
        if given_up.is_set():
            return
        yield record


def bound(params: Mapping[str, Any]) -> dict[Variable, Literal]:
    """The parameters as what Oxigraph puts in the place of variables, without touching the text."""
    try:
        return {Variable(name): term(given) for name, given in params.items()}
    except ValueError:  # a name that no variable can have, or a lone surrogate
        raise invalid("args.params", "must map names of variables to values") from None


def selected(item: Node | Edge, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether an item is one of the ids, and has all these properties with these values; true is not 1."""
    return (ids is None or item.id in ids) and all(
        key in item.properties
        and item.properties[key] == value
        and isinstance(item.properties[key], bool) == isinstance(value, bool)
        for key, value in wanted.items()
    )
