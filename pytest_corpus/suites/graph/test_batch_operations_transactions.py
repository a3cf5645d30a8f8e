"""Transactions: commit, failure and refusal (SPECIFICATION 4.2.6, 7.3.3; R33)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.scenarios import batches
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import rows
from pytest_corpus.suites.graph.support.scenarios.batches import carrying, committed, link, put, unusable

FAILING = pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("first", "unknown_operation"),
        ("middle", "wrong_arguments"),
        ("last", "not_finite"),
        ("last", "unknown_operation"),
        ("middle", "empty_id"),
    ],
)
"""The place and the kind of the operation of a transaction that cannot be carried out."""


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-2")
@FAILING
def test_a_failed_transaction_leaves_no_trace(graph: Graph, place: str, fault: str) -> None:
    """New nodes, an update and a delete before or after the operation that failed are undone or not done."""
    spoiled = batches.failing(graph, place, fault)
    with expect.resting_on("GRA-TXN-3"):
        expect.that(not committed(spoiled.reply), "an error, or success false", str(spoiled.reply), "result.success")
    spoiled.leaves(spoiled.before, "what was there before")


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-3")
@FAILING
def test_a_failed_transaction_says_so(graph: Graph, place: str, fault: str) -> None:
    """With an operation that cannot be carried out it is an error, or `success` is false."""
    reply = batches.failing(graph, place, fault).reply
    expect.that(not committed(reply), "an error, or success false", str(reply), "result.success")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_failed_transaction_leaves_edges_as_they_were(graph: Graph) -> None:
    """A new edge is not there, and a deleted one still is, after a transaction that failed."""
    sandbox = carrying(graph, "transaction")
    batches.room(graph, 3)
    values = sandbox.put_named("abc")
    sandbox.link(sandbox.edge("a", "b", "old"))
    items = [link(sandbox, "a", "c"), sandbox.item("delete_edges", ids=[sandbox.id("old")]), unusable(sandbox)]
    reply = sandbox.call_many("transaction", *items)
    expect.readable(reply)
    with expect.resting_on("GRA-TXN-3"):
        expect.that(not committed(reply), "an error, or success false", str(reply), "result.success")
    sandbox.all_lead("a", {"b": values["b"]}, "the edges as they were")


@pytest.mark.requirement("GRA-TXN-6")
def test_a_transaction_that_is_refused_is_not_applied(graph: Graph) -> None:
    """A node that is written before something that is not an operation is not there."""
    sandbox = carrying(graph, "transaction")
    batches.room(graph, 2)
    for bad in (row for row in rows() if (row.requirement, row.inside) == ("GRA-TXN-6", "operations")):
        item = bad.changed(put(sandbox, sandbox.node("bad")))
        reply = sandbox.call_many("transaction", put(sandbox, sandbox.node(bad.name)), item)
        expect.either(reply, "BadRequest", "NotSupported")
    sandbox.all_show((), "nothing of a transaction that failed")


@pytest.mark.requirement("GRA-TXN-2")
@pytest.mark.parametrize("kind", ["unavailable", "unexpected"])
def test_a_transaction_that_the_provider_fails_leaves_no_trace(graph: Graph, kind: str) -> None:
    """If the provider fails and the transaction with it, nothing of it is there."""
    carrying(graph, "transaction")
    if "provider" not in graph.client.hooks:
        raise NotApplicable("without the provider nothing fails")
    graph.faults.provider_op("transaction")
    fresh = graph.fresh()
    sandbox = fresh.sandbox(own=False)
    plan = fresh.faults.plan(kind, "transaction")
    reply = sandbox.call_many("transaction", put(sandbox, sandbox.node("a")))
    fresh.faults.fired(plan)
    if not committed(reply):
        sandbox.all_show((), "nothing of a transaction that failed")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_transaction_works_after_a_failed_one(graph: Graph) -> None:
    """After a failed transaction the same nodes can be written, in one that is committed."""
    sandbox = carrying(graph, "transaction")
    node = sandbox.node("a")
    sandbox.call_many("transaction", put(sandbox, node), unusable(sandbox))
    result = expect.success(sandbox.call_many("transaction", put(sandbox, node)), "a transaction to work")
    expect.that(result.get("success") is not False, "a commit", "a failure", "result.success")
    sandbox.all_show([value_of(node)], "what the second transaction wrote")


@pytest.mark.requirement("GRA-TXN-12")
def test_each_transaction_has_an_id_of_its_own(graph: Graph) -> None:
    """Two transactions that state a `transaction_id` state two."""
    sandbox = carrying(graph, "transaction")
    replies = [sandbox.call_many("transaction", put(sandbox, sandbox.node(name))) for name in "ab"]
    stated = [expect.success(reply, "a transaction to work").get("transaction_id") for reply in replies]
    if None in stated:
        raise NotApplicable("transactions state no transaction_id")
    expect.that(stated[0] != stated[1], "two ids", "one", "result.transaction_id")
