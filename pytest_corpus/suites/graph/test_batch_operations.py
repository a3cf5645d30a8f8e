"""Batches and transactions (SPECIFICATION 7.3.3, 12.5; R14, R15, R33)."""

import math
from contextlib import nullcontext
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, deciding, rules, subject
from pytest_corpus.kit.reply import error_names, failed_items
from pytest_corpus.redaction import describe_word
from pytest_corpus.suites.graph.support.answers import items_of, reported_count
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.scenarios import batches, isolation
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of, read_rows
from pytest_corpus.suites.graph.support.scenarios.batches import (
    FAILING,
    MIXED,
    drop_operation,
    is_committed,
    link_operation,
    put_operation,
    require_write_batches,
    results,
    unusable_operation,
)
from pytest_corpus.suites.graph.support.scenarios.edges import expect_failure_class


@pytest.mark.core
@deciding("name", batch="GRA-BATCH-1", transaction="GRA-TXN-1")
def test_operations_are_applied(graph: Graph, name: str) -> None:
    """A write, an update and a delete of several nodes in one request are all carried out."""
    sandbox = require_write_batches(graph, name)
    batches.require_batch_size(graph, 3)
    sandbox.put_named("ab")
    new = [sandbox.node("c"), sandbox.node("a")]
    items = [put_operation(sandbox, new[0]), drop_operation(sandbox, "b"), put_operation(sandbox, new[1])]
    expect.success(sandbox.call_many(name, *items), f"a {name} to work")
    sandbox.expect_one_shows_values(map(value_of, new), "the nodes that remain after the operations")


@deciding("name", batch="GRA-BATCH-12", transaction="GRA-TXN-13")
def test_operations_are_applied_in_order(graph: Graph, name: str) -> None:
    """A later operation changes the node of an earlier operation."""
    sandbox = require_write_batches(graph, name)
    most = batches.most_operations(graph) or 20
    new = {each: sandbox.node(each) for each in ("drop_write", "twice", "thrice")}
    stories: list[list[dict[str, Any]]] = [
        [put_operation(sandbox, sandbox.node("gone")), drop_operation(sandbox, "gone")],
        [drop_operation(sandbox, "drop_write"), put_operation(sandbox, new["drop_write"])],
        [put_operation(sandbox, sandbox.node("twice")), put_operation(sandbox, new["twice"])],
        [
            put_operation(sandbox, sandbox.node("thrice")),
            drop_operation(sandbox, "thrice"),
            put_operation(sandbox, new["thrice"]),
        ],
    ]
    linked = bool(graph.works("upsert_edges") and graph.readers.for_edges())
    if linked:
        new |= {each: sandbox.node(each) for each in ("source", "target")}
        stories.append(
            [put_operation(sandbox, new["source"], new["target"]), link_operation(sandbox, "source", "target")]
        )
    requests: list[list[dict[str, Any]]] = [[]]
    for story in stories:
        if len(requests[-1]) + len(story) > most:
            requests.append([])
        requests[-1] += story
    for request in filter(None, requests):
        for start in range(0, len(request), most):
            expect.success(sandbox.call_many(name, *request[start : start + most]), f"a {name} to work")
    sandbox.expect_one_shows_values(map(value_of, new.values()), "the nodes after the last operations")
    if linked:
        sandbox.expect_one_shows_targets("source", {"target": value_of(new["target"])}, "the edge between new nodes")


@deciding("name", batch="GRA-BATCH-1", transaction="GRA-TXN-1")
def test_edges_are_written_and_deleted(graph: Graph, name: str) -> None:
    """A request that writes a node can also write and delete edges."""
    sandbox = require_write_batches(graph, name)
    batches.require_batch_size(graph, 3)
    values = sandbox.put_named("cde")
    sandbox.put_edges(sandbox.edge("c", "d", "gone"), sandbox.edge("c", "e", "left"))
    values |= sandbox.put_named("ab")
    items = [put_operation(sandbox, sandbox.node("f")), link_operation(sandbox, "a", "b")]
    items.append(sandbox.item("delete_edges", ids=[sandbox.id("gone")]))
    expect.success(sandbox.call_many(name, *items), f"a {name} to work")
    sandbox.expect_one_shows_targets("a", {"b": values["b"]}, "the edge that was written")
    sandbox.expect_one_shows_targets("c", {"e": values["e"]}, "the edge that is left")


