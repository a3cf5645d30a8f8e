"""Writes that are sent again with their idempotency key (SPECIFICATION 6.1; R26, R45)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.answers import failures, listed
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.scenarios import idempotency
from pytest_corpus.suites.graph.support.scenarios.isolation import tenants
from pytest_corpus.suites.graph.support.written_items import MANY
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.contexts import new_key, require_tenants


@pytest.mark.core
@pytest.mark.requirement("COM-IDEM-3")
@pytest.mark.parametrize(
    ("name", "where"),
    [
        *((name, "default") for name in idempotency.MUTATING),
        ("upsert_nodes", "tenant"),
        ("delete_nodes", "namespace"),
        ("batch", "namespace"),
        ("transaction", "tenant"),
    ],
)
def test_a_replay_changes_nothing(graph: Graph, name: str, where: str) -> None:
    """The same write with the same key, after another one, leaves what is there and answers as before."""
    graph.require(name)
    if where == "namespace":
        graph.namespaces(aside=True)
    tenant = f"tenant-{canary()}" if where == "tenant" else None
    sandbox = graph.sandbox(tenant=tenant, own=where == "namespace")
    args, other, shows = idempotency.rivals(graph, sandbox, name)
    key = new_key()
    first = sandbox.call(name, args, key)
    expect.success(first, "a write with an idempotency key to work")
    other()
    again = sandbox.call(name, args, key)
    expect.success(again, "a replay to succeed")
    shows()
    replays.answers_again(first, again)


@pytest.mark.requirement("COM-IDEM-3")
@pytest.mark.parametrize("name", ["upsert_edges", *MANY])
def test_a_replay_has_the_failures_of_the_first_call(graph: Graph, name: str) -> None:
    """A write of which a part failed is answered again with just that failure, in its place."""
    graph.require(name, "upsert_nodes", "upsert_edges")
    sandbox, key = graph.sandbox(), new_key()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    written = [sandbox.edge("a", "b"), sandbox.edge("a", "none")][-graph.at_once :]
    args: dict[str, Any] = {"edges": written}
    if name in MANY:
        args = {MANY[name]: [sandbox.item("upsert_edges", edges=[edge]) for edge in written]}
    first = sandbox.call(name, args, key)
    expect.readable(first)
    results = listed(first.result, "results")
    if not (failures(first.result) or any(each.get("ok") is False for each in results)):
        raise NotApplicable("an edge without one of its nodes is not a failure of a part")
    replays.answers_again(first, sandbox.call(name, args, key))


@pytest.mark.requirement("COM-IDEM-4")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_a_write_that_is_sent_twice_at_once_is_carried_out_once(graph: Graph, kind: str) -> None:
    """Two deletes of one thing under one key, sent together while the provider is slow, have one answer."""
    graph.require("upsert_nodes", f"delete_{kind}", *(["upsert_edges"] if kind == "edges" else []))
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    if kind == "edges":
        sandbox.link(sandbox.edge("a", "b", "a"))
    ctx = {**sandbox.ctx, "idempotency_key": f"key-{canary()}"}
    args = {**sandbox.place, "ids": [sandbox.id("a")]}
    replays.has_one_answer(graph, graph.envelope(f"delete_{kind}", args, ctx))


@pytest.mark.requirement("COM-IDEM-5")
@pytest.mark.parametrize("name", ["upsert_nodes", *MANY])
def test_a_write_that_failed_can_be_sent_again(graph: Graph, name: str) -> None:
    """Under the key of a write that the provider failed, the same write is carried out."""
    graph.require(name)
    fresh = graph.fresh()
    result = replays.can_be_sent_again(fresh, name, fresh.requests.distinct(name)).result
    failed = failures(result) or any(each.get("ok") is False for each in listed(result, "results"))
    expect.that(not failed, "the write to be carried out", "a failure", "result")


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("name", ["upsert_nodes", "delete_nodes", "batch", "transaction"])
def test_a_key_with_other_arguments_is_another_write(graph: Graph, name: str) -> None:
    """Two different writes with one key are both carried out."""
    graph.require(name, "upsert_nodes")
    sandbox = graph.sandbox()
    key = new_key()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    if name == "delete_nodes":
        sandbox.put(*nodes)
        for node in nodes:
            expect.success(sandbox.call(name, {"ids": [node["id"]]}, key), f"{name} to work")
    for node in nodes if name != "delete_nodes" else ():
        args: dict[str, Any] = {"nodes": [node]}
        if name in MANY:
            args = {MANY[name]: [sandbox.item("upsert_nodes", nodes=[node])]}
        expect.success(sandbox.call(name, args, key), f"{name} to work")
    left = [] if name == "delete_nodes" else [value_of(node) for node in nodes]
    sandbox.all_show(left, "what both writes make")


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("name", ["upsert_nodes", "batch", "transaction"])
def test_a_key_in_another_namespace_is_another_write(graph: Graph, name: str) -> None:
    """The same write with one key in two namespaces is carried out in each."""
    graph.require(name)
    graph.namespaces(aside=True)
    one = graph.sandbox()
    other = one.like(namespace=graph.sandbox().namespace)
    node, key = one.node("a"), new_key()
    for sandbox in (one, other):
        args: dict[str, Any] = {"nodes": [node]}
        if name in MANY:
            args = {MANY[name]: [sandbox.item("upsert_nodes", nodes=[node])]}
        expect.success(sandbox.call(name, args, key), f"{name} to work")
    for sandbox in (one, other):
        sandbox.all_show([value_of(node)], "the node of the namespace")


@pytest.mark.requirement("COM-IDEM-1")
def test_a_key_with_another_value_is_another_write(graph: Graph) -> None:
    """Two writes of one node with one key and different values are both carried out."""
    graph.require("upsert_nodes")
    sandbox = graph.sandbox()
    key = new_key()
    first, second = sandbox.node("a"), sandbox.node("a")
    for node in (first, second):
        expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
    sandbox.all_show([value_of(second)], "what the second write makes")


@pytest.mark.requirement("COM-IDEM-1")
def test_a_key_of_one_operation_is_not_that_of_another(graph: Graph) -> None:
    """Two different operations with one key are both carried out."""
    graph.require("upsert_nodes", "delete_nodes")
    sandbox = graph.sandbox()
    key = new_key()
    expect.success(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a")]}, key), "a write to work")
    expect.success(sandbox.call("delete_nodes", {"ids": [sandbox.id("a")]}, key), "a delete to work")
    sandbox.all_show([], "nothing, after the delete")


@pytest.mark.requirement("COM-IDEM-2")
def test_a_key_of_another_tenant_is_another_write(graph: Graph) -> None:
    """The same write with the same key of two tenants is carried out for each."""
    require_tenants(graph)
    readers = graph.readers.of_nodes()
    one, other = tenants(graph, 2)
    key = new_key()
    node = one.node("a")
    for sandbox in (one, other):
        expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
    for reader in readers:
        for sandbox in (one, other):
            sandbox.shows(reader, [value_of(node)], "the node of the tenant")
