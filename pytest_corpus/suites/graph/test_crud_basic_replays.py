"""Writes that are sent again with their idempotency key (SPECIFICATION 6.1; R26, R45, R126)."""

from functools import partial
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import context_with_key
from pytest_corpus.kit.fixtures import core, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios.isolation import sandbox_at, tenants_for_one_key, two_sandboxes
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.contexts import new_key_context, similar_key_contexts

MUTATING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", *MANY)


class Write:
    """One write of the node `a`, or of the edge `e` from `a` to `b`, and its arguments `args`."""

    def __init__(self, graph: Graph, sandbox: GraphSandbox, name: str) -> None:
        graph.require(name, "upsert_nodes")
        self._sandbox, self._name = sandbox, name
        self._of_edges, self._deletes = name.endswith("edges"), name.startswith("delete")
        self._kind = "edges" if self._of_edges else "nodes"
        graph.require(f"upsert_{self._kind}", f"delete_{self._kind}")
        value = f"v-{sandbox.tag}-written"  # the same in both namespaces
        self._item = sandbox.edge("a", "b", "e", corpus_value=value) if self._of_edges else sandbox.node("a", value)
        self._target = sandbox.put_named("ab")["b"] if self._of_edges else ""
        if self._deletes:
            self._put()
        self.args: dict[str, Any] = (
            {"ids": [self._item["id"]]} if self._deletes else sandbox.write_args(name, self._kind, self._item)
        )

    def _put(self) -> None:
        put = self._sandbox.put_edges if self._of_edges else self._sandbox.put
        put(self._item)

    def undo(self) -> None:
        """Undo the write: delete the written item, or write the deleted item again."""
        if self._deletes:
            self._put()
        else:
            self._sandbox.remove(self._kind, "e" if self._of_edges else "a")

    def expect_values(self, claim: str, *, done: bool) -> None:
        """Check that the sandbox shows the effect of the write, or does not show it."""
        there = done is not self._deletes
        if self._of_edges:
            self._sandbox.expect_one_shows_targets("a", {"b": self._target} if there else (), claim)
        else:
            self._sandbox.expect_one_shows_values([value_of(self._item)] if there else [], claim)


@core("COM-IDEM-3")
@pytest.mark.parametrize(
    ("name", "where"),
    [*((name, "default") for name in MUTATING), ("upsert_nodes", "tenant"), ("delete_nodes", "namespace")],
)
def test_a_replay_changes_nothing(graph: Graph, name: str, where: str) -> None:
    """The replay of a write that was undone changes nothing, and has the same answer as the write."""
    sandbox = sandbox_at(graph, where)
    write = Write(graph, sandbox, name)
    key, first = replays.send_first(partial(sandbox.call, name, write.args))
    write.undo()
    again = sandbox.call(name, write.args, context_with_key(key))
    expect.success(again, "a replay to succeed")
    write.expect_values("the change made after the first call", done=False)
    replays.expect_same_result(first, again)


@pytest.mark.requirement("COM-IDEM-3")
@pytest.mark.parametrize("name", ["upsert_edges", *MANY])
def test_a_replay_has_the_failures_of_the_first_call(graph: Graph, name: str) -> None:
    """The replay of a write with failed parts is answered with exactly the same failures in the same order."""
    sandbox, key = graph.sandbox(name, "upsert_nodes", "upsert_edges"), new_key_context()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    ends = (("none", "b"), ("a", "b"), ("a", "none"))[: graph.items_per_request]
    written = [sandbox.edge(source, target) for source, target in ends]
    args: dict[str, Any] = {"edges": written}
    if name in MANY:
        args = {MANY[name]: [sandbox.item("upsert_edges", edges=[edge]) for edge in written]}
    first = sandbox.call(name, args, key)
    expect.readable(first)
    if not first.failed_items:
        raise NotApplicable("an edge whose source or target does not exist is not reported as a failed item")
    replays.expect_same_result(first, sandbox.call(name, args, key))


@pytest.mark.requirement("COM-IDEM-4")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_a_write_that_is_sent_twice_at_once_is_carried_out_once(graph: Graph, kind: str) -> None:
    """Two concurrent deletes of one node or edge under one key have the same answer, even if the provider is slow."""
    graph.require("upsert_nodes", f"delete_{kind}", *(["upsert_edges"] if kind == "edges" else []))
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    if kind == "edges":
        sandbox.put_edges(sandbox.edge("a", "b", "edge"))
    ctx = {**sandbox.ctx, "idempotency_key": f"key{canary()}"}
    args = {**sandbox.namespace_arg, "ids": [sandbox.id("edge" if kind == "edges" else "a")]}
    replays.expect_one_result(graph, graph.envelope(f"delete_{kind}", args, ctx))


