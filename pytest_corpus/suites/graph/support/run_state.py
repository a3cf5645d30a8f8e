"""The state that all instances of a graph share in a run: actions in sandboxes, and texts of probe queries (R33)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.run_state import Actions, Shared
from pytest_corpus.spec.dialects import Dialect
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.text.values import strings_of

WRITES = {"upsert_nodes": "nodes", "upsert_edges": "edges"}

MANY = {"batch": "ops", "transaction": "operations"}
"""The operations that contain other operations, and the argument that holds the list of operations."""

UNKNOWN = Dialect("", {}, certain=False)
"""A dialect that the suite does not know."""

BASIC = ("find", "group")
"""The queries that any adapter of a dialect must answer."""


class Dialects:
    """The listed dialects that the suite knows, and for each query the first spelling that the adapter accepts."""

    def __init__(self, listed: tuple[str, ...], table: Mapping[str, Dialect]) -> None:
        self.listed, self._table = listed, table
        self.known = tuple(name for name in listed if name.lower() in table)
        self._taken: dict[tuple[str, str], str] = {}
        self._refused: dict[tuple[str, str], list[Reply]] = {}

    def row(self, dialect: str) -> Dialect:
        """Return the probe queries of a dialect; none for a dialect that the suite does not know."""
        return self._table.get(dialect.lower(), UNKNOWN)

    def texts(self, purpose: str, dialect: str) -> tuple[str, ...]:
        """Return every spelling of a query."""
        return self.row(dialect).spellings.get(purpose, ())

    def was_tried(self, purpose: str, dialect: str) -> bool:
        """True if the spellings of a query were tried, with or without success."""
        return (dialect, purpose) in self._taken

    def attempt(self, purpose: str, dialect: str, attempt: Callable[[str], Reply]) -> tuple[str, list[Reply]]:
        """Return the first accepted spelling. If all are refused, return the most usual one and the refusals.

        Args:
            attempt: sends a query with this text.
        """
        texts, refused = self.texts(purpose, dialect), list[Reply]()
        for text in texts:
            reply = attempt(text)
            if not reply.is_a("BadRequest", "NotSupported"):
                return text, []
            refused.append(reply)
        return (texts[0] if texts else ""), refused

    def keep(self, purpose: str, dialect: str, text: str, refused: list[Reply]) -> None:
        """Keep the result of an attempt."""
        self._taken[dialect, purpose], self._refused[dialect, purpose] = text, refused

    def forget(self, purpose: str, dialect: str) -> None:
        """Forget the result of an attempt."""
        self._taken.pop((dialect, purpose), None)

    def text(self, purpose: str, dialect: str) -> str:
        """Return the spelling of a query that `attempt` found."""
        return self._taken[dialect, purpose]

    def obstacle(self, purpose: str, dialect: str) -> Undecided | None:
        """Return the reason why a tried query is not possible; None if it is possible."""
        refused = self._refused.get((dialect, purpose))
        if not self._taken.get((dialect, purpose)):
            return NotAssessed(Obstacle.NO_QUERY, purpose=purpose, dialect=dialect)
        if not refused:
            return None
        if purpose in BASIC and self.row(dialect).certain and all(reply.is_a("BadRequest") for reply in refused):
            return Blocked("GRA-QUERY-1", f"every spelling of a plain {dialect} query is refused: {refused[0]}")
        if purpose in BASIC and all(reply.is_a("NotSupported") for reply in refused):
            return Blocked(
                "GRA-DIALECT-2", f"{dialect} is listed, but a plain query in it is answered with {refused[0]}"
            )
        if purpose not in BASIC and all(reply.is_a("NotSupported") for reply in refused):
            return NotApplicable(f"the probe query {purpose!r} is not supported")
        return NotAssessed(Obstacle.NO_SPELLING, purpose=purpose)


LOOKING = "looking"
"""The test read written data by a query, a stream, a list of nodes or a traversal."""

SEVERAL_NODES, SEVERAL_EDGES = "several nodes", "several edges"
"""Several nodes, or edges, were written in one request."""

NODE_AGAIN = "a node again"
"""A node was written under an id that the test had written before."""

IN_A_NAMESPACE = "in a namespace"
"""The test named a namespace."""

LOOKING_FIRST = "looking first"
"""The test read a place to which it had not written."""

ODD_TEXT = "odd text"
"""A property, a filter or a parameter had a long text, or one with unusual characters."""

_PLAIN = re.compile(r"[\w :.-]{0,100}", re.ASCII)
_SHOWING = ("query", "stream_query", "bulk_vertices", "traversal", "get_schema")
_SEVERAL = {"upsert_nodes": SEVERAL_NODES, "upsert_edges": SEVERAL_EDGES}


@dataclass(slots=True)
class GraphActions(Actions):
    """The operations that a test called in its sandboxes, alone or in batches, and facts such as `LOOKING_FIRST`."""

    _nodes: set[tuple[Any, ...]] = field(default_factory=set)
    _places: set[tuple[str | None, str | None]] = field(default_factory=set)

    def forget(self) -> None:
        """Forget the actions and places, before another test begins."""
        Actions.forget(self)
        self._nodes.clear()
        self._places.clear()

    def note(self, name: str, args: Mapping[str, Any], place: tuple[str | None, str | None]) -> None:
        """Record a call of an operation; `place` is a pair of tenant and namespace."""
        self.done.add(name)
        if place[1] is not None:
            self.done.add(IN_A_NAMESPACE)
        if name in _SHOWING:
            self.done |= {LOOKING} if place in self._places else {LOOKING, LOOKING_FIRST}
        for carried in items_of(args, MANY.get(name, "")):
            if isinstance(carried.get("args"), Mapping):
                self.note(str(carried.get("op")).removeprefix("graph."), carried["args"], place)
        items = items_of(args, WRITES.get(name, ""))
        if not all(map(_PLAIN.fullmatch, strings_of([items, args.get("filter"), args.get("params")]))):
            self.done.add(ODD_TEXT)
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
    """The knowledge about an adapter and the items written to it, shared by all its instances.

    Attributes:
        crowded: True if a quota was used up, and nothing could be deleted.
        edges_go: True if the adapter deletes edges with their nodes.
        takes_long_lists: True if no delete of many ids was refused.
    """

    learnt = (
        *Shared.learnt,
        "node_readers",
        "edge_readers",
        "namespaces",
        "tried_namespaces",
        "filters",
        "batch_prefix",
        "edge_kinds",
    )

    dialects: Dialects | None = None
    node_readers: dict[str, bool] | None = None
    edge_readers: dict[str, bool] | None = None
    seeded: WeakKeyDictionary[AdapterClient, set[tuple[str | None, int]]] = field(default_factory=WeakKeyDictionary)
    crowded: bool = False
    edges_go: bool = False
    takes_long_lists: bool = True
    namespaces: Undecided | None = None
    tried_namespaces: bool = False
    filters: bool | None = None
    batch_prefix: str | None = None
    edge_kinds: dict[str, bool] = field(default_factory=dict)
    actions: GraphActions = field(default_factory=GraphActions)
