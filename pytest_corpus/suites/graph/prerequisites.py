"""What a test of a graph may rely on."""

from __future__ import annotations

from pytest_corpus.kit.outcomes import Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.suites.graph.capabilities import ASKING, GraphCapabilities


class GraphPrerequisites(Prerequisites):
    """Queries need a listed dialect that the suite knows."""

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
