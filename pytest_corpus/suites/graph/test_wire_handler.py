"""Canonical envelopes, routing and bad requests (SPECIFICATION 4.2; SCHEMA 3.1)."""

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.envelopes import Envelopes as TestEnvelopes
from pytest_corpus.suites.common.claims.envelopes import Errors as TestErrors
from pytest_corpus.suites.common.claims.stress import Stress as TestStress
from pytest_corpus.suites.common.claims.wire_handler import StreamEntryPoint as TestStreamEntryPoint
from pytest_corpus.suites.common.claims.wire_handler import WireHandler as TestWireHandler

pytestmark = pytest.mark.wire
