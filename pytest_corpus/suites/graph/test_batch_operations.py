"""Batches: order, mixed outcome, limits; transactions and pages (SPECIFICATION 7.3.3, 11.5, 12.5; R14, R15, R32)."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph import paging, transactions
from pytest_corpus.suites.graph.answers import counted, failures, listed
from pytest_corpus.suites.graph.component import Graph, graph
from pytest_corpus.suites.graph.edges import blamed
from pytest_corpus.suites.graph.sandbox import GraphCalls, Sandbox
from pytest_corpus.suites.graph.written_items import MANY
from pytest_corpus.text.redaction import word

MOST_OPS = 6_000
"""A larger limit is not filled."""

UNUSABLE: dict[str, dict[str, Any]] = {
    "unknown_operation": {"op": "no_such_operation", "args": {"ids": ["no-such-node"]}},
    "wrong_arguments": {"op": "upsert_nodes", "args": {"nodes": "n1"}},
    "missing_arguments": {"op": "upsert_nodes", "args": {}},
    "wrong_delete": {"op": "delete_nodes", "args": {}},
}
"""Operations that no adapter can carry out."""

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


class TestTransactions:
    """Commit, failure and refusal."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-1")
    def test_a_transaction_is_applied(self, graph: Graph) -> None:
        """Nodes that its operations write are there, and an edge between them."""
        readers, sandbox = transactions.transacting(graph), graph.sandbox()
        nodes = [sandbox.node(name) for name in "abc"][: transactions.room(graph)]
        expect.success(
            transactions.send(sandbox, *(transactions.put(sandbox, node) for node in nodes)), "a transaction to work"
        )
        for reader in readers:
            sandbox.shows(reader, [transactions.value(node) for node in nodes], "what the transaction wrote")

    @pytest.mark.requirement("GRA-TXN-1")
    @pytest.mark.parametrize("story", ["write_delete", "delete_write", "write_twice", "update", "delete"])
    def test_the_operations_of_a_transaction_are_applied_in_order(self, graph: Graph, story: str) -> None:
        """What a later operation does to the node of an earlier one, or of an earlier call, stands at the end."""
        readers, sandbox = transactions.transacting(graph), graph.sandbox()
        if transactions.room(graph) < 2:
            raise NotApplicable("a transaction holds one operation")
        first, second = sandbox.node("a"), sandbox.node("a")
        if story in ("update", "delete"):
            sandbox.put(first)
        items = {
            "write_delete": [transactions.put(sandbox, first), transactions.drop(sandbox, "a")],
            "delete_write": [transactions.drop(sandbox, "a"), transactions.put(sandbox, second)],
            "write_twice": [transactions.put(sandbox, first), transactions.put(sandbox, second)],
            "update": [transactions.put(sandbox, second)],
            "delete": [transactions.drop(sandbox, "a")],
        }[story]
        expect.success(transactions.send(sandbox, *items), "a transaction to work")
        for reader in readers:
            sandbox.shows(
                reader,
                [] if "delete" in story and story != "delete_write" else [transactions.value(second)],
                "its outcome",
            )

    @pytest.mark.requirement("GRA-TXN-1")
    def test_a_transaction_takes_edges(self, graph: Graph) -> None:
        """Nodes and an edge between them, written in one transaction, are there."""
        transactions.transacting(graph)
        edge_readers, sandbox = graph.readers.of_edges(), graph.sandbox()
        if transactions.room(graph) < 3:
            raise NotApplicable(f"a transaction holds {transactions.room(graph)} operations")
        nodes = [sandbox.node("a"), sandbox.node("b")]
        items = [
            transactions.put(sandbox, nodes[0]),
            transactions.put(sandbox, nodes[1]),
            transactions.link(sandbox, "a", "b"),
        ]
        expect.success(transactions.send(sandbox, *items), "a transaction to work")
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {"b": transactions.value(nodes[1])}, "the edge that the transaction wrote")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-2")
    @pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
    @pytest.mark.parametrize("place", ["first", "middle", "last"])
    def test_a_failed_transaction_leaves_no_trace(self, graph: Graph, place: str, fault: str) -> None:
        """New nodes, an update and a delete before or after the operation that failed are undone or not done."""
        readers, sandbox = transactions.transacting(graph), graph.sandbox()
        before = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        reply = transactions.failing(sandbox, place, fault)
        expect.either(reply, "BadRequest", "NotSupported")
        transactions.said_to_fail(reply)
        for reader in readers:
            sandbox.shows(reader, before, "what was there before")

    @pytest.mark.requirement("GRA-TXN-2")
    def test_a_failed_transaction_leaves_edges_as_they_were(self, graph: Graph) -> None:
        """A new edge is not there, and a deleted one still is, after a transaction that failed."""
        transactions.transacting(graph)
        edge_readers, sandbox = graph.readers.of_edges(), graph.sandbox()
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        sandbox.link(sandbox.edge("a", "b", "old"))
        items = [
            transactions.link(sandbox, "a", "c"),
            graph.item("delete_edges", ids=[sandbox.id("old")], **sandbox.place),
        ]
        for item in items if transactions.room(graph) < 3 else [items]:
            steps = item if isinstance(item, list) else [item]
            transactions.said_to_fail(
                transactions.send(sandbox, *steps, transactions.unusable(sandbox, "unknown_operation"))
            )
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edges as they were")

    @pytest.mark.requirement("GRA-TXN-2")
    @pytest.mark.parametrize("kind", ["unavailable", "invalid_request", "unexpected"])
    def test_a_transaction_that_the_provider_fails_leaves_no_trace(self, graph: Graph, kind: str) -> None:
        """Where the provider fails and the transaction with it, nothing of it is there."""
        transactions.transacting(graph)
        if "provider" not in graph.client.hooks:
            raise NotApplicable("without the provider nothing fails")
        graph.faults.provider_op("transaction")
        fresh = graph.fresh()
        sandbox = fresh.sandbox(own=False)
        plan = fresh.faults.plan(kind, "transaction")
        reply = transactions.send(sandbox, transactions.put(sandbox, sandbox.node("a")))
        fresh.faults.fired(plan)
        if not transactions.committed(reply):
            for reader in fresh.readers.of_nodes():
                sandbox.shows(reader, (), "nothing of a transaction that failed")

    @pytest.mark.requirement("GRA-TXN-2")
    def test_a_transaction_works_after_a_failed_one(self, graph: Graph) -> None:
        """After a failed transaction the same nodes can be written, in one that is transactions.committed."""
        readers, sandbox = transactions.transacting(graph), graph.sandbox()
        node = sandbox.node("a")
        transactions.send(sandbox, transactions.put(sandbox, node), transactions.unusable(sandbox, "unknown_operation"))
        result = expect.success(transactions.send(sandbox, transactions.put(sandbox, node)), "a transaction to work")
        expect.that(result.get("success") is not False, "a commit", "a failure", "result.success")
        for reader in readers:
            sandbox.shows(reader, [transactions.value(node)], "what the second transaction wrote")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-3")
    @pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
    @pytest.mark.parametrize("place", ["first", "middle", "last"])
    def test_a_failed_transaction_says_so(self, graph: Graph, place: str, fault: str) -> None:
        """With an operation that cannot be carried out it is an error, or `success` is false."""
        transactions.transacting(graph)
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        reply = transactions.failing(sandbox, place, fault)
        expect.either(reply, "BadRequest", "NotSupported")
        expect.that(not transactions.committed(reply), "an error, or success false", str(reply), "result.success")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-4")
    @pytest.mark.parametrize("place", ["none", "first", "last"])
    def test_the_result_of_a_transaction_is_of_the_schema(self, graph: Graph, place: str) -> None:
        """A transactions.committed and a failed transaction are answered with a result of the schema, or an error."""
        transactions.transacting(graph)
        sandbox = graph.sandbox()
        if place == "none":
            reply = transactions.send(sandbox, transactions.put(sandbox, sandbox.node("a")))
            expect.success(reply, "a transaction to work")
        else:
            reply = transactions.failing(sandbox, place, "unknown_operation")
            expect.readable(reply)
            if reply.is_error:
                raise NotApplicable("a failed transaction is answered with an error, which has no result")
        holds("GRA-TXN-4", reply, graph)

    @pytest.mark.requirement("GRA-TXN-5")
    def test_a_committed_transaction_has_a_result_for_each_operation(self, graph: Graph) -> None:
        """There are as many results as operations, all successes, in their order, and `success` is true."""
        transactions.transacting(graph)
        sandbox = graph.sandbox()
        sizes = [size for size in (2, 1, 3) if size <= graph.at_once][: transactions.room(graph)]
        items = [
            graph.item("upsert_nodes", nodes=[sandbox.node(f"n{size}x{n}") for n in range(size)], **sandbox.place)
            for size in sizes
        ]
        result = expect.success(transactions.send(sandbox, *items), "a transaction to work")
        found = listed(result, "results")
        expect.that(result.get("success") is True, "true", "something else", "result.success")
        expect.that(len(found) == len(sizes), f"{len(sizes)} results", f"{len(found)}", "result.results")
        expect.that(all(item.get("ok") is True for item in found), "successes", "a failure", "result.results")
        in_order([counted(item.get("result")) for item in found], sizes)

    @pytest.mark.requirement("GRA-TXN-12")
    def test_each_transaction_has_an_id_of_its_own(self, graph: Graph) -> None:
        """Two transactions that tell a `transaction_id` tell two."""
        transactions.transacting(graph)
        sandbox = graph.sandbox()
        replies = [transactions.send(sandbox, transactions.put(sandbox, sandbox.node(name))) for name in "ab"]
        told = [expect.success(reply, "a transaction to work").get("transaction_id") for reply in replies]
        if None in told:
            raise NotApplicable("transactions tell no transaction_id")
        expect.that(told[0] != told[1], "two ids", "one", "result.transaction_id")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-6")
    @pytest.mark.parametrize("kind", list(transactions.BAD))
    def test_what_is_no_transaction_is_refused(self, graph: Graph, kind: str) -> None:
        """`operations` is a list of objects with `op` and `args`; anything else fails and is not applied."""
        graph.require("transaction")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        for args in ({"operations": transactions.BAD[kind]}, {}):
            reply = graph.call("transaction", args)
            expect.either(reply, "BadRequest", "NotSupported")
            expect.that(not transactions.committed(reply), "a refusal", str(reply))
        if isinstance(transactions.BAD[kind], list):
            reply = graph.call(
                "transaction", {"operations": [transactions.put(sandbox, sandbox.node("a")), *transactions.BAD[kind]]}
            )
            expect.either(reply, "BadRequest", "NotSupported")
            for reader in readers:
                sandbox.shows(reader, (), "nothing of a transaction that failed")