@pytest.mark.requirement("COM-IDEM-7")
@pytest.mark.parametrize("name", ["upsert_nodes", "delete_edges", "transaction"])
def test_a_write_that_is_sent_twice_at_once_asks_the_provider_once(graph: Graph, name: str) -> None:
    """If a write is sent twice concurrently under one key, a slow provider gets one call."""
    sandbox = graph.sandbox()
    place = {} if name in MANY else sandbox.namespace_arg
    args = {**place, **Write(graph, sandbox, name).args}
    replays.expect_one_provider_call(graph, graph.envelope(name, args, {**sandbox.ctx, **new_key_context()}))


@pytest.mark.requirement("COM-IDEM-5")
@pytest.mark.parametrize("name", ["upsert_nodes", *MANY])
def test_a_write_that_failed_can_be_sent_again(graph: Graph, name: str) -> None:
    """After a failure of the provider, the same write under the same key is carried out."""
    graph.require(name)
    fresh = graph.fresh()
    reply = replays.expect_second_attempt(fresh, name, fresh.requests.distinct(name))
    expect.check(not reply.failed_items, "the write to be carried out", "a failure", "result")


APART = [
    *(("arguments", name, "COM-IDEM-1") for name in MUTATING),
    *(("namespaces", name, "COM-IDEM-1") for name in ("upsert_nodes", "batch")),
    *(("tenants", name, "COM-IDEM-2") for name in MUTATING),
]
"""Cases of two writes under one key: the kind of difference, the operation, and the requirement to carry out both."""


@pytest.mark.parametrize(
    ("by", "name"), [pytest.param(by, name, marks=pytest.mark.requirement(each)) for by, name, each in APART]
)
def test_a_key_elsewhere_is_another_write(graph: Graph, by: str, name: str) -> None:
    """Writes with the same key but different items, namespaces or tenants are all carried out."""
    if by == "namespaces":
        graph.require_namespaces(aside=True)
    if by == "tenants":
        places = tenants_for_one_key(graph, MUTATING.index(name))
    else:
        places = two_sandboxes(graph, by) if by == "namespaces" else (graph.sandbox(), graph.sandbox())
    key = new_key_context()
    writes = {place: Write(graph, place, name) for place in places}
    for place, write in writes.items():
        expect.success(place.call(name, write.args, key), f"{name} to work")
    writes[places[-1]].expect_values("the change by the last write", done=True)


@pytest.mark.requirement("COM-IDEM-1")
def test_a_key_with_another_value_is_another_write(graph: Graph) -> None:
    """Two writes of one node with one key but different values are both carried out."""
    sandbox, key = graph.sandbox("upsert_nodes"), new_key_context()
    nodes = [sandbox.node("a"), sandbox.node("a")]
    for node in nodes:
        expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
    sandbox.expect_one_shows_values([value_of(nodes[1])], "the value of the second write")


@pytest.mark.requirement("COM-IDEM-8")
def test_keys_that_resemble_each_other_are_two(graph: Graph) -> None:
    """A write is carried out even after the same write under similar keys: other letter case, punctuation or space."""
    sandbox = graph.sandbox("upsert_nodes")
    early, late = sandbox.node("a"), sandbox.node("a")
    *others, key = similar_key_contexts()
    for other in others:
        expect.either(sandbox.call("upsert_nodes", {"nodes": [late]}, other), *PERMANENT)
    sandbox.put(early)
    reply = sandbox.call("upsert_nodes", {"nodes": [late]}, key)
    is_taken = expect.either(reply, *PERMANENT) and not reply.failed_items
    expect.applicable(is_taken, "an idempotency key with an underscore is refused permanently")
    sandbox.expect_one_shows_values([value_of(late)], "the value of the write under the last key")


@pytest.mark.requirement("COM-IDEM-1")
def test_a_key_of_one_operation_is_not_that_of_another(graph: Graph) -> None:
    """Two different operations with the same key and arguments are both carried out."""
    sandbox, key = graph.sandbox("upsert_nodes", "delete_nodes", "delete_edges"), new_key_context()
    sandbox.put(sandbox.node("a"))
    for name in ("delete_edges", "delete_nodes"):
        expect.success(sandbox.call(name, {"ids": [sandbox.id("a")]}, key), f"{name} to work")
    sandbox.expect_one_shows_values([], "nothing, after the second delete")