@pytest.mark.core
@deciding("name", batch="GRA-BATCH-3", transaction="GRA-TXN-5")
def test_there_is_a_result_for_each_operation_in_order(graph: Graph, name: str) -> None:
    """The results have the order of the operations, report successes, and count each operation's nodes."""
    reply, sizes = batches.send_valid_batch(graph, name)
    result = expect.success(reply, f"a {name} to work")
    found = results(result)
    expect.check(len(found) == len(sizes), f"{len(sizes)} results", f"{len(found)}", "result.results")
    expect.check(all(item.get("ok") is not False for item in found), "successes", "a failure", "result.results")
    if name == "transaction":
        expect.check(result.get("success") is True, "true", "another value, or none", "result.success")
    batches.expect_order([reported_count(item.get("result", item)) for item in found], [*sizes])


@pytest.mark.core
@deciding("name", batch="GRA-BATCH-2", transaction="GRA-TXN-4")
@pytest.mark.parametrize("fails", [False, True], ids=["all_succeed", "one_fails"])
def test_a_result_is_of_the_schema(graph: Graph, name: str, fails: bool) -> None:
    """A batch, or a transaction, has a result that is valid under the schema, even if an operation fails."""
    if not fails:
        reply = batches.send_valid_batch(graph, name)[0]
        expect.success(reply, f"a {name} to work")
    else:
        reply = batches.send_spoiled_batch(graph, name, "first", "unknown_operation").reply
    expect.applicable(not reply.is_error, f"a {name} with an unusable operation is refused, and has no result")
    expect_audited("GRA-BATCH-2" if name == "batch" else "GRA-TXN-4", reply, graph)


@pytest.mark.requirement("GRA-NODE-8")
@pytest.mark.parametrize("number", [math.nan, math.inf], ids=["nan", "infinity"])
def test_numbers_in_a_batch_are_finite(graph: Graph, number: float) -> None:
    """If a node has NaN or an infinity, the batch is refused, or the operation or the node is reported as failed."""
    sandbox = require_write_batches(graph)
    reply = sandbox.call_many("batch", put_operation(sandbox, sandbox.node("a", corpus_size=number)))
    expect.either(reply, "BadRequest")
    for item in results(reply.result) if not reply.is_error else ():
        reported = item.get("ok") is False or failed_items(item.get("result"))
        expect.check(reported, "a refusal, or a reported failure", "a success", "result.results.0")


@pytest.mark.core
@rules("reported GRA-BATCH-4, keeps_its_place GRA-BATCH-3, others_applied GRA-BATCH-5")
@MIXED
def test_one_operation_of_a_batch_fails(graph: Graph, requirement: str, place: str, kind: str) -> None:
    """A failed operation is reported at its place in the results, with index and error. The others are applied."""
    spoiled = batches.send_spoiled_batch(graph, "batch", place, kind)
    reply, at, count = spoiled.reply, spoiled.at, len(spoiled.written) + 1
    if requirement == "GRA-BATCH-5":
        if reply.is_error:
            spoiled.expect_remaining([], "no node of a refused batch")
        else:
            spoiled.expect_remaining(spoiled.written, "the nodes of the operations that did not fail")
        return
    expect.applicable(not reply.is_error, "the whole batch is refused if one operation is unusable")
    found, failed = results(reply.result), batches.failed_operations(reply.result)
    if requirement == "GRA-BATCH-3":
        both = len(items_of(reply.result, "results")) + len(items_of(reply.result, "failures"))
        reported = max(len(found), both)
        expect.check(reported >= count, f"{count} results", f"{reported}", "result.results")
        return
    expect.check(len(failed) == 1, "one failed operation", f"{len(failed)}", "result.results")
    index, error = failed[0].get("index"), failed[0].get("error") or failed[0].get("code")
    expect.check(index == at, f"the index {at}", str(index) if isinstance(index, int) else "no index", "results.index")
    expect.check(isinstance(error, str) and error, "an error", describe_word(error), "results.error")
    expect.check(error_names(failed[0]), "a class of the taxonomy, or its code", "another word", "results.error")
    expect_failure_class(failed[0], "BadRequest", "NotSupported")
    if len(found) == count:
        expect.check(
            found[at].get("ok") is False, "the failure at the index of the operation", "elsewhere", f"results.{at}"
        )


