"""Traversals: depth, direction, types, filters (SPECIFICATION 4.2.6, 14.4; R12, R31)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.scenarios.isolation import lasting_place

MOST_DEPTH = 30
"""A larger maximal depth is not walked to its end."""

CHAIN = 4

HUBS: tuple[Any, ...] = (1, "text", "none")
KINDS: dict[str, Any] = {"a": 1, "b": 2, "c": "text", "d": 1, "ab": 2, "ac": 1}
"""The values that filters of traversals look for: of hubs, and of the nodes that edges lead to."""

Chain = tuple[Sandbox, tuple[dict[str, Any], ...]]
"""A place with nodes n0, n1 ... and its edges e0, e1 ... from each to the next, of two labels in turn."""


def chain(graph: Graph, length: int = CHAIN) -> Chain:
    """A chain of a length, written once a run."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    def fill(sandbox: Sandbox) -> tuple[dict[str, Any], ...]:
        sandbox.put(*(sandbox.node(f"n{number}", corpus_size=number) for number in range(length + 1)))
        labels = ("CORPUS_LINK", "CORPUS_OTHER")
        edges = tuple(sandbox.edge(f"n{n}", f"n{n + 1}", f"e{n}", label=labels[n % 2]) for n in range(length))
        sandbox.link(*edges)
        return edges

    return lasting_place(graph, ("chain", length), fill)


@remembered
def walked(graph: Graph, start: str, **args: Any) -> Any:
    """The result of a traversal from a node of the chain."""
    return chain(graph)[0].traversed(start, **args)


def star(graph: Graph) -> Sandbox:
    """A hub with an edge CORPUS_A to `a` and one CORPUS_B to `b`, which each have such edges to two nodes more."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    def fill(sandbox: Sandbox) -> None:
        sandbox.put(*(sandbox.node(name) for name in ("hub", "a", "b", "aa", "ab", "ba", "bb")))
        pairs = [("hub", "a"), ("hub", "b"), *((first, first + second) for first in "ab" for second in "ab")]
        sandbox.link(*(sandbox.edge(one, other, label=f"CORPUS_{other[-1].upper()}") for one, other in pairs))

    return lasting_place(graph, "star", fill)[0]


def filterable(graph: Graph) -> Sandbox:
    """Hubs with edges to the same nodes; each edge has the value of its target, and so has the hub of a filter."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    def fill(sandbox: Sandbox) -> None:
        hubs = {f"hub-{value}": value for value in HUBS}
        sandbox.put(*(sandbox.node(name, corpus_kind=kind) for name, kind in {**hubs, **KINDS}.items()))
        pairs = [(hub, name) for hub in hubs for name in KINDS if len(name) == 1]
        pairs += [("a", "ab"), ("a", "ac")]
        sandbox.link(*(sandbox.edge(one, other, corpus_kind=KINDS[other]) for one, other in pairs))

    return lasting_place(graph, "filterable", fill)[0]


def depths(graph: Graph) -> range:
    """The depths that are tried: up to three, or to the stated maximum."""
    most = graph.capabilities.limit("max_traversal_depth")
    return range(1, min(3, most or 3) + 1)


def deep(graph: Graph) -> tuple[Sandbox, int]:
    """A chain that is longer than the stated maximal depth, and that depth."""
    graph.require("traversal")
    most = graph.stated("max_traversal_depth")
    expect.assessable(most <= MOST_DEPTH, f"a depth of {most} is not walked here")
    return chain(graph, most + 1)[0], most


def along_edges(sandbox: Sandbox, result: Any, ends: Mapping[str, tuple[str, str]]) -> None:
    """Each path, where there are any, leads from the start node `a` along the edges that were written.

    Args:
        ends: the edges by their names, each with its source and its target.
    """
    edges = {sandbox.id(name): (sandbox.id(source), sandbox.id(target)) for name, (source, target) in ends.items()}
    paths = result.get("paths") if isinstance(result, dict) else None
    for path in paths if isinstance(paths, list) else ():
        steps = [step.get("id") if isinstance(step, dict) else step for step in path]
        expect.that(steps[:1] == [sandbox.id("a")], "a path from the start node", "another beginning", "result.paths")
        nodes = [step for step in steps if step not in edges]
        walked = list(pairwise(nodes))
        for pair in walked:
            expect.that(pair in edges.values(), "a path along the edges", "a step where there is none", "result.paths")
        taken = [edges[step] for step in steps if step in edges]
        expect.that(not taken or taken == walked, "the edges between its nodes", "other edges", "result.paths")
