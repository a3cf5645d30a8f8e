"""From provider failures to the taxonomy (ERRORS 4, 6.4, 8; SPECIFICATION 12)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.faults import TestFaults, TestStreamFaults
from pytest_corpus.suites.shared.claims.replays import TestLateReplays
