"""Transactions: all or nothing (SPECIFICATION 4.2.6; R33)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.sandbox import Sandbox, counted, listed

BAD: dict[str, Any] = {
    "text": "upsert_nodes",
    "number": 7,
    "object": {"op": "upsert_nodes"},
    "null": None,
    "no_object": ["upsert_nodes"],
    "without_op": [{"args": {}}],
    "without_args": [{"op": "upsert_nodes"}],
    "op_number": [{"op": 7, "args": {}}],
    "args_list": [{"op": "upsert_nodes", "args": []}],
}


class Transactions:
    """Commit, failure and refusal."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-1")
    def test_a_transaction_is_applied(self, graph: Graph) -> None:
        """Nodes that its operations write are there, and an edge between them."""
        readers, sandbox = transacting(graph), graph.sandbox()
        nodes = [sandbox.node(name) for name in "abc"][: room(graph)]
        expect.success(send(sandbox, *(put(sandbox, node) for node in nodes)), "a transaction to work")
        for reader in readers:
            sandbox.shows(reader, [value(node) for node in nodes], "what the transaction wrote")

    @pytest.mark.requirement("GRA-TXN-1")
    @pytest.mark.parametrize("story", ["write_delete", "delete_write", "write_twice", "update", "delete"])
    def test_the_operations_of_a_transaction_are_applied_in_order(self, graph: Graph, story: str) -> None:
        """What a later operation does to the node of an earlier one, or of an earlier call, stands at the end."""
        readers, sandbox = transacting(graph), graph.sandbox()
        if room(graph) < 2:
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
        expect.success(send(sandbox, *items), "a transaction to work")
        for reader in readers:
            sandbox.shows(
                reader, [] if "delete" in story and story != "delete_write" else [value(second)], "its outcome"
            )

    @pytest.mark.requirement("GRA-TXN-1")
    def test_a_transaction_takes_edges(self, graph: Graph) -> None:
        """Nodes and an edge between them, written in one transaction, are there."""
        transacting(graph)
        edge_readers, sandbox = graph.edge_readers(), graph.sandbox()
        if room(graph) < 3:
            raise NotApplicable(f"a transaction holds {room(graph)} operations")
        nodes = [sandbox.node("a"), sandbox.node("b")]
        items = [put(sandbox, nodes[0]), put(sandbox, nodes[1]), link(sandbox, "a", "b")]
        expect.success(send(sandbox, *items), "a transaction to work")
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {"b": value(nodes[1])}, "the edge that the transaction wrote")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-2")
    @pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
    @pytest.mark.parametrize("place", ["first", "middle", "last"])
    def test_a_failed_transaction_leaves_no_trace(self, graph: Graph, place: str, fault: str) -> None:
        """New nodes, an update and a delete before or after the operation that failed are undone or not done."""
        readers, sandbox = transacting(graph), graph.sandbox()
        before = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        reply = failing(sandbox, place, fault)
        expect.either(reply, "BadRequest", "NotSupported")
        said_to_fail(reply)
        for reader in readers:
            sandbox.shows(reader, before, "what was there before")

    @pytest.mark.requirement("GRA-TXN-2")
    def test_a_failed_transaction_leaves_edges_as_they_were(self, graph: Graph) -> None:
        """A new edge is not there, and a deleted one still is, after a transaction that failed."""
        transacting(graph)
        edge_readers, sandbox = graph.edge_readers(), graph.sandbox()
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        sandbox.link(sandbox.edge("a", "b", "old"))
        items = [link(sandbox, "a", "c"), graph.item("delete_edges", ids=[sandbox.id("old")], **sandbox.place)]
        for item in items if room(graph) < 3 else [items]:
            steps = item if isinstance(item, list) else [item]
            said_to_fail(send(sandbox, *steps, unusable(sandbox, "unknown_operation")))
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edges as they were")

    @pytest.mark.requirement("GRA-TXN-2")
    @pytest.mark.parametrize("kind", ["unavailable", "invalid_request", "unexpected"])
    def test_a_transaction_that_the_provider_fails_leaves_no_trace(self, graph: Graph, kind: str) -> None:
        """Where the provider fails and the transaction with it, nothing of it is there."""
        transacting(graph)
        if "provider" not in graph.client.hooks:
            raise NotApplicable("without the provider nothing fails")
        graph.provider_op("transaction")
        fresh = graph.fresh()
        sandbox = fresh.sandbox(own=False)
        plan = fresh.plan(kind, "transaction")
        reply = send(sandbox, put(sandbox, sandbox.node("a")))
        fresh.fired(plan)
        if not committed(reply):
            for reader in fresh.readers():
                sandbox.shows(reader, (), "nothing of a transaction that failed")

    @pytest.mark.requirement("GRA-TXN-2")
    def test_a_transaction_works_after_a_failed_one(self, graph: Graph) -> None:
        """After a failed transaction the same nodes can be written, in one that is committed."""
        readers, sandbox = transacting(graph), graph.sandbox()
        node = sandbox.node("a")
        send(sandbox, put(sandbox, node), unusable(sandbox, "unknown_operation"))
        result = expect.success(send(sandbox, put(sandbox, node)), "a transaction to work")
        expect.that(result.get("success") is not False, "a commit", "a failure", "result.success")
        for reader in readers:
            sandbox.shows(reader, [value(node)], "what the second transaction wrote")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-3")
    @pytest.mark.parametrize("fault", ["unknown_operation", "wrong_arguments", "not_finite"])
    @pytest.mark.parametrize("place", ["first", "middle", "last"])
    def test_a_failed_transaction_says_so(self, graph: Graph, place: str, fault: str) -> None:
        """With an operation that cannot be carried out it is an error, or `success` is false."""
        transacting(graph)
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        reply = failing(sandbox, place, fault)
        expect.either(reply, "BadRequest", "NotSupported")
        expect.that(not committed(reply), "an error, or success false", str(reply), "result.success")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-4")
    @pytest.mark.parametrize("place", ["none", "first", "last"])
    def test_the_result_of_a_transaction_is_of_the_schema(self, graph: Graph, place: str) -> None:
        """A committed and a failed transaction are answered with a result of the schema, or an error."""
        transacting(graph)
        sandbox = graph.sandbox()
        if place == "none":
            reply = send(sandbox, put(sandbox, sandbox.node("a")))
            expect.success(reply, "a transaction to work")
        else:
            reply = failing(sandbox, place, "unknown_operation")
            expect.readable(reply)
            if reply.is_error:
                raise NotApplicable("a failed transaction is answered with an error, which has no result")
        holds("GRA-TXN-4", reply, graph)

    @pytest.mark.requirement("GRA-TXN-5")
    def test_a_committed_transaction_has_a_result_for_each_operation(self, graph: Graph) -> None:
        """There are as many results as operations, all successes, in their order, and `success` is true."""
        transacting(graph)
        sandbox = graph.sandbox()
        sizes = [size for size in (2, 1, 3) if size <= graph.at_once][: room(graph)]
        items = [
            graph.item("upsert_nodes", nodes=[sandbox.node(f"n{size}x{n}") for n in range(size)], **sandbox.place)
            for size in sizes
        ]
        result = expect.success(send(sandbox, *items), "a transaction to work")
        found = listed(result, "results")
        expect.that(result.get("success") is True, "true", "something else", "result.success")
        expect.that(len(found) == len(sizes), f"{len(sizes)} results", f"{len(found)}", "result.results")
        expect.that(all(item.get("ok") is True for item in found), "successes", "a failure", "result.results")
        counts = [counted(item.get("result")) for item in found]
        expect.that(None in counts or counts == sizes, "the order of the operations", "another", "result.results")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-TXN-6")
    @pytest.mark.parametrize("kind", list(BAD))
    def test_what_is_no_transaction_is_refused(self, graph: Graph, kind: str) -> None:
        """`operations` is a list of objects with `op` and `args`; anything else fails and is not applied."""
        graph.require("transaction")
        readers, sandbox = graph.readers(), graph.sandbox()
        for args in ({"operations": BAD[kind]}, {}):
            reply = graph.call("transaction", args)
            expect.either(reply, "BadRequest", "NotSupported")
            expect.that(not committed(reply), "a refusal", str(reply))
        if isinstance(BAD[kind], list):
            reply = graph.call("transaction", {"operations": [put(sandbox, sandbox.node("a")), *BAD[kind]]})
            expect.either(reply, "BadRequest", "NotSupported")
            for reader in readers:
                sandbox.shows(reader, (), "nothing of a transaction that failed")


