"""The prerequisites of a test of a graph."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.suites.graph.support.answers import failures, listed
from pytest_corpus.suites.graph.support.capabilities import ASKING, GraphCapabilities
from pytest_corpus.suites.graph.support.written_items import MANY

NAMING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", "traversal", *MANY)
"""The operations whose plain requests hold ids."""

ANY_ID = "GRA-NODE-12"
"""The requirement that says that any text is an id."""


class GraphPrerequisites(Prerequisites):
    """Queries need a listed dialect that the suite knows, and what holds ids needs ids that are taken."""

    def __init__(self, graph: GraphCapabilities) -> None:
        super().__init__(graph)
        self._graph = graph

    def claimed(self, name: str) -> bool | None:
        return False if name in ASKING and self._graph.dialect is None else super().claimed(name)

    def obstacle(self, name: str) -> Undecided | None:
        if name in ASKING and (self._graph.dialect is None or not self.denies(name)):
            try:
                self._graph.speaks("group")
            except Undecided as obstacle:
                return obstacle
        return super().obstacle(name)

    def excuse(self, name: str, reply: Reply | StreamReply) -> Undecided | None:
        if name == "bulk_vertices" and reply.is_a("BadRequest", "NotSupported"):
            return NotApplicable("bulk_vertices refuses to list nodes; it may import them (R123)")
        if name in NAMING and is_refused(reply) and self.takes_only_uuids():
            return Blocked(ANY_ID, "only ids that are UUIDs are taken")
        return None

    def takes_only_uuids(self) -> bool:
        """Return whether a node is refused, and taken as soon as its id is a UUID; tried once a run."""

        def found() -> bool:
            plain = self._graph.plain_nodes()
            named = {"nodes": [{**plain["nodes"][0], "id": uuid_of(self._graph.settings.run)}]}
            return is_refused(self._upserted(plain)) and not is_refused(self._upserted(named))

        return self._graph.shared.once("only_uuids", found)

    def _upserted(self, args: Mapping[str, Any]) -> Reply:
        with self._graph.client.provider.paused():
            return self._graph.call("upsert_nodes", args)


def is_refused(reply: Reply | StreamReply) -> bool:
    """Return whether a request is refused, or an item of it is."""
    result = reply.result if isinstance(reply, Reply) else None
    return (
        reply.is_error or bool(failures(result)) or any(each.get("ok") is False for each in listed(result, "results"))
    )
