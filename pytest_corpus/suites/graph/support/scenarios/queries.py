"""Queries that `query` and `stream_query` must answer alike, and traversals (SPECIFICATION 4.2.6, 7.3.2; R12, R33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.kit.run_state import find_limit
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import items_of, records
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios import words
from pytest_corpus.suites.graph.support.scenarios.isolation import shared_sandbox

TRICKY = {
    "apostrophe": "O'Neil",
    "quoted": "a' OR '1'='1",
    "closing": "none'}) RETURN n.corpus_value AS found //",
    "closing_double": 'none"}) RETURN n.corpus_value AS found //',
    "steps": "none').or(__.identity(), __.identity()) //",
    "double_quote": 'say "hi"',
    "backslash": "a\\",
    "backslash_quote": "a\\' OR 1=1 //",
    "backtick": "`a`",
    "parameter": "$wanted",
    "other_parameter": "$wanted_rank",
    "braces": "{wanted} {0} ${wanted} %s",
    "comment": "a /* b */ -- c // d",
    "newline": "a\nb\tc",
    "unicode": "\u02bc\u2019\u6771\U0001f600",
}
"""Values that have a meaning if they are written into the text of a query."""

INJECTIONS = ("quoted", "closing", "steps", "backslash_quote")
"""The kinds of `TRICKY` values that end a text, a condition or a step of a query."""

MORE_WORDS = 5
"""The number of parameter values that are taken from the vocabulary. The seed chooses these values."""

EVERY = "every word"
"""The kind of parameter value that has all words of the vocabulary."""

TRICKY_IN_STREAMS = (*INJECTIONS, "parameter", EVERY)
"""The kinds of values that are sent to streams: fewer, because streams usually share code with `query`."""

TYPED: dict[str, Any] = {
    "integer": 2**53 + 1,
    "another_integer": 2**53,
    "small_integer": 3,
    "float": 2.5,
    "another_float": 2.25,
    "text": " thr\u00e9e\u0301 ",
    "empty": "",
    "true": True,
    "false": False,
    "digits": "3",
}
"""Values of the key that queries search by. A query with one of them must find only the node with this value."""

ASKED = ("integer", "small_integer", "float", "text", "empty", "true", "digits")
"""The kinds of values that queries look for. Streams look for the last kind and for half of the others."""

_BAD_ARGUMENTS: dict[str, dict[str, Any]] = {
    "text": {"missing": ..., "number": 7, "list": ["MATCH"], "object": {"a": 1}},
    "params": {"list": ["a"], "text": "a", "number": 7},
    "namespace": {"number": 7, "list": ["a"]},
}
BAD_QUERIES = {f"{key}_{kind}": {key: bad} for key, kinds in _BAD_ARGUMENTS.items() for kind, bad in kinds.items()}


def require_query(graph: Graph, operation: str, purpose: str = "group") -> None:
    """Check that an operation works, shows nodes correctly, and accepts a query."""
    graph.require(operation)
    graph.readers.require_correct(operation)
    graph.require_question(purpose)


@remembered
def stream_nodes(graph: Graph, count: int) -> tuple[StreamReply, list[str], list[str]]:
    """Write nodes and stream them; return the stream, the values of the nodes, and the values in the records."""
    graph.require("stream_query")
    graph.readers.require_correct("stream_query")
    sandbox = graph.sandbox(own=False)
    written = sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    stream = sandbox.stream(graph.question("group", group=sandbox.group))
    found = [sandbox.own_values(record) for chunk in stream.chunks for record in items_of(chunk, "records", of=object)]
    return stream, sorted(written), sorted(min(values) for values in found if values)


def find_values(
    sandbox: GraphSandbox, operation: str, key: str, dialect: str | None = None, purpose: str = "find", **more: Any
) -> list[str] | None:
    """Return the values of the found nodes, or None if the query's parameters are refused permanently (R138)."""
    sandbox.graph.require_question(purpose, dialect)
    args = sandbox.graph.question(purpose, dialect, wanted=key, **more)
    reply = sandbox.stream(args) if operation == "stream_query" else sandbox.call("query", args)
    if is_parameter_refusal(reply.names):
        return None
    return [min(values) for values in map(sandbox.own_values, records(reply)) if values]


