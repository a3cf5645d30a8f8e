"""The provider: Oxigraph, a store of triples that speaks SPARQL. A namespace is a named graph."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from corpus_wire import Probe, WireError, invalid
from corpus_wire.graph import Edge, GraphProvider, Node, Query, selected
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, QueryTriples, Store, Variable

from .triples import DST, PREFIXES, SRC, edge_of, graph_iri, iri_of, node_iri, node_of, term, triples, value

T = TypeVar("T")

# The parts of a query that may hold any word, and the one word that lets a query ask other servers.
TEXTS = (
    r"""\#[^\n]*|<[^<>"{}|^`\\\s]*>|\"{3}.*?(?<!\\)\"{3}|'{3}.*?(?<!\\)'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
)
SERVICE = re.compile(rf"{TEXTS}|(?P<word>\\u|(?<![?$:\w])service(?!\w))", re.DOTALL | re.IGNORECASE)


class Provider(GraphProvider):
    """One store, in a folder or in memory. It blocks, so long operations run in threads."""

    dialects = ("sparql",)

    def __init__(self, probe: Probe | None = None, path: str | None = None) -> None:
        super().__init__(probe)
        self.store = Store(path)
        self.lock = threading.Lock()

    async def ping(self) -> None:
        self.store.query("ASK {}")

    # Queries

    async def records(self, query: Query) -> list[dict[str, Any]]:
        """Evaluate a query in a thread, which stops at the next record once the call is cancelled."""
        if any(found["word"] for found in SERVICE.finditer(query.text)):
            raise WireError("NotSupported", "args.text must not ask other servers: SERVICE is not supported")
        cancelled = threading.Event()
        try:
            return await asyncio.to_thread(self.evaluate, query, cancelled)
        except SyntaxError:
            raise invalid("args.text", "is not a query that can be read", error="QueryParseError") from None
        except RuntimeError:
            raise invalid("args.params", "must be variables that the query selects") from None
        finally:
            cancelled.set()

    def evaluate(self, query: Query, cancelled: threading.Event) -> list[dict[str, Any]]:
        found = self.store.query(
            query.text,
            prefixes=PREFIXES,
            default_graph=graph_iri(query.namespace),
            named_graphs=[],
            substitutions=bound(query.params),
        )
        if isinstance(found, QuerySolutions):
            names = [variable.value for variable in found.variables]
            return [dict(zip(names, map(value, row), strict=True)) for row in until(cancelled, found)]
        if isinstance(found, QueryTriples):
            parts = ("subject", "predicate", "object")
            return [dict(zip(parts, map(value, triple), strict=True)) for triple in until(cancelled, found)]
        return [{"boolean": bool(found)}]

    # Writes

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        await self.reached("upsert_nodes", items=len(nodes))
        await self.change(self.put, graph_iri(namespace), nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        await self.reached("upsert_edges", items=len(edges))
        await self.change(self.link, graph_iri(namespace), edges)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_nodes")
        return await self.change(self.remove_nodes, graph_iri(namespace), ids, wanted)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_edges")
        return await self.change(self.remove_edges, graph_iri(namespace), ids, wanted)

    async def change(self, work: Callable[..., T], *args: Any) -> T:
        """Run a change in a thread, one at a time."""

        def alone() -> T:
            with self.lock:
                return work(*args)

        return await asyncio.to_thread(alone)

    def put(self, graph: NamedNode, items: Iterable[Node | Edge]) -> None:
        """Add the new triples before the old ones go, so that an item is never missing."""
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
        await self.reached("bulk_vertices")
        found = await self.change(self.found, graph_iri(namespace), node_of)
        later = [node for node in found if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    def found(self, graph: NamedNode, read: Callable[[NamedNode, Sequence[Quad]], T | None]) -> list[T]:
        """Return the nodes, or the edges, of a graph."""
        subjects: dict[NamedNode, list[Quad]] = {}
        for quad in self.store.quads_for_pattern(None, None, None, graph):
            subjects.setdefault(quad.subject, []).append(quad)
        return [item for subject, quads in subjects.items() if (item := read(subject, quads)) is not None]


def until(cancelled: threading.Event, records: Iterable[T]) -> Iterator[T]:
    """Yield records until the query is cancelled."""
    for record in records:
        if cancelled.is_set():
            return
        yield record


def bound(params: Mapping[str, Any]) -> dict[Variable, Literal]:
    """The parameters as values of variables; the text of the query does not change."""
    try:
        return {Variable(name): term(given) for name, given in params.items()}
    except ValueError:  # a name that no variable can have, or a lone surrogate
        raise invalid("args.params", "must map names of variables to values") from None
