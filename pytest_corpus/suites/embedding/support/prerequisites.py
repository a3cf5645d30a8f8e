"""The prerequisites of a test of embeddings."""

from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.spec.errors import MODEL_ERRORS
from pytest_corpus.suites.embedding.support.texts import Texts


class EmbeddingPrerequisites(Prerequisites):
    """Embedding needs a model that is known."""

    def __init__(self, texts: Texts) -> None:
        super().__init__(texts)
        self._texts = texts

    def obstacle(self, name: str) -> Undecided | None:
        obstacle = super().obstacle(name)
        if (
            isinstance(obstacle, Blocked)
            and not self._texts.capabilities.models
            and "model" in self._texts.requests.minimal(name)
        ):
            reply = self._texts.invoke(name)
            if reply.is_a(*MODEL_ERRORS):
                return NotAssessed("capabilities list no models, and none is known that could be asked for")
        return obstacle
