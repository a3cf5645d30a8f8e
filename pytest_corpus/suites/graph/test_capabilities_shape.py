"""Capabilities and their truth (SPECIFICATION 6.2, 7.3.3; BEHAVIORAL_CONFORMANCE 5.2; R22, R23)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.judgement import look_at_capabilities
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.shared.claims.capabilities import TestCapabilities, TestConsistency, TestStreamingClaim


@pytest.mark.requirement("GRA-CAP-1")
def test_the_operations_of_batches_are_advertised(graph: Graph) -> None:
    """A list under `extensions` names the operations that batches accept."""
    graph.require("batch")
    look_at_capabilities(graph.capabilities)
    extensions = graph.capabilities.document.get("extensions")
    lists = [value for value in extensions.values() if isinstance(value, list)] if isinstance(extensions, dict) else []
    named = any(str(name).endswith(("nodes", "query")) for value in lists for name in value)
    expect.check(named, "the operations of batches", "no list of operations", "result.extensions")


@pytest.mark.requirement("GRA-CAP-2")
def test_the_size_of_batches_is_stated(graph: Graph) -> None:
    """`max_batch_ops` is stated if batches are offered."""
    look_at_capabilities(graph.capabilities)
    expect.applicable(graph.capabilities.flag("supports_batch") is True, "batches are not claimed")
    is_right = graph.capabilities.raw("max_batch_ops") is not None
    expect.check(is_right, "a number", "no number", "result.limits.max_batch_ops")
