"""Transactions: all or nothing (SPECIFICATION 4.2.6; R33)."""

import math
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.scenarios.batches import UNUSABLE, drop, put

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


def transacting(graph: Graph) -> Sandbox:
    """Return an empty place if transactions take writes."""
    graph.require("transaction", "upsert_nodes")
    graph.operation_names.spelled("upsert_nodes")
    return graph.sandbox()


def room(graph: Graph) -> int:
    """The number of operations that the suite puts in one transaction."""
    return min(graph.capabilities.limit("max_batch_ops") or 5, 5)


def unusable(sandbox: Sandbox, fault: str = "unknown_operation") -> dict[str, Any]:
    """An operation that cannot be carried out."""
    if fault == "not_finite":
        return put(sandbox, sandbox.node("bad", corpus_size=math.nan))
    return UNUSABLE[fault] if fault == "unknown_operation" else sandbox.item("upsert_nodes", nodes="n1")


def failing(graph: Graph, sandbox: Sandbox, place: str, fault: str) -> Reply:
    """The answer to a transaction that writes, updates and deletes, with one operation that cannot be carried out."""
    steps = [put(sandbox, sandbox.node("new")), put(sandbox, sandbox.node("a")), drop(sandbox, "b")]
    steps = steps[: room(graph) - 1]
    at = {"first": 0, "middle": len(steps) // 2, "last": len(steps)}[place]
    reply = sandbox.call_many("transaction", *steps[:at], unusable(sandbox, fault), *steps[at:])
    expect.either(reply, "BadRequest", "NotSupported")
    return reply


def reported_as_failed(reply: Reply) -> None:
    """Go on only if a transaction with an unusable operation is reported as failed."""
    expect.readable(reply)
    with expect.resting_on("GRA-TXN-3"):
        expect.that(not committed(reply), "an error, or success false", str(reply), "result.success")


def committed(reply: Reply) -> bool:
    """Return whether an answer reports a transaction as committed."""
    result = reply.result if isinstance(reply.result, dict) else {}
    return not reply.is_error and result.get("success") is not False
