"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

import pytest

from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.cancelling import Cancelling as TestCancelling
from pytest_corpus.suites.common.claims.context import Context as TestContext
from pytest_corpus.suites.common.claims.context import Observability as TestObservability
from pytest_corpus.suites.common.claims.context import StreamObservability as TestStreamObservability
from pytest_corpus.suites.common.claims.labels import Labels as TestLabels
from pytest_corpus.suites.common.claims.labels import StreamOutcomes as TestStreamOutcomes
from pytest_corpus.suites.common.claims.labels import StreamTimes as TestStreamTimes
from pytest_corpus.suites.common.claims.privacy import Privacy as TestPrivacy
from pytest_corpus.suites.common.claims.propagation import Propagation as TestPropagation
from pytest_corpus.suites.llm.subject.component import LLM, llm


@pytest.mark.requirement("COM-OBS-13")
@pytest.mark.parametrize("name", ["complete", "stream", "count_tokens"])
def test_an_unknown_model_is_no_label(llm: LLM, name: str) -> None:
    """A model that a client made up does not become a label."""
    llm.require(name)
    model = llm.unknown_model()
    reply = llm.invoke(
        name, {**llm.requests.minimal(name), "model": model}, secrets={"model": model.rpartition("-")[2]}
    )
    holds("COM-OBS-13", reply, llm)
