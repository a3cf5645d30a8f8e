"""What explains violations of the embedding component: nothing but what explains them in every component."""

from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.suites.embedding.subject.component import Embedding

ROOT_CAUSES = RootCauses[Embedding]
