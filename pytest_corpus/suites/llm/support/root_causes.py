"""The root causes of the LLM component: only the common ones."""

from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.suites.llm.support.component import LLM

ROOT_CAUSES = RootCauses[LLM]
