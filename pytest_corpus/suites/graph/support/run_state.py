"""The actions of a test in the sandboxes of a graph, and the state that all instances share in a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.run_state import Actions, Shared
from pytest_corpus.suites.graph.support.answers import listed
from pytest_corpus.suites.graph.support.dialects import Dialects
from pytest_corpus.suites.graph.support.written_items import MANY, WRITES, WrittenItems

LOOKING = "looking"
"""The test read back: by a query, a stream, a list of nodes or a traversal."""

SEVERAL_NODES, SEVERAL_EDGES = "several nodes", "several edges"
"""Several were written in one request."""

NODE_AGAIN = "a node again"
"""A node was written under an id that the test had written before."""

IN_A_NAMESPACE = "in a namespace"
"""The test spoke of a namespace of its own."""

LOOKING_FIRST = "looking first"
"""The test looked where it had written no node."""

_SHOWING = ("query", "stream_query", "bulk_vertices", "traversal", "get_schema")
_SEVERAL = {"upsert_nodes": SEVERAL_NODES, "upsert_edges": SEVERAL_EDGES}


@dataclass(slots=True)
class GraphActions(Actions):
    """The operations that a test called in its sandboxes, alone or carried by others, and in which ways."""

    _nodes: set[tuple[Any, ...]] = field(default_factory=set)
    _places: set[tuple[str | None, str | None]] = field(default_factory=set)

    def forget(self) -> None:
        """Begin anew, for another test."""
        Actions.forget(self)
        self._nodes.clear()
        self._places.clear()

    def note(self, name: str, args: Mapping[str, Any], place: tuple[str | None, str | None]) -> None:
        """Note a call of an operation for a tenant and in a namespace."""
        self.done.add(name)
        if place[1] is not None:
            self.done.add(IN_A_NAMESPACE)
        if name in _SHOWING:
            self.done |= {LOOKING} if place in self._places else {LOOKING, LOOKING_FIRST}
        for carried in listed(args, MANY.get(name, "")):
            if isinstance(carried.get("args"), Mapping):
                self.note(str(carried.get("op")).removeprefix("graph."), carried["args"], place)
        items = listed(args, WRITES.get(name, ""))
        if len(items) > 1:
            self.done.add(_SEVERAL[name])
        if name == "upsert_nodes":
            ids = {(*place, str(item.get("id"))) for item in items}
            if ids & self._nodes:
                self.done.add(NODE_AGAIN)
            self._nodes |= ids
            self._places.add(place)


@dataclass(slots=True)
class GraphShared(Shared):
    """The knowledge about an adapter and the items written to it, shared by all its instances."""

    learnt = (
        *Shared.learnt,
        "node_readers",
        "edge_readers",
        "namespaces",
        "tried_namespaces",
        "filters",
        "only_uuids",
        "batch_prefix",
        "edge_kinds",
    )

    dialects: Dialects | None = None
    written_items: WrittenItems = field(default_factory=WrittenItems)
    node_readers: dict[str, bool] | None = None
    edge_readers: dict[str, bool] | None = None
    lasting: set[str] = field(default_factory=set)
    crowded: bool = False
    namespaces: Undecided | None = None
    tried_namespaces: bool = False
    filters: bool | None = None
    only_uuids: bool | None = None
    batch_prefix: str | None = None
    edge_kinds: dict[str, bool] = field(default_factory=dict)
    actions: GraphActions = field(default_factory=GraphActions)
