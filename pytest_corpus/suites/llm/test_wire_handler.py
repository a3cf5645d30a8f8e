"""Canonical envelopes, routing and bad requests (SPECIFICATION 4.2; SCHEMA 3.1)."""

from __future__ import annotations

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.envelopes import Envelopes, Errors
from pytest_corpus.suites.common.claims.stress import Stress
from pytest_corpus.suites.common.claims.wire_handler import StreamEntryPoint, WireHandler

pytestmark = pytest.mark.wire


class TestWireHandler(WireHandler):
    """Routing and bad requests."""


class TestEnvelopes(Envelopes):
    """Unary successes."""


class TestStress(Stress):
    """Under load."""


class TestErrors(Errors):
    """Error envelopes."""


class TestStreamEntryPoint(StreamEntryPoint):
    """`handle_stream` and what does not belong there."""
