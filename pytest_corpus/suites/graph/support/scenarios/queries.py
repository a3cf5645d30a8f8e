"""Queries that `query` and `stream_query` answer alike (SPECIFICATION 7.3.2, 7.4; R12, R33)."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of

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

TYPED: dict[str, tuple[Any, Any]] = {
    "integer": (3, 4),
    "float": (2.5, 2.25),
    "text": ("three", "four"),
    "boolean": (True, False),
    "number_as_text": ("3", 3),
    "text_as_number": (3, "3"),
}
"""For each kind of parameter a value that is there and one that is not."""

BAD_QUERIES: dict[str, dict[str, Any]] = {
    "text_missing": {"text": ...},
    "text_number": {"text": 7},
    "text_list": {"text": ["MATCH"]},
    "text_object": {"text": {"a": 1}},
    "params_list": {"params": ["a"]},
    "params_text": {"params": "a"},
    "params_number": {"params": 7},
    "namespace_number": {"namespace": 7},
    "namespace_list": {"namespace": ["a"]},
}


def finds(graph: Graph, operation: str, purpose: str) -> None:
    """A entry point finds the nodes that a question asks for, and no others."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks(purpose)
    sandbox, other = graph.sandbox(own=False), graph.sandbox(own=False)
    values = sandbox.put_named("abc")
    other.put(other.node("a"))
    if purpose == "group":
        sandbox.shows(operation, values.values(), "the nodes of the group")
        return
    for name, value in values.items():
        found = sandbox.answers(operation, "find", wanted=sandbox.key(name))
        expect.that(found == [value], "the one node of that key", f"{len(found)} nodes, or another", "records")


def changes(graph: Graph, operation: str) -> None:
    """A entry point finds at each time what is there at that time."""
    graph.require("upsert_nodes", "delete_nodes")
    graph.require(operation)
    graph.readers.trusted(operation)
    sandbox = graph.sandbox(own=False)
    sandbox.shows(operation, (), "nothing before the first write")
    first = sandbox.put(sandbox.node("a"))
    sandbox.shows(operation, first, "the first node")
    second = sandbox.put(sandbox.node("b"))
    sandbox.shows(operation, [*first, *second], "both nodes")
    first = sandbox.put(sandbox.node("a"))
    sandbox.shows(operation, [*first, *second], "the updated node")
    sandbox.remove("nodes", "b")
    sandbox.shows(operation, first, "the node that is left")


def binds(graph: Graph, operation: str, value: str) -> None:
    """A entry point finds the node whose key is a tricky value, and only that."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("find")
    sandbox = graph.sandbox(own=False)
    node, other = sandbox.node("a"), sandbox.node("b")
    key = f"{value} {sandbox.tag}" if not value.endswith("\\") else f"{sandbox.tag} {value}"
    node["properties"]["corpus_key"] = key
    sandbox.put(node, other)
    found = sandbox.answers(operation, "find", wanted=key)
    wanted = [value_of(node)]
    expect.that(found == wanted, "the node that has the value", f"{len(found)} nodes, or another", "records")
    for absent in (value, f"none{value}"):
        args = graph.question("find", wanted=absent)
        found = records(graph.invoke(operation, args, sandbox.ctx))
        expect.that(not found, "no record for a value that no node has", f"{len(found)}", "records")


def binds_typed(graph: Graph, operation: str, there: Any, absent: Any) -> None:
    """A entry point finds a node by a value of some type, and not by another value."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("typed")
    sandbox = graph.sandbox(own=False)
    node = sandbox.node("a", rank=there)
    key = node["properties"]["corpus_key"] = f"{sandbox.key('a')} $rank $wanted"
    if type(there) is not int and sandbox.call("upsert_nodes", {"nodes": [node]}).is_a("BadRequest"):
        raise NotApplicable("a property that holds integers takes no other values")
    values = sandbox.put(node)
    found = sandbox.answers(operation, "typed", wanted=key, rank=there)
    expect.that(found == values, "the node that has the value", f"{len(found)} nodes", "records")
    found = sandbox.answers(operation, "typed", wanted=key, rank=absent)
    expect.that(not found, "no node with another value", f"{len(found)}", "records")


def ordered(graph: Graph, operation: str) -> None:
    """A entry point gives the records of an ordered query in their order."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("ordered")
    sandbox = graph.sandbox(own=False)
    ranks = [5, 1, 4, 2, 7, 3, 6]
    nodes = [sandbox.node(f"n{rank}", rank=rank) for rank in ranks]
    sandbox.put(*nodes)
    wanted = [value_of(node) for _, node in sorted(zip(ranks, nodes, strict=True), key=_rank)]
    found = sandbox.answers(operation, "ordered", group=sandbox.group)
    expect.that(sorted(found) == sorted(wanted), f"{len(wanted)} records", f"{len(found)}, or others", "records")
    expect.that(found == wanted, "the order that was asked for", "another order", "records")


def _rank(pair: tuple[int, Any]) -> int:
    return pair[0]


def broken(graph: Graph) -> list[dict[str, Any]]:
    """Requests whose text is not a query of the dialect.

    Raises:
        NotAssessed: none is known.
    """
    texts = graph.dialects.texts("broken", str(graph.dialect))
    if not texts:
        raise NotAssessed(f"no text is known that is not a query of {graph.dialect}: give one with --corpus-dialects")
    return [{"text": text, "dialect": graph.dialect} for text in texts]


def changed(graph: Graph, kind: str) -> dict[str, Any]:
    """A plain query with one argument changed or left out; one that needs no parameter, where those are wrong."""
    whole = {**graph.requests.minimal("query"), **BAD_QUERIES[kind]}
    quoted = graph.question("literal")
    asked = "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None
    if asked and "params" in BAD_QUERIES[kind]:
        whole["text"] = quoted["text"].replace("{literal}", "none")
    return {key: value for key, value in whole.items() if value is not ...}
