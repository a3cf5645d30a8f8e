"""Batches: sent, spoiled, filled to their limit, and what their results tell (SPECIFICATION 7.3.3, 12.5; R14, R33)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.subject.answers import listed
from pytest_corpus.suites.graph.subject.component import Graph
from pytest_corpus.suites.graph.subject.sandbox import GraphCalls, Sandbox

MOST_OPS = 6_000
"""A larger limit is not filled."""

UNUSABLE: dict[str, dict[str, Any]] = {
    "unknown_operation": {"op": "no_such_operation", "args": {"ids": ["no-such-node"]}},
    "wrong_arguments": {"op": "upsert_nodes", "args": {"nodes": "n1"}},
    "missing_arguments": {"op": "upsert_nodes", "args": {}},
    "wrong_delete": {"op": "delete_nodes", "args": {}},
}
"""Operations that no adapter can carry out."""


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
