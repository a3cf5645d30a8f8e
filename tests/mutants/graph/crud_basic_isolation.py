"""Mistakes that graph/test_crud_basic_isolation.py finds (COM-CACHE, COM-TENANT, GRA-CACHE, GRA-NS)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, digest
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.arguments import Selection
from pytest_corpus.reference.graph.queries import Question
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Graph, Node, Space
from pytest_corpus.reference.graph.writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Result


@catches("COM-TENANT-1")
class TenantsShareData(ReferenceGraph):
    """It keeps one graph for all tenants."""

    def space(self, call: Call) -> Space:
        return self.tenants.get(None) or super().space(call)

    def commit(self, call: Call, draft: Space) -> None:
        super().commit(call, draft)
        self.tenants[None] = draft


@catches("COM-TENANT-1")
class BatchesAreShared(ReferenceGraph):
    """It writes what comes by a batch for every tenant."""

    def commit(self, call: Call, draft: Space) -> None:
        super().commit(call, draft)
        if call.op == "batch":
            for tenant in self.tenants:
                self.tenants[tenant] = {namespace: graph.draft() for namespace, graph in draft.items()}


@catches("COM-TENANT-1")
class DeletesCrossTenants(ReferenceGraph):
    """It deletes the nodes of every tenant."""

    async def delete_nodes(self, call: Call) -> Result:
        result = await super().delete_nodes(call)
        change = self.read_change(call.op, call.args)
        for space in self.tenants.values():
            change(space)
        return result


@catches("COM-TENANT-1")
class TraversalsCrossTenants(ReferenceGraph):
    """It traverses the graphs of all tenants where the caller's own has no such node."""

    async def traversal(self, call: Call) -> Result:
        try:
            return await super().traversal(call)
        except AdapterError as error:
            if error.kind.name not in ("VertexNotFound", "NamespaceNotFound"):
                raise
        for tenant in [*self.tenants]:
            call.tenant_hash = tenant
            try:
                return await super().traversal(call)
            except AdapterError:
                continue
        raise AdapterError("VertexNotFound", "A start node does not exist")


@catches("COM-CACHE-1")
class CacheIsShared(ReferenceGraph):
    """It caches queries for all tenants together."""

    def cache_key(self, call: Call, question: Question) -> str | None:
        return digest([question.dialect, call.args.values])


@catches("GRA-NS-1")
class StreamsReadAll(ReferenceGraph):
    """It streams the records of all namespaces."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        space = self.space(call)
        merged = Graph()
        for graph in space.values():
            merged.nodes |= graph.nodes
            merged.edges |= graph.edges
        self.tenants[call.tenant_hash] = dict.fromkeys(space, merged)
        try:
            chunks = [chunk async for chunk in super().stream_query(call)]
        finally:
            self.tenants[call.tenant_hash] = space
        for chunk in chunks:
            yield chunk


@catches("GRA-NS-1")
class IdsAreGlobal(ReferenceGraph):
    """It keeps one node of an id: writing it elsewhere moves it there."""

    def store(self, space: Space, entities: Any, put: Callable[[Graph, Any], None]) -> Outcome:
        outcome = super().store(space, entities, put)
        for entity in entities:
            for namespace, graph in space.items():
                if isinstance(entity, Node) and namespace != entity.namespace:
                    graph.nodes.pop(entity.id, None)
                    for edge in [edge for edge in graph.edges.values() if entity.id in (edge.src, edge.dst)]:
                        del graph.edges[edge.id]
        return outcome


@catches("GRA-NS-2")
class DeletesEverywhere(ReferenceGraph):
    """It deletes nodes in all namespaces."""

    def delete(self, space: Space, selection: Selection, remove: Callable[[Graph, Selection], int]) -> Outcome:
        outcome = super().delete(space, selection, remove)
        for graph in space.values():
            if remove == self.remove_nodes:
                remove(graph, selection)
        return outcome


@catches("GRA-NS-3")
class ItemNamespaceIgnored(ReferenceGraph):
    """It looks for `namespace` beside the items only."""

    def read_item_namespace(self, args: Fields, item: Fields) -> str:
        super().read_item_namespace(args, item)
        return self.read_namespace(args)


@catches("GRA-NS-4")
class TraversalOfUnknownIsDown(ReferenceGraph):
    """It fails on a traversal in a namespace that it does not know."""

    async def traversal(self, call: Call) -> dict[str, Any]:
        self.space(call)[self.read_namespace(call.args)]
        return await super().traversal(call)


@catches("GRA-NS-4")
class UnknownNamespaceIsDefault(ReferenceGraph):
    """It reads the default namespace where it does not know the one that is asked for."""

    def graph(self, space: Space, namespace: str) -> Graph:
        return super().graph(space, namespace if namespace in space else DEFAULT_NAMESPACE)


@catches("GRA-NS-5")
class DeleteEdgesInUnknownIsDown(ReferenceGraph):
    """It fails on a delete of edges in a namespace that it does not know."""

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        self.space(call)[self.read_namespace(call.args)]
        return await super().delete_edges(call)


@catches("GRA-NS-1")
class NamespacesAreOne(ReferenceGraph):
    """It checks the namespace and keeps everything in one."""

    def read_namespace(self, args: Fields) -> str:
        super().read_namespace(args)
        return DEFAULT_NAMESPACE


@catches("GRA-CACHE-1", others=4)
class CacheKeyHasNoNamespace(ReferenceGraph):
    """It caches answers by text and parameters, whichever namespace they come from."""

    def cache_key(self, call: Call, question: Question) -> str | None:
        return digest([call.tenant_hash, question.dialect, call.args.values["text"], question.params])