def query_in_batches(sandbox: GraphSandbox, name: str, items: list[dict[str, Any]]) -> list[Any] | None:
    """Send queries in large batches or transactions; return the results, or None if a request is refused (R138)."""
    most, found = sandbox.graph.capabilities.limit("max_batch_ops") or len(items), []
    for start in range(0, len(items), most):
        reply = sandbox.call_many(name, *items[start : start + most])
        results = items_of(reply.result, "results")
        if reply.is_a("NotSupported", "BadRequest") or all(map(is_not_supported, results)):
            return None
        expect.success(reply, f"a {name} to work")
        failed = [result for result in results if result.get("ok") is False]
        builds = any("IndexNotReady" in error_names(result) for result in failed)
        expect.assessable(not builds, Obstacle.INDEX_BUILDING)
        failed = [each for each in failed if not is_parameter_refusal(error_names(each))]
        expect.check(not failed, f"every query of a {name} to be answered", f"{len(failed)} failures", "result.results")
        found += results
    expect.check(len(found) == len(items), f"{len(items)} results", f"{len(found)}", "result.results")
    return found


def is_parameter_refusal(names: Sequence[str]) -> bool:
    """True if an error of these classes may refuse a parameter. A parse error may not: parameters are not parsed."""
    permanent = any(is_a(name, family) for name in names for family in PERMANENT)
    return permanent and not any(is_a(name, "QueryParseError") for name in names)


def is_not_supported(result: Any) -> bool:
    """True if an operation of a batch failed with NotSupported."""
    return result.get("ok") is False and "NotSupported" in error_names(result)


def tricky_nodes(graph: Graph) -> tuple[GraphSandbox, dict[str, tuple[str, str]]]:
    """Write a node for each tricky key and one more; return the sandbox and, by kind, each node's key and value."""
    sandbox = graph.sandbox(own=False)
    nodes = {}
    for kind, value in TRICKY.items():
        nodes[kind] = sandbox.node(kind)
        last = kind in INJECTIONS or value.endswith("\\")  # the injected text ends the query
        key = f"{sandbox.tag} {value}" if last else f"{value} {sandbox.tag}"
        nodes[kind]["properties"]["corpus_key"] = key
    sandbox.put(*nodes.values(), sandbox.node("other"))
    odd = vocabulary.fill_in(vocabulary.choose(vocabulary.WORDS, MORE_WORDS - 1), sandbox.tag) | {
        EVERY: vocabulary.join_words()
    }
    offered = {kind: sandbox.node(f"w{number}") for number, kind in enumerate(odd)}
    for kind, node in offered.items():
        node["properties"]["corpus_key"] = odd[kind]
    nodes |= {kind: {**node} for kind, node in words.offer_items(sandbox, "nodes", offered).items()}
    return sandbox, {kind: (node["properties"]["corpus_key"], value_of(node)) for kind, node in nodes.items()}


@remembered
def send_broken_queries(graph: Graph) -> list[tuple[dict[str, Any], Reply]]:
    """Send requests whose text is not a query of the dialect; return each with the answer of `query`."""
    texts = graph.dialects.texts("broken", str(graph.dialect))
    if not texts:
        raise NotAssessed(Obstacle.NO_WRONG_TEXT, dialect=graph.dialect)
    asked = [{"text": text, "dialect": graph.dialect} for text in texts]
    return [(args, graph.call("query", args)) for args in asked]


def change_query(graph: Graph, kind: str) -> dict[str, Any]:
    """Return a query with one wrong or missing argument. If `params` is wrong, the query uses no parameters."""
    whole = {**graph.requests.minimal("query"), **BAD_QUERIES[kind]}
    quoted = graph.question("literal")
    asked = "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None
    if asked and "params" in BAD_QUERIES[kind]:
        whole["text"] = quoted["text"].replace("{literal}", "none")
    return {key: value for key, value in whole.items() if value is not ...}


MOST_DEPTH = 30
"""If the stated maximum depth is larger, the suite does not test it."""

CHAIN = 4

HUBS = ("number", "text", "none")
KINDS = {"a": "number", "b": "other", "c": "text", "d": "number", "ab": "other", "ac": "number"}
"""The target nodes of traversals with filters, by name, and the name of the value of each node."""

PLAIN: dict[str, Any] = {"number": 1, "other": 2, "text": "text", "none": "none"}
"""By name: the values for a store that refuses unusual texts."""

Chain = tuple[GraphSandbox, tuple[dict[str, Any], ...]]
"""A sandbox with nodes n0, n1 ..., and the edges e0, e1 ... from each node to the next. Two labels alternate."""


