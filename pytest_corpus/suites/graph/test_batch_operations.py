"""Batches: order, mixed outcome, limits (SPECIFICATION 7.3.3, 12.5; R14, R15)."""

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.answers import failures, listed, size
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.scenarios.batches import (
    UNUSABLE,
    batching,
    drop,
    failed_operations,
    in_order,
    limit,
    link,
    mixed,
    put,
    put_many,
    results,
    room,
    too_large,
    unusable,
)
from pytest_corpus.suites.graph.support.scenarios.edges import blamed
from pytest_corpus.suites.graph.support.written_items import MANY

BAD_BATCHES: dict[str, Any] = {"text": "upsert_nodes", "number": 7, "object": {"op": "upsert_nodes"}, "null": None}
BAD_OPERATIONS: dict[str, Any] = {
    "no_object": "upsert_nodes",
    "a_list": ["upsert_nodes"],
    "a_null": None,
    "without_op": {"args": {}},
    "without_args": {"op": "upsert_nodes"},
    "op_number": {"op": 7, "args": {}},
    "op_null": {"op": None, "args": {}},
    "args_list": {"op": "upsert_nodes", "args": []},
    "args_text": {"op": "upsert_nodes", "args": "n1"},
}


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-1")
def test_the_operations_of_a_batch_are_applied(graph: Graph) -> None:
    """Nodes that the operations of one batch write are there, of the first and of the last."""
    sandbox = batching(graph)
    nodes = [sandbox.node(f"n{number}") for number in range(min(4, graph.at_once))]
    expect.success(sandbox.call_many("batch", *(put(sandbox, node) for node in nodes)), "a batch to work")
    sandbox.all_show([value_of(node) for node in nodes], "what the batch wrote")


@pytest.mark.requirement("GRA-BATCH-1")
@pytest.mark.parametrize("story", ["write_delete", "delete_write", "write_twice", "write_delete_write"])
def test_the_operations_of_a_batch_are_applied_in_order(graph: Graph, story: str) -> None:
    """What a later operation does to the node of an earlier one stands at the end."""
    sandbox = batching(graph)
    first, second = sandbox.node("a"), sandbox.node("a")
    items = {
        "write_delete": [put(sandbox, first), drop(sandbox, "a")],
        "delete_write": [drop(sandbox, "a"), put(sandbox, second)],
        "write_twice": [put(sandbox, first), put(sandbox, second)],
        "write_delete_write": [put(sandbox, first), drop(sandbox, "a"), put(sandbox, second)],
    }[story]
    room(graph, len(items))
    expect.success(sandbox.call_many("batch", *items), "a batch to work")
    sandbox.all_show([] if story == "write_delete" else [value_of(second)], "what the last operation left")


@pytest.mark.requirement("GRA-BATCH-1")
def test_a_batch_deletes_edges(graph: Graph) -> None:
    """Of two edges the one that a batch deletes is gone."""
    sandbox = batching(graph)
    values = sandbox.put_named("abc")
    sandbox.link(sandbox.edge("a", "b", "e"), sandbox.edge("a", "c", "f"))
    expect.success(sandbox.call_many("batch", sandbox.item("delete_edges", ids=[sandbox.id("e")])), "a batch to work")
    sandbox.all_lead("a", {"c": values["c"]}, "the edge that is left")


@pytest.mark.requirement("GRA-BATCH-1")
def test_a_batch_takes_edges(graph: Graph) -> None:
    """Nodes and an edge between them, written in one batch, are there."""
    sandbox = batching(graph)
    nodes = [sandbox.node("a"), sandbox.node("b")]
    room(graph, 3)
    expect.success(
        sandbox.call_many("batch", put(sandbox, nodes[0]), put(sandbox, nodes[1]), link(sandbox, "a", "b")),
        "a batch to work",
    )
    sandbox.all_lead("a", {"b": value_of(nodes[1])}, "the edge that the batch wrote")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-2")
@pytest.mark.parametrize("mixed", [False, True], ids=["all_succeed", "one_fails"])
def test_the_result_of_a_batch_is_of_the_schema(graph: Graph, mixed: bool) -> None:
    """A batch of several operations is answered with a result of the schema, whatever their outcome."""
    sandbox = batching(graph)
    room(graph, 2)
    reply = sandbox.call_many(
        "batch", put(sandbox, sandbox.node("a")), unusable(graph) if mixed else put(sandbox, sandbox.node("b"))
    )
    expect.either(reply, *(["BadRequest", "NotSupported"] if mixed else []))
    holds("GRA-BATCH-2", reply, graph)


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-3")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_batch_has_a_result_for_each_operation(graph: Graph, count: int) -> None:
    """There are as many results as operations, and each is a success."""
    sandbox = batching(graph)
    room(graph, count)
    result = expect.success(
        sandbox.call_many("batch", *(put(sandbox, sandbox.node(f"n{n}")) for n in range(count))), "a batch to work"
    )
    found = results(result)
    expect.that(len(found) == count, f"{count} results", f"{len(found)}", "result.results")
    expect.that(all(item.get("ok") is not False for item in found), "successes", "a failure", "result.results")


