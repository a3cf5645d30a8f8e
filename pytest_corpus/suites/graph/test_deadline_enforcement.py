"""Deadlines (SPECIFICATION 6.1, 7.3.2; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.deadlines import TestDeadlines, TestNestedDeadlines, TestStreamDeadlines
