"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.llm.support.component import llm
from pytest_corpus.suites.shared.claims.capabilities import ModelLabels as TestModelLabels
from pytest_corpus.suites.shared.claims.context import Context as TestContext
from pytest_corpus.suites.shared.claims.context import Observability as TestObservability
from pytest_corpus.suites.shared.claims.context import StreamObservability as TestStreamObservability
from pytest_corpus.suites.shared.claims.deadlines import Cancelling as TestCancelling
from pytest_corpus.suites.shared.claims.labels import Labels as TestLabels
from pytest_corpus.suites.shared.claims.labels import Privacy as TestPrivacy
from pytest_corpus.suites.shared.claims.labels import StreamOutcomes as TestStreamOutcomes
from pytest_corpus.suites.shared.claims.labels import StreamTimes as TestStreamTimes
from pytest_corpus.suites.shared.claims.propagation import Propagation as TestPropagation
