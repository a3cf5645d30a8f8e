"""From provider failures to the taxonomy (ERRORS 4, 6.4, 8; SPECIFICATION 12)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.faults import Faults as TestFaults
from pytest_corpus.suites.common.claims.faults import StreamFaults as TestStreamFaults
