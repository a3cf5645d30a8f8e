"""Graphs of which one operation alone shows what is no longer there."""

from typing import Any

from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.queries import GraphQuestion
from pytest_corpus.reference.graph.store import NamespaceGraph, Node, Space
from pytest_corpus.reference.request import Call

Gone = dict[tuple[str | None, str], dict[str, Node]]
"""Nodes that are not there, by tenant hash and namespace."""


class Ghosts(ReferenceGraph):
    """Keeps nodes that are not there for one operation to show."""

    reader = "query"

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.gone: Gone = {}

    def haunt(self, call: Call, before: Space, after: Space) -> None:
        """Keep the nodes that are in one state and not in the other."""
        for namespace, graph in before.items():
            left = after.get(namespace, NamespaceGraph()).nodes
            lost = {name: node for name, node in graph.nodes.items() if name not in left}
            self.gone.setdefault((call.tenant_hash, namespace), {}).update(lost)

    def space(self, call: Call) -> Space:
        found = super().space(call)
        if call.op != self.reader:
            return found
        shown = {namespace: graph.draft() for namespace, graph in found.items()}
        for (tenant, namespace), nodes in self.gone.items():
            if tenant == call.tenant_hash and namespace in shown:
                shown[namespace].nodes = {**nodes, **shown[namespace].nodes}
        return shown

    def cache_key(self, call: Call, question: GraphQuestion) -> None:
        """No answer is kept."""


class FilteredStay(Ghosts):
    """Shows nodes that a delete with a filter removed."""

    async def delete_nodes(self, call: Call) -> dict[str, Any]:
        before = ReferenceGraph.space(self, call)  # a write replaces it
        result = await super().delete_nodes(call)
        if "filter" in call.args.values:
            self.haunt(call, before, ReferenceGraph.space(self, call))
        return result


class RolledBackStays(Ghosts):
    """Shows nodes of transactions that were not committed."""

    def draft(self, call: Call) -> Space:
        self.drafted = super().draft(call)
        return self.drafted

    async def transaction(self, call: Call) -> dict[str, Any]:
        result = await super().transaction(call)
        if not result["success"]:
            self.haunt(call, self.drafted, ReferenceGraph.space(self, call))
        return result


def _of(kind: type[Ghosts], reader: str) -> type[Ghosts]:
    return type(f"{kind.__name__}_{reader}", (kind,), {"reader": reader, "__module__": __name__})


for _kind in (FilteredStay, RolledBackStays):
    for _reader in ("query", "stream_query", "bulk_vertices"):
        globals()[f"{_kind.__name__}_{_reader}"] = _of(_kind, _reader)
