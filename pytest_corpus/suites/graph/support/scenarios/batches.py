"""Batches, transactions and pages: valid, with an error, or filled to the limit (SPECIFICATION 7.3.3, 11.5; R31)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, describe_names, difference
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.run_state import find_limit
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.node_group import NodeGroup, value_of
from pytest_corpus.suites.graph.support.sandbox import MOST_PAGES, PAGE, GraphSandbox, call_or_none
from pytest_corpus.suites.graph.support.scenarios import words
from pytest_corpus.suites.graph.support.scenarios.isolation import empty_sandbox, shared_sandbox

MOST_OPS = 6_000
"""The suite does not test a larger limit."""

SIZES = (2, 1, 3)
"""The number of nodes that each operation of a valid batch writes."""

UNUSABLE: dict[str, dict[str, Any]] = {
    "unknown_operation": {"op": "no_such_operation", "args": {"ids": ["no-such-node"]}},
    "wrong_arguments": {"op": "upsert_nodes", "args": {"nodes": "n1"}},
    "missing_arguments": {"op": "upsert_nodes", "args": {}},
    "wrong_delete": {"op": "delete_nodes", "args": {}},
}
"""Operations that no adapter can carry out."""

SPOILING = {
    "batch": [
        ("first", "unknown_operation"),
        ("middle", "wrong_arguments"),
        ("last", "missing_arguments"),
        ("middle", "wrong_delete"),
    ],
    "transaction": [
        ("first", "unknown_operation"),
        ("middle", "wrong_arguments"),
        ("last", "not_finite"),
        ("last", "unknown_operation"),
        ("middle", "empty_id"),
    ],
}
"""For a batch and a transaction: pairs of the place and the kind of the one unusable operation."""

MIXED, FAILING = (pytest.mark.parametrize(("place", "kind"), cases) for cases in SPOILING.values())


@dataclass(frozen=True, slots=True)
class SpoiledBatch:
    """A batch or a transaction with one operation that cannot be carried out, and its answer.

    Attributes:
        reply: the answer to the batch.
        at: the index of the operation that cannot be carried out.
        written: the values of the nodes that the other operations write.
        before: the values of the nodes that existed before the batch.
        sandbox: the sandbox of the nodes.
        turn: the index of the batch in `SPOILING`.
    """

    reply: Reply
    at: int
    written: list[str]
    before: list[str]
    sandbox: GraphSandbox
    turn: int

    def read_nodes(self) -> tuple[str, list[str]]:
        """Return an operation that shows nodes, another in each call, and the values that it shows."""

        def read() -> tuple[str, list[str]]:
            readers = self.sandbox.graph.readers.for_nodes()
            reader = readers[(self.turn + inputs.seed()) % len(readers)]
            return reader, self.sandbox.read_values(reader)

        return cached(self.sandbox.graph, ("left", self.sandbox.tag), read)

    def expect_remaining(self, values: list[str], claim: str) -> None:
        """Check that, after the batch, an operation shows nodes with exactly these values."""
        reader, found = self.read_nodes()
        expect.check(found == sorted(values), f"{claim}: {len(values)} nodes", difference(values, found), reader)


def require_write_batches(graph: Graph, name: str = "batch") -> GraphSandbox:
    """Return an empty sandbox. Raises Undecided if the operation (`batch` or `transaction`) does not accept writes."""
    graph.require(name, "upsert_nodes")
    graph.operation_names.spell_operation("upsert_nodes")
    if name == "batch" and _takes_no_nodes(graph):
        raise NotAssessed(Obstacle.NO_BATCHED_UPSERT)
    return graph.sandbox()


@reading_separately()
@remembered
def _takes_no_nodes(graph: Graph) -> bool:
    sandbox = graph.sandbox()
    first = results(sandbox.call_many("batch", put_operation(sandbox, sandbox.node("a"))).result)[:1]
    named = str(first[0].get("error") or first[0].get("code")) if first and first[0].get("ok") is False else ""
    return named.replace("_", "").lower() == "notsupported"


def most_operations(graph: Graph) -> int | None:
    """Return the largest number of operations in a batch, as stated or as a trial finds it; None if there is none."""
    stated = graph.capabilities.limit("max_batch_ops")
    return stated or cached(graph, "operations", lambda: _find_operations(graph)) or None


@reading_separately()
def _find_operations(graph: Graph) -> int:
    sandbox = graph.sandbox()

    def takes(count: int) -> bool:
        return not sandbox.call_many("batch", *[drop_operation(sandbox, "none")] * count).is_a(*PERMANENT)

    with graph.client.provider.paused():
        return find_limit((10, 5, 3, 2, 1), takes)


def require_batch_size(graph: Graph, count: int) -> None:
    """Check that a batch may have this number of operations."""
    most = most_operations(graph)
    expect.applicable(most is None or most >= count, f"a batch may hold at most {most} operations")


def put_operation(group: NodeGroup, *nodes: dict[str, Any]) -> dict[str, Any]:
    """Return an operation that writes nodes."""
    return group.item("upsert_nodes", nodes=list(nodes))


def drop_operation(group: NodeGroup, name: str) -> dict[str, Any]:
    """Return an operation that deletes a node."""
    return group.item("delete_nodes", ids=[group.id(name)])


def link_operation(group: NodeGroup, source: str, target: str) -> dict[str, Any]:
    """Return an operation that writes an edge."""
    return group.item("upsert_edges", edges=[group.edge(source, target)])


def unusable_operation(sandbox: GraphSandbox, kind: str = "unknown_operation") -> dict[str, Any]:
    """Return an operation that cannot be carried out."""
    if kind == "not_finite":
        return put_operation(sandbox, sandbox.node("bad", corpus_size=math.nan))
    if kind == "empty_id":
        return put_operation(sandbox, {**sandbox.node("bad"), "id": ""})
    item = UNUSABLE[kind]
    return item if kind == "unknown_operation" else {**sandbox.graph.item(item["op"]), "args": item["args"]}


def results(result: Any) -> list[dict[str, Any]]:
    """Return the results of a batch or a transaction."""
    return items_of(result, "results", of=dict)


def failed_operations(result: Any) -> list[Any]:
    """Return the results of the failed operations."""
    return [item for item in results(result) if item.get("ok") is False] or items_of(result, "failures")


def is_committed(reply: Reply) -> bool:
    """True if an answer reports a transaction as committed."""
    result = reply.result if isinstance(reply.result, dict) else {}
    return not reply.is_error and result.get("success") is not False


def send_valid_batch(graph: Graph, name: str) -> tuple[Reply, tuple[int, ...]]:
    """Send a batch or a transaction of writes; return the answer, and the number of nodes of each operation."""
    sandbox = require_write_batches(graph, name)
    most = most_operations(graph) or graph.items_per_request
    sizes = tuple(size for size in SIZES if size <= graph.items_per_request)[:most]
    items = [put_operation(sandbox, *(sandbox.node(f"n{size}x{n}") for n in range(size))) for size in sizes]
    return cached(graph, ("sound", name), lambda: (sandbox.call_many(name, *items), sizes))


def send_spoiled_batch(graph: Graph, name: str, place: str, kind: str) -> SpoiledBatch:
    """Send a batch or a transaction of writes and one unusable operation of this kind, at this place."""
    found = cached(
        graph,
        ("spoiled", name, place, kind),
        partial(_send_spoiled_batch, require_write_batches(graph, name), name, place, kind),
    )
    found.read_nodes()
    return found


def _send_spoiled_batch(sandbox: GraphSandbox, name: str, place: str, kind: str) -> SpoiledBatch:
    nodes = [sandbox.node(each) for each in ("new", "newer" if name == "batch" else "a")]
    steps, before = [put_operation(sandbox, node) for node in nodes], []
    if name == "transaction":
        before = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        steps.append(drop_operation(sandbox, "b"))
    steps = steps[: (most_operations(sandbox.graph) or MOST_OPS) - 1]
    at = {"first": 0, "middle": len(steps) // 2, "last": len(steps)}[place]
    reply = sandbox.call_many(name, *steps[:at], unusable_operation(sandbox, kind), *steps[at:])
    expect.either(reply, "BadRequest", "NotSupported")
    written = [value_of(node) for node in nodes[: len(steps)]]
    return SpoiledBatch(reply, at, written, before, sandbox, SPOILING[name].index((place, kind)))


def stated_limit(graph: Graph) -> int:
    """Return the stated `max_batch_ops`."""
    require_write_batches(graph)
    most = graph.require_limit("max_batch_ops")
    expect.assessable(most <= MOST_OPS, Obstacle.LARGE_BATCH, number=most)
    return most


@remembered
def send_too_large(graph: Graph) -> tuple[Reply, GraphSandbox]:
    """Send a batch with one operation too many; return answer and sandbox. The first operation writes a node."""
    most, sandbox = stated_limit(graph), graph.sandbox()
    drops = (drop_operation(sandbox, f"none{number}") for number in range(most))
    return sandbox.call_many("batch", put_operation(sandbox, sandbox.node("a")), *drops), sandbox


def expect_order(counts: list[int | None], sizes: list[int]) -> None:
    """Check that the counts in results have the order of the operations, if the results have counts (R123)."""
    if None in counts:
        return
    with expect.resting_on("GRA-NODE-5"):
        alike = sorted(map(str, counts)) == sorted(map(str, sizes))
        expect.check(alike, f"the node counts {sizes}, in any order", f"{counts}", "result.results")
    expect.check(counts == sizes, f"the node counts {sizes}, in the order of the operations", f"{counts}", "results")


COUNT, ODD, CROWD = 11, 6, 105
"""The number of listed nodes, the number of unusual ids among them, and a number of nodes that needs several pages."""

PREDICATES: dict[str, Any] = {"greater": {"$gt": 1}, "choice": {"in": [2]}, "list": [2], "null": None}
"""Filter terms that are not plain values. Each may select nodes with the value 2, but never nodes with 1."""


def listable_sandbox(graph: Graph) -> GraphSandbox:
    """Return an empty sandbox. Raises Undecided if nodes cannot be listed in pages."""
    graph.require("bulk_vertices", "upsert_nodes")
    return empty_sandbox(graph)


def filled_sandbox(graph: Graph, count: int) -> GraphSandbox:
    """Return a sandbox with the nodes n0, n1 and so on."""
    sandbox = listable_sandbox(graph)
    sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    return sandbox


def own_nodes_filter(sandbox: GraphSandbox) -> dict[str, Any]:
    """Return the filter that selects the nodes of a sandbox in a shared namespace; empty in a new namespace."""
    return {} if sandbox.namespace or not sandbox.graph.accepts_filters else {"filter": {"corpus_group": sandbox.group}}


@remembered
def list_pages(graph: Graph, limit: int | None) -> tuple[GraphSandbox, set[str], list[list[Mapping[str, Any]]]]:
    """Return a sandbox with nodes, the ids of all nodes, and the pages of a listing with this limit."""
    graph.require("bulk_vertices", "upsert_nodes")

    sandbox, ids = shared_sandbox(graph, "pages", put_for_pages, empty=True)
    require_readable_namespace(sandbox, limit)
    given = {} if limit is None else {"limit": limit}
    return sandbox, ids, [*sandbox.pages({**given, **own_nodes_filter(sandbox)})]


def put_for_pages(sandbox: GraphSandbox) -> set[str]:
    """Write nodes to be listed in pages, some with unusual ids if the adapter accepts these (R138); return all ids."""
    ends = enumerate(vocabulary.texts(ODD, "i", ["composed", "decomposed", "emoji", "non_latin", "separators"]), COUNT)
    odd = {end: {**sandbox.node(f"n{number}"), "id": sandbox.id(end)} for number, end in ends}
    taken = words.offer_items(sandbox, "nodes", odd)
    plain = [sandbox.node(f"n{number}") for number in range(COUNT - len(taken))]
    sandbox.put(*plain)
    return {str(node["id"]) for node in (*plain, *taken.values())}


@remembered
def list_crowded_sandbox(graph: Graph) -> tuple[GraphSandbox, list[list[Mapping[str, Any]]], list[str] | None]:
    """Return a sandbox with more nodes than a default page holds, all pages, and the values that a query finds."""
    sandbox = filled_sandbox(graph, CROWD)
    found = call_or_none(sandbox.read_values, "query") if "query" in graph.readers.for_nodes() else None
    return sandbox, [*sandbox.pages(own_nodes_filter(sandbox))], found


def expect_every_node_once(sandbox: GraphSandbox, pages: Iterable[list[Mapping[str, Any]]], wanted: set[str]) -> None:
    """Check that the pages have exactly these nodes, each once; nodes of other tests are ignored."""
    mine: set[str] = set()
    for page in pages:
        ids = [str(node.get("id")) for node in page]
        found = [name for name in ids if sandbox.namespace is not None or name.startswith(f"{sandbox.tag}-")]
        again = len(found) - len(set(found) - mine)
        with expect.resting_on("GRA-BULK-3"):
            expect.check(not again, "each node once", f"{again} again", "result.nodes")
        mine |= set(found)
    missing, more = wanted - mine, mine - wanted
    expect.check(not missing, f"{len(wanted)} nodes", f"{describe_names(missing)} missing", "result.nodes")
    expect.check(not more, f"{len(wanted)} nodes", f"{len(more)} more", "result.nodes")


def require_readable_namespace(sandbox: GraphSandbox, limit: int | None) -> None:
    """Check that the namespace is not too full to be read completely in pages of this limit."""
    if sandbox.namespace is None and not sandbox.graph.accepts_filters:
        crowd = sum(len(page) for page in sandbox.pages({"limit": PAGE}))
        if limit is not None and crowd > limit * MOST_PAGES:
            raise NotApplicable(f"{crowd} nodes lie in the default namespace, and filters are not offered")


def expect_matching_nodes_once(sandbox: GraphSandbox, limit: int, wanted: dict[str, Any], ids: set[str]) -> None:
    """Check that pages with a filter have exactly these nodes, each once, or that the filter is refused permanently."""
    first = sandbox.call("bulk_vertices", {"limit": limit, "filter": wanted})
    if expect.either(first, "BadRequest", "NotSupported"):
        expect_every_node_once(sandbox, sandbox.pages({"limit": limit, "filter": wanted}, first), ids)
