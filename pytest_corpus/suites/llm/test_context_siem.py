"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

import pytest

from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.shared.claims.cancelling import Cancelling as TestCancelling
from pytest_corpus.suites.shared.claims.context import Context as TestContext
from pytest_corpus.suites.shared.claims.context import Observability as TestObservability
from pytest_corpus.suites.shared.claims.context import StreamObservability as TestStreamObservability
from pytest_corpus.suites.shared.claims.labels import Labels as TestLabels
from pytest_corpus.suites.shared.claims.labels import StreamOutcomes as TestStreamOutcomes
from pytest_corpus.suites.shared.claims.labels import StreamTimes as TestStreamTimes
from pytest_corpus.suites.shared.claims.privacy import Privacy as TestPrivacy
from pytest_corpus.suites.shared.claims.propagation import Propagation as TestPropagation


@pytest.mark.requirement("COM-OBS-13")
@pytest.mark.parametrize("name", ["complete", "stream", "count_tokens"])
def test_an_unknown_model_is_no_label(llm: LLM, name: str) -> None:
    """A model that a client made up does not become a label."""
    llm.require(name)

    def ask() -> dict[str, Reply | StreamReply]:
        model = llm.unknown_model()
        hidden = {"model": model.rpartition("-")[2]}
        working = llm.working(("complete", "stream", "count_tokens"))
        return {op: llm.invoke(op, {**llm.requests.minimal(op), "model": model}, secrets=hidden) for op in working}

    holds("COM-OBS-13", cached(llm, "an unknown model", ask)[name], llm)
