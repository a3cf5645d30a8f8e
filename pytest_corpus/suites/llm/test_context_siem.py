"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.llm.support.component import llm
from pytest_corpus.suites.shared.claims.capabilities import TestModelLabels
from pytest_corpus.suites.shared.claims.context import TestContext, TestObservability, TestStreamObservability
from pytest_corpus.suites.shared.claims.deadlines import TestCancelling
from pytest_corpus.suites.shared.claims.labels import TestLabels, TestPrivacy, TestStreamOutcomes, TestStreamTimes
from pytest_corpus.suites.shared.claims.propagation import TestPropagation