@pytest.mark.requirement("GRA-BATCH-3")
def test_the_results_of_a_batch_are_in_order(graph: Graph) -> None:
    """Of operations that write one, two and three nodes, the results count one, two and three."""
    sandbox = batching(graph)
    sizes = [size for size in (2, 1, 3)[: graph.at_once] if size <= graph.at_once]
    room(graph, 2)
    result = expect.success(sandbox.call_many("batch", *put_many(sandbox, sizes)), "a batch to work")
    found = [size(item.get("result", item)) for item in results(result)]
    if None in found:
        raise NotApplicable("the results of operations tell no counts (R123)")
    in_order(found, sizes)


@pytest.mark.requirement("GRA-NODE-8")
@pytest.mark.parametrize("number", [math.nan, math.inf], ids=["nan", "infinity"])
def test_numbers_in_a_batch_are_finite(graph: Graph, number: float) -> None:
    """A node with NaN or an infinity in a batch refuses the batch, or is reported for its operation or itself."""
    sandbox = batching(graph)
    reply = sandbox.call_many("batch", put(sandbox, sandbox.node("a", corpus_size=number)))
    expect.either(reply, "BadRequest")
    for item in results(reply.result) if not reply.is_error else ():
        reported = item.get("ok") is False or failures(item.get("result"))
        expect.that(reported, "a refusal, or a reported failure", "a success", "result.results.0")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-4")
@pytest.mark.parametrize("kind", list(UNUSABLE))
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_failed_operation_is_reported(graph: Graph, place: str, kind: str) -> None:
    """An operation that cannot be carried out is a failure with its index and an error, at its place."""
    sandbox = batching(graph)
    reply, at, count = mixed(graph, sandbox, place, kind)
    if reply.is_error:
        return
    found = results(reply.result)
    failed = [item for item in found if item.get("ok") is False] or listed(reply.result, "failures")
    expect.that(len(failed) == 1, "one failed operation", f"{len(failed)}", "result.results")
    index, error = failed[0].get("index"), failed[0].get("error") or failed[0].get("code")
    expect.that(index == at, f"the index {at}", str(index) if isinstance(index, int) else "none", "results.index")
    expect.that(isinstance(error, str) and error, "an error", type(error).__name__, "results.error")
    blamed(failed[0], "BadRequest", "NotSupported")
    if len(found) == count:
        expect.that(found[at].get("ok") is False, "the failure at its place", "elsewhere", f"results.{at}")


@pytest.mark.requirement("GRA-BATCH-3")
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_failed_operation_keeps_its_place(graph: Graph, place: str) -> None:
    """If one operation failed there are still as many results as operations, in `results` and `failures`."""
    sandbox = batching(graph)
    reply, _, count = mixed(graph, sandbox, place, "unknown_operation")
    if reply.is_error:
        raise NotApplicable("a batch with an unusable operation is refused whole")
    told = max(len(results(reply.result)), len(listed(reply.result, "results")) + len(listed(reply.result, "failures")))
    expect.that(told >= count, f"{count} results", f"{told}", "result.results")


@pytest.mark.requirement("GRA-BATCH-4")
@pytest.mark.parametrize("name", ["batch", "transaction"])
def test_an_operation_with_an_item_that_fails_is_reported(graph: Graph, name: str) -> None:
    """If one node of an operation has no id, the operation or the node is reported, or the request refused."""
    graph.require(name)
    graph.operation_names.spelled("upsert_nodes")
    item = graph.item("upsert_nodes", nodes=[{"id": "", "labels": [], "properties": {}}])
    reply = graph.call(name, {MANY[name]: [item]})
    expect.either(reply, "BadRequest", "NotSupported")
    if not reply.is_error:
        found = results(reply.result)
        failed = [each for each in found if each.get("ok") is False or failures(each.get("result"))]
        told = failed or listed(reply.result, "failures") or reply.result.get("success") is False
        expect.that(told, "a failed operation", "none", "result.results")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-5")
@pytest.mark.parametrize("kind", list(UNUSABLE))
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_the_others_of_a_batch_are_applied(graph: Graph, place: str, kind: str) -> None:
    """Beside a failed operation the others are applied; where the batch is refused whole, none is."""
    sandbox = batching(graph)
    reply, at, count = mixed(graph, sandbox, place, kind)
    written = [] if reply.is_error else [f"v-{sandbox.tag}-n{number}" for number in range(count) if number != at]
    sandbox.all_show(written, "what did not fail")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-6")