@pytest.mark.requirement("GRA-BATCH-4")
@pytest.mark.parametrize("name", list(MANY))
def test_an_operation_with_an_item_that_fails_is_reported(graph: Graph, name: str) -> None:
    """If one node of an operation has no id, the operation or the node is reported, or the request is refused."""
    sandbox = require_write_batches(graph, name)
    reply = sandbox.call_many(name, put_operation(sandbox, {"id": "", "labels": [], "properties": {}}))
    if expect.either(reply, "BadRequest", "NotSupported"):
        failed = batches.failed_operations(reply.result)
        failed += [each for each in results(reply.result) if failed_items(each.get("result"))]
        expect.check(
            failed or not batches.is_committed(reply), "a failed operation", "no failed operation", "result.results"
        )


@core("GRA-BATCH-6")
def test_a_batch_that_is_too_large_is_refused(graph: Graph) -> None:
    """A batch of one operation more than `max_batch_ops` is refused with BAD_REQUEST, and nothing is applied."""
    reply, sandbox = batches.send_too_large(graph)
    expect.refusal(reply, "BadRequest")
    sandbox.expect_one_shows_values((), "no node of a refused batch")


@pytest.mark.requirement("GRA-BATCH-8")
@pytest.mark.parametrize("hint", ["max_batch_ops", "suggested_batch_reduction"])
def test_the_refusal_of_a_large_batch_gives_hints(graph: Graph, hint: str) -> None:
    """`details` state the limit, and the percentage by which to reduce the batch."""
    reply, _ = batches.send_too_large(graph)
    expect.refusal(reply, "BadRequest")
    given = reply.details.get(hint)
    expect.check(isinstance(given, (int, float)), "a number", describe_word(given), f"details.{hint}")
    if hint == "suggested_batch_reduction" and given is not None:
        expect.check(0 < given <= 100, "a percentage", found=given, path=f"details.{hint}")


@pytest.mark.requirement("GRA-BATCH-7")
def test_a_batch_of_the_stated_size_is_carried_out(graph: Graph) -> None:
    """A batch of exactly `max_batch_ops` operations is carried out completely."""
    most, sandbox = batches.stated_limit(graph), graph.sandbox()
    last = sandbox.node("last")
    items = [*(drop_operation(sandbox, f"none{n}") for n in range(most - 1)), put_operation(sandbox, last)]
    result = expect.success(sandbox.call_many("batch", *items), f"a batch of {most} operations to work")
    failed = batches.failed_operations(result)
    expect.check(not failed, "no failures", f"{len(failed)}", "result.results")
    sandbox.expect_one_shows_values([value_of(last)], "the node of the last operation")


@pytest.mark.core
@arguments_of("GRA-BATCH-9", "GRA-TXN-6")
def test_what_is_not_a_list_of_operations_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A value that is not a list of objects with `op` and `args` is refused, or the operation is reported as failed."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-BATCH-10")
@pytest.mark.parametrize("fails", [False, True], ids=["all_succeed", "one_fails"])
def test_a_batch_says_whether_all_succeeded(graph: Graph, fails: bool) -> None:
    """`success` is true, or false if an operation failed."""
    spoiled = batches.send_spoiled_batch(graph, "batch", "first", "unknown_operation") if fails else None
    reply = spoiled.reply if spoiled else batches.send_valid_batch(graph, "batch")[0]
    if not reply.is_error and "success" in reply.result:
        expect.check(reply.result["success"] is not fails, str(not fails).lower(), str(fails).lower(), "success")


