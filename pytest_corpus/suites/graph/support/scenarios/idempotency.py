"""Idempotency keys, proved by content (SPECIFICATION 6.1; R24, R126)."""

from typing import Any

from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.written_items import MANY

MUTATING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", *MANY)


class Write:
    """One write of a kind in a place: of the node `a` or of the edge `e` from `a` to `b`.

    Attributes:
        args: its arguments.
    """

    def __init__(self, graph: Graph, sandbox: Sandbox, name: str) -> None:
        graph.require(name, "upsert_nodes")
        self._sandbox, self._name = sandbox, name
        self._of_edges, self._deletes = name.endswith("edges"), name.startswith("delete")
        self._kind = "edges" if self._of_edges else "nodes"
        graph.require(f"upsert_{self._kind}", f"delete_{self._kind}")
        value = f"v-{sandbox.tag}-written"  # the same in two places of one tag
        self._item = sandbox.edge("a", "b", "e", corpus_value=value) if self._of_edges else sandbox.node("a", value)
        self._target = sandbox.put_named("ab")["b"] if self._of_edges else ""
        if self._deletes:
            self._put()
        self.args: dict[str, Any] = (
            {"ids": [self._item["id"]]} if self._deletes else sandbox.writing(name, self._kind, self._item)
        )

    def _put(self) -> None:
        put = self._sandbox.link if self._of_edges else self._sandbox.put
        put(self._item)

    def undo(self) -> None:
        """Delete what it writes, or write again what it deletes."""
        if self._deletes:
            self._put()
        else:
            self._sandbox.remove(self._kind, "e" if self._of_edges else "a")

    def shows(self, claim: str, *, done: bool) -> None:
        """The place is as it was left by the write, or not."""
        there = done is not self._deletes
        if self._of_edges:
            self._sandbox.one_leads("a", {"b": self._target} if there else (), claim)
        else:
            self._sandbox.one_shows([value_of(self._item)] if there else [], claim)