def transacting(graph: Graph) -> list[str]:
    """Go on only where transactions take writes; the operations that show what they wrote."""
    graph.require("transaction", "upsert_nodes")
    graph.batched("upsert_nodes")
    return graph.readers()


def room(graph: Graph) -> int:
    """How many operations the suite puts in one transaction."""
    return min(graph.capabilities.limit("max_batch_ops") or 5, 5)


def send(sandbox: Sandbox, *items: dict[str, Any]) -> Reply:
    """The answer to a transaction."""
    return sandbox.call("transaction", {"operations": list(items)})


def put(sandbox: Sandbox, node: dict[str, Any]) -> dict[str, Any]:
    """A write of a node."""
    return sandbox.graph.item("upsert_nodes", nodes=[node], **sandbox.place)


def drop(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """A delete of a node."""
    return sandbox.graph.item("delete_nodes", ids=[sandbox.id(name)], **sandbox.place)


def link(sandbox: Sandbox, source: str, target: str) -> dict[str, Any]:
    """A write of an edge."""
    return sandbox.graph.item("upsert_edges", edges=[sandbox.edge(source, target)], **sandbox.place)


def unusable(sandbox: Sandbox, fault: str) -> dict[str, Any]:
    """An operation that cannot be carried out."""
    if fault == "unknown_operation":
        return {"op": "no_such_operation", "args": {}}
    if fault == "not_finite":
        return put(sandbox, sandbox.node("bad", corpus_size=math.nan))
    return sandbox.graph.item("upsert_nodes", nodes="n1", **sandbox.place)


def failing(sandbox: Sandbox, place: str, fault: str) -> Reply:
    """A transaction that writes, updates and deletes, with one operation that cannot be carried out."""
    steps = [put(sandbox, sandbox.node("new")), put(sandbox, sandbox.node("a")), drop(sandbox, "b")]
    steps = steps[: room(sandbox.graph) - 1]
    at = {"first": 0, "middle": len(steps) // 2, "last": len(steps)}[place]
    return send(sandbox, *steps[:at], unusable(sandbox, fault), *steps[at:])


def said_to_fail(reply: Reply) -> None:
    """Go on only where a transaction with an unusable operation is said to fail."""
    expect.readable(reply)
    with expect.resting_on("GRA-TXN-3"):
        expect.that(not committed(reply), "an error, or success false", str(reply), "result.success")


def committed(reply: Reply) -> bool:
    """Whether an answer says that a transaction was committed."""
    if reply.is_error:
        return False
    result = reply.result if isinstance(reply.result, dict) else {}
    return result.get("success") is not False


def value(node: dict[str, Any]) -> str:
    """The value of a node."""
    return str(node["properties"]["corpus_value"])
