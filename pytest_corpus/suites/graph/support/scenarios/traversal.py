"""Traversals: depth, direction, types, filters (SPECIFICATION 4.2.6, 14.4; R12, R31)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import Sandbox

MOST_DEPTH = 30
"""A larger maximal depth is not walked to its end."""

CHAIN = 4

BAD_TRAVERSALS: dict[str, dict[str, Any]] = {
    "starts_missing": {"start_nodes": ...},
    "starts_text": {"start_nodes": "n1"},
    "starts_number": {"start_nodes": 7},
    "starts_numbers": {"start_nodes": [7]},
    "starts_nulls": {"start_nodes": [None]},
    "starts_object": {"start_nodes": {"n1": 1}},
    "depth_text": {"max_depth": "two"},
    "depth_negative": {"max_depth": -1},
    "depth_fraction": {"max_depth": 1.5},
    "depth_list": {"max_depth": [1]},
    "direction_number": {"direction": 7},
    "direction_unknown": {"direction": "SIDEWAYS"},
    "direction_list": {"direction": ["OUTGOING"]},
    "types_text": {"relationship_types": "CORPUS_LINK"},
    "types_numbers": {"relationship_types": [7]},
    "node_filters_text": {"node_filters": "a"},
    "node_filters_list": {"node_filters": ["a"]},
    "relationship_filters_text": {"relationship_filters": "a"},
    "namespace_number": {"namespace": 7},
}


class Chain(Sandbox):
    """A place with nodes n0, n1 ... and edges e0, e1 ... from each to the next, of two labels in turn."""

    edges: tuple[dict[str, Any], ...] = ()

    def build(self, length: int) -> Chain:
        """Write the chain."""
        self.put(*(self.node(f"n{number}") for number in range(length + 1)))
        labels = ("CORPUS_LINK", "CORPUS_OTHER")
        self.edges = tuple(self.edge(f"n{n}", f"n{n + 1}", f"e{n}", label=labels[n % 2]) for n in range(length))
        self.link(*self.edges)
        return self


def chain(graph: Graph, length: int = CHAIN) -> Chain:
    """A chain in a place of its own."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")
    sandbox = graph.sandbox()
    return Chain(graph, sandbox.tag, namespace=sandbox.namespace).build(length)


def star(graph: Graph) -> Sandbox:
    """A hub with an edge CORPUS_A to `a` and one CORPUS_B to `b`, which each have such edges to two nodes more."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")
    sandbox = graph.sandbox()
    sandbox.put(*(sandbox.node(name) for name in ("hub", "a", "b", "aa", "ab", "ba", "bb")))
    pairs = [("hub", "a"), ("hub", "b"), *((first, first + second) for first in "ab" for second in "ab")]
    sandbox.link(*(sandbox.edge(one, other, label=f"CORPUS_{other[-1].upper()}") for one, other in pairs))
    return sandbox


def depths(graph: Graph) -> range:
    """The depths that are tried: up to three, or to the stated maximum."""
    most = graph.capabilities.limit("max_traversal_depth")
    return range(1, min(3, most or 3) + 1)


def deep(graph: Graph) -> tuple[Sandbox, int]:
    """A chain that is longer than the stated maximal depth, and that depth.

    Raises:
        NotApplicable: none is stated.
        NotAssessed: it is too large to be walked.
    """
    graph.require("traversal")
    most = graph.capabilities.limit("max_traversal_depth")
    if most is None:
        raise NotApplicable("capabilities state no max_traversal_depth")
    if most > MOST_DEPTH:
        raise NotAssessed(f"a depth of {most} is not walked here")
    return chain(graph, most + 1), most


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