@pytest.mark.requirement("GRA-BATCH-11")
def test_a_query_in_a_batch_sees_what_was_written(graph: Graph) -> None:
    """A query after a write in the same batch finds the node, if batches accept queries."""
    graph.require("query")
    sandbox = require_write_batches(graph)
    node, before = sandbox.node("a"), sandbox.put(sandbox.node("b"))
    batches.require_batch_size(graph, 2)
    ask = sandbox.item("query", **graph.question("group", group=sandbox.group))
    reply = sandbox.call_many("batch", put_operation(sandbox, node), ask)
    if reply.is_a("NotSupported", "BadRequest"):
        return
    found = results(expect.success(reply, "a batch to work"))
    expect.check(len(found) == 2, "two results", f"{len(found)}", "result.results")
    if found[1].get("ok") is not False:
        shown = sandbox.own_values(found[1])
        expect.check(shown == {value_of(node), *before}, "the node that was written", "other nodes", "results.1")


@pytest.mark.core
@rules("leaves_no_trace GRA-TXN-2, says_so GRA-TXN-3")
@FAILING
def test_a_failed_transaction(graph: Graph, place: str, kind: str, requirement: str) -> None:
    """A failed transaction is an error or has `success` false. None of its writes, updates and deletes is applied."""
    spoiled = batches.send_spoiled_batch(graph, "transaction", place, kind)
    with expect.resting_on("GRA-TXN-3") if requirement == "GRA-TXN-2" else nullcontext():
        expect.check(
            not is_committed(spoiled.reply), "an error, or success false", str(spoiled.reply), "result.success"
        )
    if requirement == "GRA-TXN-2":
        spoiled.expect_remaining(spoiled.before, "the nodes from before")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_failed_transaction_leaves_edges_as_they_were(graph: Graph) -> None:
    """The new edge of a failed transaction does not exist. The edge that the transaction deletes still exists."""
    sandbox = require_write_batches(graph, "transaction")
    batches.require_batch_size(graph, 3)
    values = sandbox.put_named("abc")
    sandbox.put_edges(sandbox.edge("a", "b", "old"))
    items = [
        link_operation(sandbox, "a", "c"),
        sandbox.item("delete_edges", ids=[sandbox.id("old")]),
        unusable_operation(sandbox),
    ]
    reply = sandbox.call_many("transaction", *items)
    expect.readable(reply)
    with expect.resting_on("GRA-TXN-3"):
        expect.check(not is_committed(reply), "an error, or success false", str(reply), "result.success")
    sandbox.expect_one_shows_targets("a", {"b": values["b"]}, "the edges as they were")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_failed_transaction_leaves_every_namespace_as_it_was(graph: Graph) -> None:
    """A failed transaction writes nodes to no namespace."""
    require_write_batches(graph, "transaction")
    batches.require_batch_size(graph, 3)
    places = isolation.two_sandboxes(graph, "namespaces")
    before = {place: place.put(place.node("a")) for place in places}
    reply = places[0].call_many(
        "transaction",
        *(put_operation(place, place.node("b")) for place in places),
        unusable_operation(places[0], "wrong_arguments"),
    )
    expect.readable(reply)
    with expect.resting_on("GRA-TXN-3"):
        expect.check(not is_committed(reply), "an error, or success false", str(reply), "result.success")
    for place, values in before.items():
        place.expect_one_shows_values(values, "the nodes from before")


@deciding("name", batch="GRA-BATCH-9", transaction="GRA-TXN-6")
def test_one_inside_another_is_no_outage(graph: Graph, name: str) -> None:
    """A batch in a batch, or a transaction in a transaction, is carried out, or fails with a permanent error (R8)."""
    sandbox = require_write_batches(graph, name)
    inner = {
        "op": graph.operation_names.spell_or_bare_name(name),
        "args": {MANY[name]: [put_operation(sandbox, sandbox.node("a"))]},
    }
    reply = sandbox.call_many(name, inner)
    expect.either(reply, "BadRequest", "NotSupported")
    for failure in batches.failed_operations(reply.result):
        expect_failure_class(failure, "BadRequest", "NotSupported")


