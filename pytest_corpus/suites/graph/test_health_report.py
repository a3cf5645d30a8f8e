"""Health (SPECIFICATION 7.6; R35)."""

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.capabilities import TestHealth