def chain(graph: Graph, length: int = CHAIN) -> Chain:
    """Return a chain of `length` edges, written once in a run."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    def fill(sandbox: GraphSandbox) -> tuple[dict[str, Any], ...]:
        sandbox.put(*(sandbox.node(f"n{number}", corpus_size=number) for number in range(length + 1)))
        labels = ("CORPUS_LINK", "CORPUS_OTHER")
        edges = tuple(sandbox.edge(f"n{n}", f"n{n + 1}", f"e{n}", label=labels[n % 2]) for n in range(length))
        sandbox.put_edges(*edges)
        return edges

    return shared_sandbox(graph, ("chain", length), fill)


@remembered
def traverse_chain(graph: Graph, start: str, **args: Any) -> Any:
    """Return the result of a traversal from a node of the chain."""
    return chain(graph)[0].traverse(start, **args)


def star(graph: Graph) -> GraphSandbox:
    """Return a tree with `hub` and two levels below it. Each parent has one edge CORPUS_A and one edge CORPUS_B."""
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    def fill(sandbox: GraphSandbox) -> None:
        sandbox.put(*(sandbox.node(name) for name in ("hub", "a", "b", "aa", "ab", "ba", "bb")))
        pairs = [("hub", "a"), ("hub", "b"), *((first, first + second) for first in "ab" for second in "ab")]
        sandbox.put_edges(*(sandbox.edge(one, other, label=f"CORPUS_{other[-1].upper()}") for one, other in pairs))

    return shared_sandbox(graph, "star", fill)[0]


def typed_property(value: Any) -> dict[str, Any]:
    """Return a property with this value. A property may have one type (R110), so each type has its own key."""
    return {"corpus_kind" if isinstance(value, str) else "corpus_size": value}


def filterable_sandbox(graph: Graph) -> tuple[GraphSandbox, dict[str, Any]]:
    """Write start nodes with edges to the same targets; return the sandbox, and the values to filter by.

    There is a start node for each value. Each edge has the value of its target. Some values are unusual texts, if
    the adapter accepts these (R138).
    """
    graph.require("traversal", "upsert_nodes", "upsert_edges")

    hubs = {f"hub-{value}": value for value in HUBS}
    pairs = [(hub, name) for hub in hubs for name in KINDS if len(name) == 1]
    pairs += [("a", "ab"), ("a", "ac")]

    def fill(sandbox: GraphSandbox) -> dict[str, Any]:
        none = vocabulary.INJECTIONS["condition"]
        texts = [{"text": text, "none": none} for text in vocabulary.refusable_texts("w")]
        for values in (*({**PLAIN, **each} for each in texts), PLAIN):
            nodes = {
                name: sandbox.node(name, **typed_property(values[kind])) for name, kind in {**hubs, **KINDS}.items()
            }
            if values is PLAIN:
                sandbox.put(*nodes.values())
            elif len(words.offer_items(sandbox, "nodes", nodes)) < len(nodes):
                continue
            links = {f"{one} {end}": sandbox.edge(one, end, **typed_property(values[KINDS[end]])) for one, end in pairs}
            if values is not PLAIN and len(words.offer_items(sandbox, "edges", links)) == len(links):
                return values
        sandbox.put_edges(*links.values())
        return PLAIN

    return shared_sandbox(graph, "filterable", fill)


def depths(graph: Graph) -> range:
    """Return the depths to try: up to three, or up to the maximum that is stated, or that a trial finds."""
    most = graph.capabilities.limit("max_traversal_depth") or cached(graph, "depth", lambda: _find_depth(graph))
    return range(1, min(3, most or 3) + 1)


@reading_separately()
def _find_depth(graph: Graph) -> int:
    def takes(depth: int) -> bool:
        return not graph.call("traversal", {**graph.requests.minimal("traversal"), "max_depth": depth}).is_a(*PERMANENT)

    with graph.client.provider.paused():
        return find_limit((3, 2, 1), takes)


def deep_chain(graph: Graph) -> tuple[GraphSandbox, int]:
    """Return a chain that is longer than the stated maximum depth, and this maximum."""
    graph.require("traversal")
    most = graph.require_limit("max_traversal_depth")
    expect.assessable(most <= MOST_DEPTH, Obstacle.LARGE_DEPTH, number=most)
    return chain(graph, most + 1)[0], most


def expect_paths(sandbox: GraphSandbox, result: Any, ends: Mapping[str, tuple[str, str]]) -> None:
    """Check that each path in a result leads from the start node `a` along existing edges."""
    edges = {sandbox.id(name): (sandbox.id(source), sandbox.id(target)) for name, (source, target) in ends.items()}
    paths = result.get("paths") if isinstance(result, dict) else None
    for path in paths if isinstance(paths, list) else ():
        steps = [step.get("id") if isinstance(step, dict) else step for step in path]
        expect.check(steps[:1] == [sandbox.id("a")], "a path from the start node", "another beginning", "result.paths")
        nodes = [step for step in steps if step not in edges]
        walked = list(pairwise(nodes))
        for pair in walked:
            expect.check(pair in edges.values(), "a path along the edges", "a step without an edge", "result.paths")
        taken = [edges[step] for step in steps if step in edges]
        expect.check(not taken or taken == walked, "the edges between its nodes", "other edges", "result.paths")
