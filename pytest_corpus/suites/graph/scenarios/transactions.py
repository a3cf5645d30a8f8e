"""Transactions: all or nothing (SPECIFICATION 4.2.6; R33)."""

from __future__ import annotations

import math
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.subject.component import Graph
from pytest_corpus.suites.graph.subject.sandbox import GraphCalls, Sandbox

BAD: dict[str, Any] = {
    "text": "upsert_nodes",
    "number": 7,
    "object": {"op": "upsert_nodes"},
    "null": None,
    "no_object": ["upsert_nodes"],
    "a_null": [None],
    "without_op": [{"args": {}}],
    "without_args": [{"op": "upsert_nodes"}],
    "op_number": [{"op": 7, "args": {}}],
    "args_list": [{"op": "upsert_nodes", "args": []}],
}


def transacting(graph: Graph) -> list[str]:
    """Go on only where transactions take writes; the operations that show what they wrote."""
    graph.require("transaction", "upsert_nodes")
    graph.batched("upsert_nodes")
    return graph.readers.of_nodes()


def room(graph: GraphCalls) -> int:
    """How many operations the suite puts in one transaction."""
    return min(graph.capabilities.limit("max_batch_ops") or 5, 5)


def send(sandbox: Sandbox, *items: dict[str, Any]) -> Reply:
    """The answer to a transaction."""
    return sandbox.call("transaction", {"operations": list(items)})


def put(sandbox: Sandbox, node: dict[str, Any]) -> dict[str, Any]:
    """A write of a node."""
    return sandbox.item("upsert_nodes", nodes=[node])


def drop(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """A delete of a node."""
    return sandbox.item("delete_nodes", ids=[sandbox.id(name)])


def link(sandbox: Sandbox, source: str, target: str) -> dict[str, Any]:
    """A write of an edge."""
    return sandbox.item("upsert_edges", edges=[sandbox.edge(source, target)])


def unusable(sandbox: Sandbox, fault: str) -> dict[str, Any]:
    """An operation that cannot be carried out."""
    if fault == "unknown_operation":
        return {"op": "no_such_operation", "args": {"ids": ["no-such-node"]}}
    if fault == "not_finite":
        return put(sandbox, sandbox.node("bad", corpus_size=math.nan))
    return sandbox.item("upsert_nodes", nodes="n1")


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
