"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.deadlines import TestDeadlines, TestStreamDeadlines
