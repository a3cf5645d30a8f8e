"""Batches: sent, spoiled, filled to their limit, and their results (SPECIFICATION 7.3.3, 12.5; R14, R33)."""

from collections.abc import Sequence
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.support.answers import listed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import Place
from pytest_corpus.suites.graph.support.sandbox import Sandbox

MOST_OPS = 6_000
"""The suite does not fill a larger limit."""

UNUSABLE: dict[str, dict[str, Any]] = {
    "unknown_operation": {"op": "no_such_operation", "args": {"ids": ["no-such-node"]}},
    "wrong_arguments": {"op": "upsert_nodes", "args": {"nodes": "n1"}},
    "missing_arguments": {"op": "upsert_nodes", "args": {}},
    "wrong_delete": {"op": "delete_nodes", "args": {}},
}
"""Operations that no adapter can carry out."""


def batching(graph: Graph) -> Sandbox:
    """Return an empty place if batches take writes."""
    graph.require("batch", "upsert_nodes")
    sandbox = graph.sandbox()
    first = results(sandbox.call_many("batch", put(sandbox, sandbox.node("a"))).result)[:1]
    named = str(first[0].get("error") or first[0].get("code")) if first and first[0].get("ok") is False else ""
    if named.replace("_", "").lower() == "notsupported":
        raise NotAssessed("batches take no upsert_nodes")
    return graph.sandbox()


def room(graph: Graph, count: int) -> None:
    """Go on only if a batch holds this many operations."""
    most = graph.capabilities.limit("max_batch_ops")
    if most is not None and most < count:
        raise NotApplicable(f"a batch holds {most} operations")


def put(place: Place, *nodes: dict[str, Any]) -> dict[str, Any]:
    """A write of nodes."""
    return place.item("upsert_nodes", nodes=list(nodes))


def put_many(place: Place, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Writes of nodes, one for each number of them."""
    return [put(place, *(place.node(f"n{size}x{n}") for n in range(size))) for size in sizes]


def drop(place: Place, name: str) -> dict[str, Any]:
    """A delete of a node."""
    return place.item("delete_nodes", ids=[place.id(name)])


def link(place: Place, source: str, target: str) -> dict[str, Any]:
    """A write of an edge."""
    return place.item("upsert_edges", edges=[place.edge(source, target)])


def unusable(graph: Graph, kind: str = "unknown_operation") -> dict[str, Any]:
    """An operation that cannot be carried out."""
    item = UNUSABLE[kind]
    return item if kind == "unknown_operation" else {**item, "op": graph.operation_names.spelled(item["op"])}


def results(result: Any) -> list[dict[str, Any]]:
    """The results of a batch or a transaction."""
    return listed(result, "results", of=dict)


def failed_operations(result: Any) -> list[dict[str, Any]]:
    """The results of the operations that failed."""
    return [item for item in results(result) if item.get("ok") is False]


def mixed(graph: Graph, sandbox: Sandbox, place: str, kind: str) -> tuple[Reply, int, int]:
    """The answer to a batch with one unusable operation, the index of that, and the number of operations."""
    count = min(3, graph.capabilities.limit("max_batch_ops") or 3)
    at = {"first": 0, "middle": count // 2, "last": count - 1}[place]
    nodes = [sandbox.node(f"n{number}", f"v-{sandbox.tag}-n{number}") for number in range(count)]
    items = [unusable(graph, kind) if number == at else put(sandbox, node) for number, node in enumerate(nodes)]
    reply = sandbox.call_many("batch", *items)
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
    """The answer to a batch of this many operations, of which the first writes a node."""
    drops = (drop(sandbox, f"none{number}") for number in range(count - 1))
    return sandbox.call_many("batch", put(sandbox, sandbox.node("a")), *drops)


def in_order(counts: list[int | None], sizes: list[int]) -> None:
    """Results of operations that write these numbers of nodes count them in order, if they count at all."""
    if None in counts:
        return
    with expect.resting_on("GRA-NODE-5"):
        are_sizes = sorted(map(str, counts)) == sorted(map(str, sizes))
        expect.that(are_sizes, f"counts of {sizes}, the nodes of each operation", f"{counts}", "result.results")
    expect.that(
        counts == sizes, f"the order of the operations, which write {sizes} nodes", f"{counts}", "result.results"
    )