@pytest.mark.parametrize("beyond", [1, 2], ids=["one_more", "two_more"])
def test_a_batch_that_is_too_large_is_refused(graph: Graph, beyond: int) -> None:
    """One operation more than `max_batch_ops` makes it BAD_REQUEST, and nothing is applied."""
    most, sandbox = limit(graph), graph.sandbox()
    expect.refusal(too_large(sandbox, most + beyond), "BadRequest")
    sandbox.all_show((), "nothing of a batch that is refused")


@pytest.mark.requirement("GRA-BATCH-8")
@pytest.mark.parametrize("hint", ["max_batch_ops", "suggested_batch_reduction"])
def test_the_refusal_of_a_large_batch_gives_hints(graph: Graph, hint: str) -> None:
    """`details` tell the limit and by how much to reduce the batch."""
    most, sandbox = limit(graph), graph.sandbox()
    reply = too_large(sandbox, most + 1)
    expect.refusal(reply, "BadRequest")
    given = reply.details.get(hint)
    expect.that(isinstance(given, (int, float)), "a number", type(given).__name__, f"details.{hint}")
    if hint == "suggested_batch_reduction" and given is not None:
        expect.that(0 < given <= 100, "a percentage", found=given, path=f"details.{hint}")


@pytest.mark.requirement("GRA-BATCH-7")
def test_a_batch_of_the_stated_size_is_carried_out(graph: Graph) -> None:
    """As many operations as `max_batch_ops` says are taken, and applied to the last one."""
    most, sandbox = limit(graph), graph.sandbox()
    last = sandbox.node("last")
    items = [*(drop(sandbox, f"none{n}") for n in range(most - 1)), put(sandbox, last)]
    result = expect.success(sandbox.call_many("batch", *items), f"a batch of {most} operations to work")
    failed = failed_operations(result)
    expect.that(not failed, "no failures", f"{len(failed)}", "result.results")
    sandbox.all_show([value_of(last)], "what the last operation wrote")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-9")
@pytest.mark.parametrize("kind", list(BAD_BATCHES))
def test_a_batch_that_is_no_list_is_refused(graph: Graph, kind: str) -> None:
    """`ops` is required and a list."""
    graph.require("batch")
    expect.refusal(graph.call("batch", {"ops": BAD_BATCHES[kind]}), "BadRequest")
    expect.refusal(graph.call("batch", {}), "BadRequest")


@pytest.mark.requirement("GRA-BATCH-9")
@pytest.mark.parametrize("kind", list(BAD_OPERATIONS))
def test_what_is_no_operation_is_refused(graph: Graph, kind: str) -> None:
    """An operation without `op` or `args`, or with one of the wrong type, is refused or reported as failed."""
    batching(graph)
    reply = graph.call("batch", {"ops": [BAD_OPERATIONS[kind]]})
    expect.either(reply, "BadRequest", "NotSupported")
    if not reply.is_error:
        failed = failed_operations(reply.result)
        found = failed or listed(reply.result, "failures")
        expect.that(found, "a failed operation", "none", "result.results")
        blamed(found[0], "BadRequest", "NotSupported")


@pytest.mark.requirement("GRA-BATCH-10")
@pytest.mark.parametrize("mixed_outcome", [False, True], ids=["all_succeed", "one_fails"])
def test_a_batch_says_whether_all_succeeded(graph: Graph, mixed_outcome: bool) -> None:
    """`success` is true, or false where an operation failed."""
    sandbox = batching(graph)
    room(graph, 2)
    reply = sandbox.call_many(
        "batch", put(sandbox, sandbox.node("a")), unusable(graph) if mixed_outcome else put(sandbox, sandbox.node("b"))
    )
    expect.either(reply, *(["BadRequest", "NotSupported"] if mixed_outcome else []))
    if not reply.is_error and "success" in reply.result:
        expect.that(reply.result["success"] is not mixed_outcome, str(not mixed_outcome), "the opposite", "success")


@pytest.mark.requirement("GRA-BATCH-11")
def test_a_query_in_a_batch_sees_what_was_written(graph: Graph) -> None:
    """A query after a write in the same batch finds the node, where batches take queries."""
    batching(graph)
    graph.require("query")
    sandbox = graph.sandbox()
    node, before = sandbox.node("a"), sandbox.put(sandbox.node("b"))
    room(graph, 2)
    ask = sandbox.item("query", **graph.question("group", group=sandbox.group))
    reply = sandbox.call_many("batch", put(sandbox, node), ask)
    if reply.is_a("NotSupported", "BadRequest"):
        return
    found = results(expect.success(reply, "a batch to work"))
    expect.that(len(found) == 2, "two results", f"{len(found)}", "result.results")
    if found[1].get("ok") is not False:
        expect.that(
            sandbox.own(found[1]) == {value_of(node), *before}, "the node that was written", "not that", "results.1"
        )
