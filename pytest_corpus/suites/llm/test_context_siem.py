"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from __future__ import annotations

import pytest

from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.cancelling import Cancelling
from pytest_corpus.suites.common.claims.context import Context, Observability, StreamObservability
from pytest_corpus.suites.common.claims.labels import Labels, StreamOutcomes, StreamTimes
from pytest_corpus.suites.common.claims.privacy import Privacy
from pytest_corpus.suites.common.claims.propagation import Propagation
from pytest_corpus.suites.llm.subject.component import LLM, llm


class TestContext(Context):
    """What is read from `ctx`."""


class TestObservability(Observability):
    """Unary operations."""


class TestStreamObservability(StreamObservability):
    """Streams."""


class TestCancelling(Cancelling):
    """Calls that nobody waits for any more."""


class TestLabels(Labels):
    """Hashes, times and buckets."""


class TestStreamTimes(StreamTimes):
    """Times of streams."""


class TestStreamOutcomes(StreamOutcomes):
    """The outcome of a stream."""


class TestPropagation(Propagation):
    """What the provider is told of the context."""


class TestPrivacy(Privacy):
    """Content, tenants, keys and provider texts."""


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
