"""The prerequisites of a test of a vector store."""

from pytest_corpus.kit.outcomes import Blocked, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities


class VectorPrerequisites(Prerequisites):
    """Plain requests need the namespaces that are made for them.

    `met` tells why something could not be made.
    """

    def __init__(self, vector: VectorCapabilities) -> None:
        super().__init__(vector)
        self.met: list[Undecided] = []

    def claimed(self, name: str) -> bool | None:
        """Namespaces can be created and deleted with either of two capabilities (R22)."""
        if name not in ("create_namespace", "delete_namespace"):
            return super().claimed(name)
        said = {self._calls.capabilities.flag(flag) for flag in ("supports_namespaces", "supports_index_management")}
        return True if True in said else False if False in said else None

    def obstacle(self, name: str) -> Undecided | None:
        obstacle = super().obstacle(name)
        return self.met[0] if isinstance(obstacle, Blocked) and self.met else obstacle
