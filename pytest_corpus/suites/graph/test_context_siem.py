"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

import json

import pytest

from pytest_corpus.adapter.hooks.metrics import Count, Observation
from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.capabilities import ASKING
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios import isolation
from pytest_corpus.suites.shared.claims.cancelling import Cancelling as TestCancelling
from pytest_corpus.suites.shared.claims.context import Context as TestContext
from pytest_corpus.suites.shared.claims.context import Observability as TestObservability
from pytest_corpus.suites.shared.claims.context import StreamObservability as TestStreamObservability
from pytest_corpus.suites.shared.claims.labels import Labels as TestLabels
from pytest_corpus.suites.shared.claims.labels import StreamOutcomes as TestStreamOutcomes
from pytest_corpus.suites.shared.claims.labels import StreamTimes as TestStreamTimes
from pytest_corpus.suites.shared.claims.privacy import IdPrivacy as TestIdPrivacy
from pytest_corpus.suites.shared.claims.privacy import Privacy as TestPrivacy
from pytest_corpus.suites.shared.claims.propagation import Propagation as TestPropagation


@pytest.mark.requirement("GRA-OBS-1")
@pytest.mark.parametrize("operation", ASKING)
def test_an_unknown_dialect_is_no_label(graph: Graph, operation: str) -> None:
    """A dialect that a client made up stands in no observation and no counter."""
    graph.require(operation)
    made_up = f"dialect-{canary()}"
    reply = graph.invoke(operation, {**graph.question("group", group=graph.seeds.group), "dialect": made_up})
    unlabelled(reply, made_up, "the dialect that was made up")


@pytest.mark.requirement("GRA-OBS-1")
def test_the_id_of_a_node_is_no_label(graph: Graph) -> None:
    """Ids of nodes stand in no observation of a write, a read or a delete."""
    graph.require("upsert_nodes")
    sandbox, name = graph.sandbox(), canary()
    sandbox.put(sandbox.node(name))
    replies = [sandbox.call("upsert_nodes", {"nodes": [sandbox.node(name)]})]
    if graph.works("traversal"):
        replies.append(sandbox.call("traversal", {"start_nodes": [sandbox.id(name)]}))
    replies.append(sandbox.call("delete_nodes", {"ids": [sandbox.id(name)]}))
    for reply in replies:
        unlabelled(reply, name, "the id of a node")


@pytest.mark.requirement("GRA-OBS-2")
def test_a_namespace_is_no_label(graph: Graph) -> None:
    """A namespace that was asked for stands in no observation of a write, a read or a delete."""
    graph.namespaces()
    sandbox = graph.sandbox()
    replies: list[Reply | StreamReply] = [sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a")]})]
    if graph.works("bulk_vertices"):
        replies.append(sandbox.call("bulk_vertices", {"limit": 5}))
    if graph.works("traversal"):
        replies.append(sandbox.call("traversal", {"start_nodes": [sandbox.id("a")]}))
    if graph.works("query"):
        replies.append(sandbox.call("query", graph.question("group", group=sandbox.group)))
    if graph.works("stream_query"):
        replies.append(sandbox.stream(graph.question("group", group=sandbox.group)))
    replies.append(sandbox.call("delete_nodes", {"ids": [sandbox.id("a")]}))
    for reply in replies:
        unlabelled(reply, str(sandbox.namespace), "a namespace")


@pytest.mark.requirement("COM-TENANT-2")
@pytest.mark.parametrize("operation", ["health", "get_schema"])
def test_a_report_names_nothing_of_another_tenant(graph: Graph, operation: str) -> None:
    """Neither a namespace nor the id of a node of one tenant stands in what is reported to another."""
    graph.require(operation)
    owner, other = isolation.two_tenants(graph, own=True)
    owner.put(owner.node("a"))
    said = json.dumps(expect.success(graph.call(operation, {}, other.ctx), "a report"))
    named = owner.id("a") in said or (owner.namespace is not None and owner.namespace in said)
    expect.that(not named, "nothing of another tenant's", "the name of what it keeps", "result")


def unlabelled(reply: Reply | StreamReply, value: str, what: str) -> None:
    """Nothing that was reported of a call holds a value."""
    reports: tuple[Observation | Count, ...] = (*reply.exchange.observations, *reply.exchange.counts)
    for report in reports:
        written = json.dumps(report.labels(), default=str, ensure_ascii=False)
        expect.that(value not in written, f"no label that holds {what}", "one")
