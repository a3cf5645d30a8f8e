"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from __future__ import annotations

import json

import pytest

from pytest_corpus.adapter.hooks.metrics import Count, Observation
from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.common.claims.context import Context, Observability, Privacy, StreamObservability
from pytest_corpus.suites.graph.component import ASKING, Graph, graph


class TestContext(Context):
    """What is read from `ctx`."""


class TestObservability(Observability):
    """Unary operations."""


class TestStreamObservability(StreamObservability):
    """Streams."""


class TestPrivacy(Privacy):
    """Content, tenants, keys and provider texts."""


@pytest.mark.requirement("GRA-OBS-1")
@pytest.mark.parametrize("door", ASKING)
def test_an_unknown_dialect_is_no_label(graph: Graph, door: str) -> None:
    """A dialect that a client made up stands in no observation and no counter."""
    graph.require(door)
    made_up = f"dialect-{graph.canary()}"
    reply = graph.invoke(door, {**graph.question("group", group=graph.seeds.group), "dialect": made_up})
    unlabelled(reply, made_up, "the dialect that was made up")


@pytest.mark.requirement("GRA-OBS-1")
def test_the_id_of_a_node_is_no_label(graph: Graph) -> None:
    """Ids of nodes stand in no observation of a write, a read or a delete."""
    graph.require("upsert_nodes")
    home, name = graph.space(), graph.canary()
    home.put(home.node(name))
    replies = [home.call("upsert_nodes", {"nodes": [home.node(name)]})]
    if graph.offers("traversal"):
        replies.append(home.call("traversal", {"start_nodes": [home.id(name)]}))
    replies.append(home.call("delete_nodes", {"ids": [home.id(name)]}))
    for reply in replies:
        unlabelled(reply, name, "the id of a node")


@pytest.mark.requirement("GRA-OBS-2")
def test_a_namespace_is_no_label(graph: Graph) -> None:
    """A namespace that was asked for stands in no observation of a write, a read or a delete."""
    graph.namespaces()
    home = graph.space()
    replies: list[Reply | StreamReply] = [home.call("upsert_nodes", {"nodes": [home.node("a")]})]
    if graph.offers("bulk_vertices"):
        replies.append(home.call("bulk_vertices", {"limit": 5}))
    if graph.offers("traversal"):
        replies.append(home.call("traversal", {"start_nodes": [home.id("a")]}))
    if graph.offers("query"):
        replies.append(home.call("query", graph.question("group", group=home.group)))
    if graph.offers("stream_query"):
        replies.append(home.stream(graph.question("group", group=home.group)))
    replies.append(home.call("delete_nodes", {"ids": [home.id("a")]}))
    for reply in replies:
        unlabelled(reply, str(home.namespace), "a namespace")


def unlabelled(reply: Reply | StreamReply, value: str, what: str) -> None:
    """Nothing that was reported of a call holds a value."""
    reports: tuple[Observation | Count, ...] = (*reply.exchange.observations, *reply.exchange.counts)
    for report in reports:
        told = json.dumps(report.labels(), default=str, ensure_ascii=False)
        expect.that(value not in told, f"no label that holds {what}", "one")