@pytest.mark.requirement("GRA-BATCH-5")
def test_a_batch_that_is_refused_is_not_applied(graph: Graph) -> None:
    """A batch with an item that is not an operation is refused and writes nothing, or applies its other operation."""
    sandbox = require_write_batches(graph)
    batches.require_batch_size(graph, 2)
    written = []
    for bad in [row for row in read_rows() if (row.requirement, row.inside) == ("GRA-BATCH-9", "ops")][::2]:
        node = sandbox.node(bad.name)
        reply = sandbox.call_many(
            "batch", put_operation(sandbox, node), bad.apply_to(put_operation(sandbox, sandbox.node("bad")))
        )
        with expect.resting_on("GRA-BATCH-9"):
            expect.either(reply, "BadRequest", "NotSupported")
        written += [] if reply.is_error else [value_of(node)]
    sandbox.expect_one_shows_values(written, "the nodes of the batches that are not refused")


@pytest.mark.requirement("GRA-TXN-6")
def test_a_transaction_that_is_refused_is_not_applied(graph: Graph) -> None:
    """A transaction with an item that is not an operation, or with a bad timeout, writes no node."""
    sandbox = require_write_batches(graph, "transaction")
    batches.require_batch_size(graph, 2)
    for bad in [row for row in read_rows() if (row.requirement, row.inside) == ("GRA-TXN-6", "operations")][::2]:
        item = bad.apply_to(put_operation(sandbox, sandbox.node("bad")))
        reply = sandbox.call_many("transaction", put_operation(sandbox, sandbox.node(bad.name)), item)
        expect.either(reply, "BadRequest", "NotSupported")
    late = sandbox.node("late")
    reply = sandbox.call("transaction", {MANY["transaction"]: [put_operation(sandbox, late)], "timeout_ms": "soon"})
    expect.either(reply, "BadRequest", "NotSupported")
    sandbox.expect_one_shows_values([value_of(late)] if is_committed(reply) else [], "no node of a failed transaction")


@pytest.mark.requirement("GRA-TXN-2")
@pytest.mark.parametrize("kind", ["unavailable", "unexpected"])
def test_a_transaction_that_the_provider_fails_leaves_no_trace(graph: Graph, kind: str) -> None:
    """If a failure of the provider makes a transaction fail, none of the transaction's writes is visible."""
    require_write_batches(graph, "transaction")
    expect.applicable("provider" in graph.client.hooks, "without the provider hook, nothing fails")
    graph.faults.provider_op("transaction")
    fresh = graph.fresh()
    sandbox = fresh.sandbox(own=False)
    plan = fresh.faults.plan(kind, "transaction")
    reply = sandbox.call_many("transaction", put_operation(sandbox, sandbox.node("a")))
    fresh.faults.require_fired(plan)
    if not is_committed(reply):
        sandbox.expect_one_shows_values((), "no node of a failed transaction")


@pytest.mark.requirement("GRA-TXN-2")
def test_a_transaction_works_after_a_failed_one(graph: Graph) -> None:
    """After a failed transaction, another transaction writes the same nodes and is committed."""
    sandbox = require_write_batches(graph, "transaction")
    node = sandbox.node("a")
    sandbox.call_many("transaction", put_operation(sandbox, node), unusable_operation(sandbox))
    result = expect.success(sandbox.call_many("transaction", put_operation(sandbox, node)), "a transaction to work")
    expect.check(result.get("success") is not False, "a commit", "a failure", "result.success")
    sandbox.expect_one_shows_values([value_of(node)], "the node of the second transaction")


@pytest.mark.requirement("GRA-TXN-12")
def test_each_transaction_has_an_id_of_its_own(graph: Graph) -> None:
    """Two transactions that state a `transaction_id` state different ids."""
    sandbox = require_write_batches(graph, "transaction")
    replies = [sandbox.call_many("transaction", put_operation(sandbox, sandbox.node(name))) for name in "ab"]
    stated = [expect.success(reply, "a transaction to work").get("transaction_id") for reply in replies]
    expect.applicable(None not in stated, "transactions state no transaction_id")
    expect.check(stated[0] != stated[1], "two ids", "the same id twice, or no id", "result.transaction_id")
