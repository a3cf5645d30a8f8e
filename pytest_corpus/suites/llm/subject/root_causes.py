"""What explains violations of the LLM component: nothing but what explains them in every component."""

from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.suites.llm.subject.component import LLM

ROOT_CAUSES = RootCauses[LLM]
