"""Canonical envelopes, routing and bad requests (SPECIFICATION 4.2; SCHEMA 3.1)."""

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.shared.claims.envelopes import Envelopes as TestEnvelopes
from pytest_corpus.suites.shared.claims.envelopes import Errors as TestErrors
from pytest_corpus.suites.shared.claims.wire_handler import StreamEntryPoint as TestStreamEntryPoint
from pytest_corpus.suites.shared.claims.wire_handler import Stress as TestStress
from pytest_corpus.suites.shared.claims.wire_handler import WireHandler as TestWireHandler

pytestmark = pytest.mark.wire
