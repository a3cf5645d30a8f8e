"""Transactions: commit, failure and refusal (SPECIFICATION 4.2.6, 7.3.3; R33)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.answers import listed, size
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.scenarios import transactions
from pytest_corpus.suites.graph.support.scenarios.batches import drop, in_order, link, put, put_many


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-1")
def test_a_transaction_is_applied(graph: Graph) -> None:
    """Nodes that its operations write are there, and an edge between them."""
    sandbox = transactions.transacting(graph)
    nodes = [sandbox.node(name) for name in "abc"][: transactions.room(graph)]
    expect.success(sandbox.call_many("transaction", *(put(sandbox, node) for node in nodes)), "a transaction to work")
    sandbox.all_show([value_of(node) for node in nodes], "what the transaction wrote")


@pytest.mark.requirement("GRA-TXN-1")
@pytest.mark.parametrize("story", ["write_delete", "delete_write", "write_twice", "update", "delete"])
def test_the_operations_of_a_transaction_are_applied_in_order(graph: Graph, story: str) -> None:
    """What a later operation does to the node of an earlier one, or of an earlier call, stands at the end."""
    sandbox = transactions.transacting(graph)
    if transactions.room(graph) < 2:
        raise NotApplicable("a transaction holds one operation")
    first, second = sandbox.node("a"), sandbox.node("a")
    if story in ("update", "delete"):
        sandbox.put(first)
    items = {
        "write_delete": [put(sandbox, first), drop(sandbox, "a")],
        "delete_write": [drop(sandbox, "a"), put(sandbox, second)],
        "write_twice": [put(sandbox, first), put(sandbox, second)],
        "update": [put(sandbox, second)],
        "delete": [drop(sandbox, "a")],
    }[story]
    expect.success(sandbox.call_many("transaction", *items), "a transaction to work")
    sandbox.all_show([] if "delete" in story and story != "delete_write" else [value_of(second)], "its outcome")


@pytest.mark.requirement("GRA-TXN-1")
def test_a_transaction_takes_edges(graph: Graph) -> None:
    """Nodes and an edge between them, written in one transaction, are there."""
    sandbox = transactions.transacting(graph)
    if transactions.room(graph) < 3:
        raise NotApplicable(f"a transaction holds {transactions.room(graph)} operations")
    nodes = [sandbox.node("a"), sandbox.node("b")]
    items = [put(sandbox, nodes[0]), put(sandbox, nodes[1]), link(sandbox, "a", "b")]
    expect.success(sandbox.call_many("transaction", *items), "a transaction to work")
    sandbox.all_lead("a", {"b": value_of(nodes[1])}, "the edge that the transaction wrote")


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-2")
@pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_failed_transaction_leaves_no_trace(graph: Graph, place: str, fault: str) -> None:
    """New nodes, an update and a delete before or after the operation that failed are undone or not done."""
    sandbox = transactions.transacting(graph)
    before = sandbox.put(sandbox.node("a"), sandbox.node("b"))
    reply = transactions.failing(graph, sandbox, place, fault)
    transactions.reported_as_failed(reply)
    sandbox.all_show(before, "what was there before")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_failed_transaction_leaves_edges_as_they_were(graph: Graph) -> None:
    """A new edge is not there, and a deleted one still is, after a transaction that failed."""
    sandbox = transactions.transacting(graph)
    values = sandbox.put_named("abc")
    sandbox.link(sandbox.edge("a", "b", "old"))
    items = [link(sandbox, "a", "c"), sandbox.item("delete_edges", ids=[sandbox.id("old")])]
    for item in items if transactions.room(graph) < 3 else [items]:
        steps = item if isinstance(item, list) else [item]
        transactions.reported_as_failed(sandbox.call_many("transaction", *steps, transactions.unusable(sandbox)))
    sandbox.all_lead("a", {"b": values["b"]}, "the edges as they were")


@pytest.mark.requirement("GRA-TXN-2")
@pytest.mark.parametrize("kind", ["unavailable", "invalid_request", "unexpected"])
def test_a_transaction_that_the_provider_fails_leaves_no_trace(graph: Graph, kind: str) -> None:
    """If the provider fails and the transaction with it, nothing of it is there."""
    transactions.transacting(graph)
    if "provider" not in graph.client.hooks:
        raise NotApplicable("without the provider nothing fails")
    graph.faults.provider_op("transaction")
    fresh = graph.fresh()
    sandbox = fresh.sandbox(own=False)
    plan = fresh.faults.plan(kind, "transaction")
    reply = sandbox.call_many("transaction", put(sandbox, sandbox.node("a")))
    fresh.faults.fired(plan)
    if not transactions.committed(reply):
        sandbox.all_show((), "nothing of a transaction that failed")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_transaction_works_after_a_failed_one(graph: Graph) -> None:
    """After a failed transaction the same nodes can be written, in one that is committed."""
    sandbox = transactions.transacting(graph)
    node = sandbox.node("a")
    sandbox.call_many("transaction", put(sandbox, node), transactions.unusable(sandbox))
    result = expect.success(sandbox.call_many("transaction", put(sandbox, node)), "a transaction to work")
    expect.that(result.get("success") is not False, "a commit", "a failure", "result.success")
    sandbox.all_show([value_of(node)], "what the second transaction wrote")


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-3")
@pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_failed_transaction_says_so(graph: Graph, place: str, fault: str) -> None:
    """With an operation that cannot be carried out it is an error, or `success` is false."""
    sandbox = transactions.transacting(graph)
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    reply = transactions.failing(graph, sandbox, place, fault)
    expect.that(not transactions.committed(reply), "an error, or success false", str(reply), "result.success")


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-4")
@pytest.mark.parametrize("place", ["none", "first", "last"])
def test_the_result_of_a_transaction_is_of_the_schema(graph: Graph, place: str) -> None:
    """A committed and a failed transaction are answered with a result of the schema, or an error."""
    sandbox = transactions.transacting(graph)
    if place == "none":
        reply = sandbox.call_many("transaction", put(sandbox, sandbox.node("a")))
        expect.success(reply, "a transaction to work")
    else:
        reply = transactions.failing(graph, sandbox, place, "unknown_operation")
        if reply.is_error:
            raise NotApplicable("a failed transaction is answered with an error, which has no result")
    holds("GRA-TXN-4", reply, graph)


@pytest.mark.requirement("GRA-TXN-5")
def test_a_committed_transaction_has_a_result_for_each_operation(graph: Graph) -> None:
    """There are as many results as operations, all successes, in their order, and `success` is true."""
    sandbox = transactions.transacting(graph)
    sizes = [size for size in (2, 1, 3) if size <= graph.at_once][: transactions.room(graph)]
    result = expect.success(sandbox.call_many("transaction", *put_many(sandbox, sizes)), "a transaction to work")
    found = listed(result, "results")
    expect.that(result.get("success") is True, "true", "something else", "result.success")
    expect.that(len(found) == len(sizes), f"{len(sizes)} results", f"{len(found)}", "result.results")
    expect.that(all(item.get("ok") is True for item in found), "successes", "a failure", "result.results")
    in_order([size(item.get("result")) for item in found], sizes)


@pytest.mark.requirement("GRA-TXN-12")
def test_each_transaction_has_an_id_of_its_own(graph: Graph) -> None:
    """Two transactions that tell a `transaction_id` tell two."""
    sandbox = transactions.transacting(graph)
    replies = [sandbox.call_many("transaction", put(sandbox, sandbox.node(name))) for name in "ab"]
    told = [expect.success(reply, "a transaction to work").get("transaction_id") for reply in replies]
    if None in told:
        raise NotApplicable("transactions tell no transaction_id")
    expect.that(told[0] != told[1], "two ids", "one", "result.transaction_id")


@pytest.mark.core
@pytest.mark.requirement("GRA-TXN-6")
@pytest.mark.parametrize("kind", list(transactions.BAD))
def test_what_is_no_transaction_is_refused(graph: Graph, kind: str) -> None:
    """`operations` is a list of objects with `op` and `args`; anything else fails and is not applied."""
    graph.require("transaction")
    sandbox = graph.sandbox()
    for args in ({"operations": transactions.BAD[kind]}, {}):
        reply = graph.call("transaction", args)
        expect.either(reply, "BadRequest", "NotSupported")
        expect.that(not transactions.committed(reply), "a refusal", str(reply))
    if isinstance(transactions.BAD[kind], list):
        reply = graph.call("transaction", {"operations": [put(sandbox, sandbox.node("a")), *transactions.BAD[kind]]})
        expect.either(reply, "BadRequest", "NotSupported")
        sandbox.all_show((), "nothing of a transaction that failed")
