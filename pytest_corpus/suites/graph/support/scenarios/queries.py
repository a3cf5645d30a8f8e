"""Queries that `query` and `stream_query` answer alike (SPECIFICATION 7.3.2, 7.4; R12, R33)."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.suites.graph.support.answers import listed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox

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
    "other_parameter": "$rank",
    "braces": "{wanted} {0} ${wanted} %s",
    "comment": "a /* b */ -- c // d",
    "newline": "a\nb\tc",
    "unicode": "\u02bc\u2019\u6771\U0001f600",
}
"""Values that mean something where they are written into the text of a query."""

INJECTIONS = ("quoted", "closing", "steps", "backslash_quote")
"""Those that end a text, a condition or a step of a query."""

TRICKY_IN_STREAMS = (*INJECTIONS, "parameter", "unicode")
"""Those that a stream is asked for, as it binds with the code of `query`."""

TYPED: dict[str, tuple[Any, Any]] = {
    "integer": (3, 4),
    "float": (2.5, 2.25),
    "text": ("three", "four"),
    "boolean": (True, False),
    "number_as_text": ("3", 3),
    "text_as_number": (3, "3"),
}
"""For each kind of parameter a value that is there and one that is not."""

_BAD_ARGUMENTS: dict[str, dict[str, Any]] = {
    "text": {"missing": ..., "number": 7, "list": ["MATCH"], "object": {"a": 1}},
    "params": {"list": ["a"], "text": "a", "number": 7},
    "namespace": {"number": 7, "list": ["a"]},
}
BAD_QUERIES = {f"{key}_{kind}": {key: bad} for key, kinds in _BAD_ARGUMENTS.items() for kind, bad in kinds.items()}


def asked(graph: Graph, operation: str, purpose: str = "group") -> None:
    """Go on only if an operation works, shows nodes correctly, and can be asked a question."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks(purpose)


@remembered
def streamed(graph: Graph, count: int) -> tuple[StreamReply, list[str], list[str]]:
    """A stream of a number of nodes, their values, and the values of its records."""
    graph.require("stream_query")
    graph.readers.trusted("stream_query")
    sandbox = graph.sandbox(own=False)
    written = sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    stream = sandbox.stream(graph.question("group", group=sandbox.group))
    found = [sandbox.own(record) for chunk in stream.chunks for record in listed(chunk, "records", of=object)]
    return stream, sorted(written), sorted(min(values) for values in found if values)


def answers_in(sandbox: Sandbox, name: str, items: list[dict[str, Any]]) -> list[Any]:
    """The results of queries in batches, or transactions, as large as they may be."""
    most, found = sandbox.graph.capabilities.limit("max_batch_ops") or len(items), []
    for start in range(0, len(items), most):
        reply = sandbox.call_many(name, *items[start : start + most])
        results = listed(reply.result, "results")
        refused = reply.is_a("NotSupported", "BadRequest") or all(map(is_not_supported, results))
        expect.applicable(not refused, f"a {name} takes no queries")
        expect.success(reply, f"a {name} to work")
        failed = sum(result.get("ok") is False for result in results)
        expect.that(not failed, f"every query of a {name} to be answered", f"{failed} failures", "result.results")
        found += results
    expect.that(len(found) == len(items), f"{len(items)} results", f"{len(found)}", "result.results")
    return found


def is_not_supported(result: Any) -> bool:
    """Return whether an operation of a batch failed with NotSupported."""
    return result.get("ok") is False and "NotSupported" in error_names(result)


def tricky_nodes(graph: Graph) -> tuple[Sandbox, dict[str, tuple[str, str]]]:
    """A sandbox with a node for each tricky value as its key, and one more; by kind, the key and the node's value."""
    sandbox = graph.sandbox(own=False)
    nodes = {}
    for kind, value in TRICKY.items():
        nodes[kind] = sandbox.node(kind)
        key = f"{sandbox.tag} {value}" if value.endswith("\\") else f"{value} {sandbox.tag}"
        nodes[kind]["properties"]["corpus_key"] = key
    sandbox.put(*nodes.values(), sandbox.node("other"))
    return sandbox, {kind: (node["properties"]["corpus_key"], value_of(node)) for kind, node in nodes.items()}


@remembered
def broken(graph: Graph) -> list[tuple[dict[str, Any], Reply]]:
    """Requests whose text is not a query of the dialect, with the answers of `query`."""
    texts = graph.dialects.texts("broken", str(graph.dialect))
    if not texts:
        raise NotAssessed(f"no text is known that is not a query of {graph.dialect}: give one with --corpus-dialects")
    asked = [{"text": text, "dialect": graph.dialect} for text in texts]
    return [(args, graph.call("query", args)) for args in asked]


def changed(graph: Graph, kind: str) -> dict[str, Any]:
    """A plain query with one argument changed or left out; one that needs no parameter, where those are wrong."""
    whole = {**graph.requests.minimal("query"), **BAD_QUERIES[kind]}
    quoted = graph.question("literal")
    asked = "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None
    if asked and "params" in BAD_QUERIES[kind]:
        whole["text"] = quoted["text"].replace("{literal}", "none")
    return {key: value for key, value in whole.items() if value is not ...}
