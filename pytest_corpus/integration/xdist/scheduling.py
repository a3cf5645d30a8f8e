"""The distribution of tests in a run whose workers begin while others still collect."""

from collections.abc import Sequence
from typing import Any

from xdist.scheduler import WorkStealingScheduling


class EagerScheduling(WorkStealingScheduling):  # type: ignore[misc]
    """Gives each worker one part of the tests once it has collected; one that is done takes tests of another part."""

    def __init__(self, config: Any, log: Any) -> None:
        super().__init__(config, log)
        self._collecting: set[Any] = set()
        self._parts = 0

    @property
    def nodes(self) -> list[Any]:
        """All workers, of which some may still collect."""
        return [*super().nodes, *self._collecting]

    @property
    def collection_is_completed(self) -> bool:
        """True if one worker has collected."""
        return bool(self.node2collection)

    def add_node(self, node: Any) -> None:
        """Note a worker that begins to collect."""
        self._collecting.add(node)

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Let a worker run tests, unless it has collected others than the first one."""
        self._collecting.discard(node)
        if self.collection is not None and list(collection) != self.collection:
            self.node2collection[node] = list(collection)
            self._check_nodes_have_same_collection()  # reports the difference as an error
            del self.node2collection[node]
            node.shutdown()
            return
        super().add_node(node)
        super().add_node_collection(node, collection)

    def schedule(self) -> None:
        """Hand out tests; from now on the state of workers would be written over the results on a terminal."""
        if (terminal := self.config.pluginmanager.get_plugin("terminaldistreporter")) is not None:
            terminal._isatty = False
        super().schedule()

    def remove_node(self, node: Any) -> str | None:
        """Forget a worker; return the test that it ran when it crashed."""
        if node in self._collecting:
            self._collecting.remove(node)
            return None
        crashed: str | None = super().remove_node(node)
        return crashed

    def _send_tests(self, node: Any, num: int) -> None:
        parts = max(1, self.numnodes - self._parts)
        self._parts += 1
        super()._send_tests(node, min(num, max(1, len(self.pending) // parts)))