class TestPaging:
    """Pages of nodes."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-1")
    def test_the_nodes_that_were_written_are_listed(self, graph: Graph) -> None:
        """New, updated and remaining nodes are listed, deleted ones are not."""
        sandbox = paging.bulky(graph)
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        sandbox.shows("bulk_vertices", values.values(), "every node")
        values["b"] = sandbox.put(sandbox.node("b"))[0]
        sandbox.shows("bulk_vertices", values.values(), "every node as it is now")
        sandbox.remove("nodes", "a")
        sandbox.shows("bulk_vertices", [values["b"], values["c"]], "the nodes that are left")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-2")
    def test_a_page_is_of_the_schema(self, graph: Graph) -> None:
        """Each page, the last one too, is of the schema."""
        sandbox = paging.filled(graph, 3)
        sandbox.call("upsert_nodes", {"nodes": [{**sandbox.node("bare"), "labels": []}]})
        for limit in (2, 100):
            reply = sandbox.call("bulk_vertices", {"limit": limit})
            expect.success(reply, "a page of nodes")
            holds("GRA-BULK-2", reply, graph)

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-3")
    @pytest.mark.parametrize("limit", [1, 2, 3, 5, 10, 11, 12, 100, None], ids=str)
    def test_pages_have_every_node_once(self, graph: Graph, limit: int | None) -> None:
        """Whatever the size of a page, following the cursor gives every node exactly once."""
        sandbox = paging.filled(graph, paging.COUNT)
        given = {} if limit is None else {"limit": limit}
        paging.spacious(sandbox, limit)
        paging.every_node_once(
            sandbox, {**given, **paging.narrowed(sandbox)}, {sandbox.id(f"n{number}") for number in range(paging.COUNT)}
        )

    @pytest.mark.requirement("GRA-BULK-3")
    def test_more_nodes_than_a_page_holds_by_default(self, graph: Graph) -> None:
        """More than a hundred nodes are all listed, without a `limit`."""
        sandbox = paging.filled(graph, 130)
        paging.every_node_once(sandbox, paging.narrowed(sandbox), {sandbox.id(f"n{number}") for number in range(130)})

    @pytest.mark.requirement("GRA-BULK-3")
    def test_pages_of_an_empty_place_end(self, graph: Graph) -> None:
        """Where nothing was written, or everything deleted, there are no nodes and no more pages."""
        sandbox = paging.bulky(graph)
        graph.namespaces(aside=True)
        paging.every_node_once(sandbox, {"limit": 2}, set())
        sandbox.put(sandbox.node("a"))
        sandbox.remove("nodes", "a")
        paging.every_node_once(sandbox, {"limit": 2}, set())

    @pytest.mark.requirement("GRA-BULK-3")
    def test_a_tenant_pages_through_its_own_nodes(self, graph: Graph) -> None:
        """With a tenant, following the cursor gives every node once too."""
        paging.bulky(graph)
        sandbox = graph.sandbox(tenant=f"tenant-{canary()}")
        sandbox.put(*(sandbox.node(f"n{number}") for number in range(5)))
        paging.spacious(sandbox, 2)
        paging.every_node_once(
            sandbox, {"limit": 2, **paging.narrowed(sandbox)}, {sandbox.id(f"n{number}") for number in range(5)}
        )

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-4")
    @pytest.mark.parametrize("limit", [1, 2, 5])
    def test_a_page_is_no_larger_than_asked_for(self, graph: Graph, limit: int) -> None:
        """The first page and the following ones have at most `limit` nodes."""
        sandbox = paging.filled(graph, paging.COUNT)
        for page in islice(sandbox.pages({"limit": limit, **paging.narrowed(sandbox)}), paging.COUNT):
            expect.that(len(page) <= limit, f"at most {limit} nodes", f"{len(page)}", "result.nodes")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-5")
    @pytest.mark.parametrize("limit", [1, 2, 3, 100])
    def test_a_filter_is_heeded_on_every_page(self, graph: Graph, limit: int) -> None:
        """Of eleven nodes the four that fit are listed, each once, in pages of any size."""
        sandbox = paging.bulky(graph)
        fit = {2, 3, 7, 10}
        sandbox.put(*(sandbox.node(f"n{n}", corpus_kind=f"{sandbox.tag}{n in fit}") for n in range(paging.COUNT)))
        wanted = {"corpus_kind": f"{sandbox.tag}True"}
        if paging.served(sandbox, wanted):
            paging.every_node_once(
                sandbox, {"limit": limit, "filter": wanted}, {sandbox.id(f"n{number}") for number in fit}
            )

    @pytest.mark.requirement("GRA-BULK-5")
    @pytest.mark.parametrize("kind", ["text", "number", "boolean", "two", "missing", "other_type"])
    def test_a_filter_compares_values(self, graph: Graph, kind: str) -> None:
        """Text, numbers and booleans are compared with their type, several properties all together."""
        sandbox = paging.bulky(graph)
        sandbox.put(
            sandbox.node("a", corpus_kind="x", corpus_size=1, corpus_true=True),
            sandbox.node("b", corpus_kind="x", corpus_size=2, corpus_true=False),
            sandbox.node("c", corpus_kind="y", corpus_size=1),
        )
        cases: dict[str, tuple[dict[str, Any], str]] = {
            "text": ({"corpus_kind": "x"}, "ab"),
            "number": ({"corpus_size": 1}, "ac"),
            "boolean": ({"corpus_true": True}, "a"),
            "two": ({"corpus_kind": "x", "corpus_size": 1}, "a"),
            "missing": ({"corpus_missing": 1}, ""),
            "other_type": ({"corpus_size": "1"}, ""),
        }
        wanted, names = {"corpus_group": sandbox.group, **cases[kind][0]}, cases[kind][1]
        if paging.served(sandbox, wanted):
            paging.every_node_once(sandbox, {"limit": 5, "filter": wanted}, {sandbox.id(name) for name in names})

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-6")
    @pytest.mark.parametrize("kind", list(paging.BAD_PAGES))
    def test_arguments_of_a_page_are_checked(self, graph: Graph, kind: str) -> None:
        """`limit` is a whole number from 1 on, `cursor` a string, `filter` an object."""
        graph.require("bulk_vertices")
        denied = ["NotSupported"] if kind.startswith("filter") else []
        expect.refusal(graph.call("bulk_vertices", paging.BAD_PAGES[kind]), "BadRequest", *denied)

    @pytest.mark.requirement("GRA-BULK-7")
    def test_a_made_up_cursor_is_refused(self, graph: Graph) -> None:
        """A cursor that the adapter never gave out is BAD_REQUEST."""
        graph.require("bulk_vertices")
        expect.refusal(graph.call("bulk_vertices", {"limit": 2, "cursor": f"no-{canary()}"}), "BadRequest")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-1")
def test_the_operations_of_a_batch_are_applied(graph: Graph) -> None:
    """Nodes that the operations of one batch write are there, of the first and of the last."""
    readers, sandbox = batching(graph), graph.sandbox()
    nodes = [sandbox.node(f"n{number}") for number in range(min(4, graph.at_once))]
    expect.success(send(sandbox, *(put(sandbox, node) for node in nodes)), "a batch to work")
    for reader in readers:
        sandbox.shows(reader, [value(node) for node in nodes], "what the batch wrote")


@pytest.mark.requirement("GRA-BATCH-1")
@pytest.mark.parametrize("story", ["write_delete", "delete_write", "write_twice", "write_delete_write"])
def test_the_operations_of_a_batch_are_applied_in_order(graph: Graph, story: str) -> None:
    """What a later operation does to the node of an earlier one stands at the end."""
    readers, sandbox = batching(graph), graph.sandbox()
    first, second = sandbox.node("a"), sandbox.node("a")
    items = {
        "write_delete": [put(sandbox, first), drop(sandbox, first)],
        "delete_write": [drop(sandbox, first), put(sandbox, second)],
        "write_twice": [put(sandbox, first), put(sandbox, second)],
        "write_delete_write": [put(sandbox, first), drop(sandbox, first), put(sandbox, second)],
    }[story]
    room(graph, len(items))
    expect.success(send(sandbox, *items), "a batch to work")
    for reader in readers:
        sandbox.shows(reader, [] if story == "write_delete" else [value(second)], "what the last operation left")


@pytest.mark.requirement("GRA-BATCH-1")
def test_a_batch_deletes_edges(graph: Graph) -> None:
    """Of two edges the one that a batch deletes is gone."""
    batching(graph)
    edge_readers, sandbox = graph.readers.of_edges(), graph.sandbox()
    values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
    sandbox.link(sandbox.edge("a", "b", "e"), sandbox.edge("a", "c", "f"))
    expect.success(send(sandbox, graph.item("delete_edges", ids=[sandbox.id("e")], **sandbox.place)), "a batch to work")
    for edge_reader in edge_readers:
        sandbox.leads(edge_reader, "a", {"c": values["c"]}, "the edge that is left")


@pytest.mark.requirement("GRA-BATCH-1")
def test_a_batch_takes_edges(graph: Graph) -> None:
    """Nodes and an edge between them, written in one batch, are there."""
    batching(graph)
    edge_readers, sandbox = graph.readers.of_edges(), graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    room(graph, 3)
    expect.success(send(sandbox, put(sandbox, nodes[0]), put(sandbox, nodes[1]), link(sandbox)), "a batch to work")
    for edge_reader in edge_readers:
        sandbox.leads(edge_reader, "a", {"b": value(nodes[1])}, "the edge that the batch wrote")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-2")
@pytest.mark.parametrize("mixed", [False, True], ids=["all_succeed", "one_fails"])
def test_the_result_of_a_batch_is_of_the_schema(graph: Graph, mixed: bool) -> None:
    """A batch of several operations is answered with a result of the schema, whatever their outcome."""
    batching(graph)
    sandbox = graph.sandbox()
    room(graph, 2)
    reply = send(
        sandbox, put(sandbox, sandbox.node("a")), unusable(graph) if mixed else put(sandbox, sandbox.node("b"))
    )
    expect.either(reply, *(["BadRequest", "NotSupported"] if mixed else []))
    holds("GRA-BATCH-2", reply, graph)


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-3")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_batch_has_a_result_for_each_operation(graph: Graph, count: int) -> None:
    """There are as many results as operations, and each is a success."""
    batching(graph)
    sandbox = graph.sandbox()
    room(graph, count)
    result = expect.success(
        send(sandbox, *(put(sandbox, sandbox.node(f"n{n}")) for n in range(count))), "a batch to work"
    )
    found = results(result)
    expect.that(len(found) == count, f"{count} results", f"{len(found)}", "result.results")
    expect.that(all(item.get("ok") is not False for item in found), "successes", "a failure", "result.results")


@pytest.mark.requirement("GRA-BATCH-3")
def test_the_results_of_a_batch_are_in_order(graph: Graph) -> None:
    """Of operations that write one, two and three nodes, the results count one, two and three."""
    batching(graph)
    sandbox = graph.sandbox()
    sizes = [2, 1, 3][: graph.at_once]
    room(graph, 2)
    items = [
        graph.item("upsert_nodes", nodes=[sandbox.node(f"n{size}x{n}") for n in range(size)], **sandbox.place)
        for size in sizes
        if size <= graph.at_once
    ]
    result = expect.success(send(sandbox, *items), "a batch to work")
    found = [counted(item.get("result", item)) for item in results(result)]
    if None in found:
        raise NotAssessed("the results of operations tell no counts")
    in_order(found, [size for size in sizes if size <= graph.at_once])


@pytest.mark.requirement("GRA-NODE-8")
@pytest.mark.parametrize("number", [math.nan, math.inf], ids=["nan", "infinity"])
def test_numbers_in_a_batch_are_finite(graph: Graph, number: float) -> None:
    """A node with NaN or an infinity in a batch refuses the batch, or is reported for its operation or itself."""
    batching(graph)
    sandbox = graph.sandbox()
    reply = send(sandbox, put(sandbox, sandbox.node("a", corpus_size=number)))
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
    batching(graph)
    sandbox = graph.sandbox()
    reply, at, count = mixed(sandbox, place, kind)
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
    """Where one operation failed there are still as many results as operations, in `results` and `failures`."""
    batching(graph)
    sandbox = graph.sandbox()
    reply, _, count = mixed(sandbox, place, "unknown_operation")
    if reply.is_error:
        raise NotApplicable("a batch with an unusable operation is refused whole")
    told = max(len(results(reply.result)), len(listed(reply.result, "results")) + len(listed(reply.result, "failures")))
    expect.that(told >= count, f"{count} results", f"{told}", "result.results")


@pytest.mark.requirement("GRA-BATCH-4")
@pytest.mark.parametrize("name", ["batch", "transaction"])
def test_an_operation_with_an_item_that_fails_is_reported(graph: Graph, name: str) -> None:
    """Where one node of an operation has no id, the operation or the node is reported, or the request refused."""
    graph.require(name)
    graph.batched("upsert_nodes")
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
    readers, sandbox = batching(graph), graph.sandbox()
    reply, at, count = mixed(sandbox, place, kind)
    written = [] if reply.is_error else [f"v-{sandbox.tag}-n{number}" for number in range(count) if number != at]
    for reader in readers:
        sandbox.shows(reader, written, "what did not fail")


@pytest.mark.core
@pytest.mark.requirement("GRA-BATCH-6")
@pytest.mark.parametrize("beyond", [1, 2], ids=["one_more", "two_more"])
def test_a_batch_that_is_too_large_is_refused(graph: Graph, beyond: int) -> None:
    """One operation more than `max_batch_ops` makes it BAD_REQUEST, and nothing is applied."""
    most, sandbox = limit(graph), graph.sandbox()
    readers = graph.readers.of_nodes()
    expect.refusal(too_large(sandbox, most + beyond), "BadRequest")
    for reader in readers:
        sandbox.shows(reader, (), "nothing of a batch that is refused")


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
        expect.that(0 < given <= 100, "a percentage", word(given), f"details.{hint}")


@pytest.mark.requirement("GRA-BATCH-7")
def test_a_batch_of_the_stated_size_is_carried_out(graph: Graph) -> None:
    """As many operations as `max_batch_ops` says are taken, and applied to the last one."""
    most, sandbox = limit(graph), graph.sandbox()
    readers = graph.readers.of_nodes()
    last = sandbox.node("last")
    items = [*(drop(sandbox, {"id": sandbox.id(f"none{n}")}) for n in range(most - 1)), put(sandbox, last)]
    result = expect.success(send(sandbox, *items), f"a batch of {most} operations to work")
    failed = [item for item in results(result) if item.get("ok") is False]
    expect.that(not failed, "no failures", f"{len(failed)}", "result.results")
    for reader in readers:
        sandbox.shows(reader, [value(last)], "what the last operation wrote")


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
        failed = [item for item in results(reply.result) if item.get("ok") is False]
        found = failed or listed(reply.result, "failures")
        expect.that(found, "a failed operation", "none", "result.results")
        blamed(found[0], "BadRequest", "NotSupported")


@pytest.mark.requirement("GRA-BATCH-10")
@pytest.mark.parametrize("mixed_outcome", [False, True], ids=["all_succeed", "one_fails"])
def test_a_batch_says_whether_all_succeeded(graph: Graph, mixed_outcome: bool) -> None:
    """`success` is true, or false where an operation failed."""
    batching(graph)
    sandbox = graph.sandbox()
    room(graph, 2)
    reply = send(
        sandbox, put(sandbox, sandbox.node("a")), unusable(graph) if mixed_outcome else put(sandbox, sandbox.node("b"))
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
    ask = graph.item("query", **graph.question("group", group=sandbox.group), **sandbox.place)
    reply = send(sandbox, put(sandbox, node), ask)
    if reply.is_a("NotSupported", "BadRequest"):
        return
    found = results(expect.success(reply, "a batch to work"))
    expect.that(len(found) == 2, "two results", f"{len(found)}", "result.results")
    if found[1].get("ok") is not False:
        expect.that(
            sandbox.own(found[1]) == {value(node), *before}, "the node that was written", "not that", "results.1"
        )


def batching(graph: Graph) -> list[str]:
    """Go on only where batches take writes; the operations that show what they wrote."""
    graph.require("batch", "upsert_nodes")
    sandbox = graph.sandbox()
    reply = graph.call("batch", {"ops": [graph.item("upsert_nodes", nodes=[sandbox.node("a")], **sandbox.place)]})
    first = results(reply.result)[:1]
    named = str(first[0].get("error") or first[0].get("code")) if first and first[0].get("ok") is False else ""
    if named.replace("_", "").lower() == "notsupported":
        raise NotAssessed("batches take no upsert_nodes")
    return graph.readers.of_nodes()


def room(graph: Graph, count: int) -> None:
    """Go on only where a batch holds so many operations."""
    most = graph.capabilities.limit("max_batch_ops")
    if most is not None and most < count:
        raise NotApplicable(f"a batch holds {most} operations")


def send(sandbox: Sandbox, *items: dict[str, Any]) -> Reply:
    """The answer to a batch."""
    return sandbox.call("batch", {"ops": list(items)})


def put(sandbox: Sandbox, node: dict[str, Any]) -> dict[str, Any]:
    """A write of a node."""
    return sandbox.item("upsert_nodes", nodes=[node])


def drop(sandbox: Sandbox, node: dict[str, Any]) -> dict[str, Any]:
    """A delete of a node."""
    return sandbox.item("delete_nodes", ids=[node["id"]])


def link(sandbox: Sandbox) -> dict[str, Any]:
    """A write of the edge from `a` to `b`."""
    return sandbox.item("upsert_edges", edges=[sandbox.edge("a", "b", "e")])


def unusable(graph: GraphCalls, kind: str = "unknown_operation") -> dict[str, Any]:
    """An operation that cannot be carried out."""
    item = UNUSABLE[kind]
    return item if kind == "unknown_operation" else {**item, "op": graph.item(item["op"])["op"]}


def value(node: dict[str, Any]) -> str:
    """The value of a node."""
    return str(node["properties"]["corpus_value"])


def results(result: Any) -> list[dict[str, Any]]:
    """The results of a batch or a transaction."""
    return listed(result, "results", of=dict)


def mixed(sandbox: Sandbox, place: str, kind: str) -> tuple[Reply, int, int]:
    """The answer to a batch of which one operation is unusable, where that stands, and how many there are."""
    count = min(3, sandbox.graph.capabilities.limit("max_batch_ops") or 3)
    at = {"first": 0, "middle": count // 2, "last": count - 1}[place]
    nodes = [sandbox.node(f"n{number}", f"v-{sandbox.tag}-n{number}") for number in range(count)]
    items = [unusable(sandbox.graph, kind) if number == at else put(sandbox, node) for number, node in enumerate(nodes)]
    reply = send(sandbox, *items)
    expect.either(reply, "BadRequest", "NotSupported")
    return reply, at, count


def limit(graph: Graph) -> int:
    """The stated `max_batch_ops`.

    Raises:
        NotApplicable: none is stated.
        NotAssessed: it is too large to be filled.
    """
    batching(graph)
    most = graph.capabilities.limit("max_batch_ops")
    if most is None:
        raise NotApplicable("capabilities state no max_batch_ops")
    if most > MOST_OPS:
        raise NotAssessed(f"a limit of {most} operations is not filled here")
    return most


def too_large(sandbox: Sandbox, count: int) -> Reply:
    """The answer to a batch of so many operations, of which the first writes a node."""
    items = [
        put(sandbox, sandbox.node("a")),
        *(drop(sandbox, {"id": sandbox.id(f"none{n}")}) for n in range(count - 1)),
    ]
    return send(sandbox, *items)


def in_order(counts: list[int | None], sizes: list[int]) -> None:
    """Operations that write so many nodes each are counted in their order, where their results tell counts."""
    if None in counts:
        return
    with expect.resting_on("GRA-NODE-5"):
        are_sizes = sorted(map(str, counts)) == sorted(map(str, sizes))
        expect.that(are_sizes, f"counts of {sizes}, the nodes of each operation", f"{counts}", "result.results")
    expect.that(
        counts == sizes, f"the order of the operations, which write {sizes} nodes", f"{counts}", "result.results"
    )
