"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

import json
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.capabilities import ASKING
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios import isolation
from pytest_corpus.suites.shared.claims.context import TestContext, TestObservability, TestStreamObservability
from pytest_corpus.suites.shared.claims.deadlines import TestCancelling
from pytest_corpus.suites.shared.claims.labels import (
    TestIdPrivacy,
    TestLabels,
    TestPrivacy,
    TestStreamOutcomes,
    TestStreamTimes,
    expect_no_label,
)
from pytest_corpus.suites.shared.claims.propagation import TestPropagation


@pytest.mark.requirement("GRA-OBS-1")
@pytest.mark.parametrize("operation", ASKING)
def test_an_unknown_dialect_is_no_label(graph: Graph, operation: str) -> None:
    """No observation and no counter contains an unknown dialect."""
    graph.require(operation)
    made_up = f"dialect-{canary()}"
    reply = graph.invoke(operation, {**graph.question("group", group=graph.seeds.group), "dialect": made_up})
    expect_no_label(reply, made_up, "the dialect that was made up")


@rules("id_of_a_node GRA-OBS-1, namespace GRA-OBS-2")
def test_what_a_request_names_is_no_label(graph: Graph, requirement: str) -> None:
    """No observation of a write, a read or a delete contains the id of the node or the node's namespace."""
    if requirement == "GRA-OBS-2":
        graph.require_namespaces()
    sandbox, name, replies = cached(graph, "named", lambda: answers_about_a_node(graph))
    namespace = requirement == "GRA-OBS-2"
    value, what = (str(sandbox.namespace), "a namespace") if namespace else (name, "the id of a node")
    for reply in replies:
        expect_no_label(reply, value, what)


@pytest.mark.requirement("COM-TENANT-2")
@pytest.mark.parametrize("operation", ["health", "get_schema"])
def test_a_report_names_nothing_of_another_tenant(graph: Graph, operation: str) -> None:
    """A report to a tenant contains no namespace and no node id of another tenant."""
    graph.require(operation)
    owner, _, report = isolation.report_to_another_tenant(graph, operation)
    said = json.dumps(report)
    named = owner.id("a") in said or (owner.namespace is not None and owner.namespace in said)
    expect.check(not named, "no data of another tenant", "an id or a namespace of another tenant", "result")


def answers_about_a_node(graph: Graph) -> tuple[GraphSandbox, str, list[Reply | StreamReply]]:
    """Write, read and delete a node; return the sandbox, the node's name, and the answers."""
    sandbox, name = graph.sandbox("upsert_nodes"), canary()
    find = graph.question("group", group=sandbox.group) if graph.dialect else {}
    asked: dict[str, dict[str, Any]] = {
        "upsert_nodes": {"nodes": [sandbox.node(name)]},
        "bulk_vertices": {"limit": 5},
        "traversal": {"start_nodes": [sandbox.id(name)]},
        "query": find,
        "delete_nodes": {"ids": [sandbox.id(name)]},
    }
    replies = [sandbox.call(each, args) for each, args in asked.items() if graph.works(each)]
    return sandbox, name, [*replies, *([sandbox.stream(find)] if graph.works("stream_query") else [])]
