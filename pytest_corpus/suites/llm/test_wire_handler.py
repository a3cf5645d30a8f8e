"""Canonical envelopes, routing and bad requests (SPECIFICATION 4.2; SCHEMA 3.1)."""

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.envelopes import TestEnvelopes, TestErrors
from pytest_corpus.suites.shared.claims.wire_handler import TestStreamEntryPoint, TestStress, TestWireHandler

pytestmark = pytest.mark.wire
