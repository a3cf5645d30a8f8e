"""The root causes of the embedding component, which has none besides the common ones."""

from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.suites.embedding.support.component import Embedding

ROOT_CAUSES = RootCauses[Embedding]
