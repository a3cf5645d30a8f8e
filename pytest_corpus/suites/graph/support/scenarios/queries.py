"""Queries that `query` and `stream_query` answer alike (SPECIFICATION 7.3.2, 7.4; R12, R33)."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.suites.graph.support.answers import listed, records
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

INJECTIONS = ("apostrophe", "quoted", "closing", "closing_double", "steps", "backslash_quote")
"""Those that end a text, a condition or a step of a query."""

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
    """An operation finds the nodes that a question asks for, and no others."""
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
    """An operation finds at each time what is there at that time."""
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


def streamed(graph: Graph, count: int) -> tuple[StreamReply, list[str], list[str]]:
    """A stream of a number of nodes, their values, and the values of its records."""
    graph.require("stream_query")
    graph.readers.trusted("stream_query")

    def ask() -> tuple[StreamReply, list[str], list[str]]:
        sandbox = graph.sandbox(own=False)
        written = sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
        stream = sandbox.stream(graph.question("group", group=sandbox.group))
        found = [sandbox.own(record) for chunk in stream.chunks for record in listed(chunk, "records", of=object)]
        return stream, sorted(written), sorted(min(values) for values in found if values)

    return graph.remembered(("stream", count), ask)


def binds(graph: Graph, operation: str) -> None:
    """An operation finds the node whose key is a tricky value, and only that."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("find")
    sandbox, keys = tricky_nodes(graph)
    for kind, (key, value) in keys.items():
        found = sandbox.answers(operation, "find", wanted=key)
        expect.that(found == [value], f"the node of the value {kind}", f"{len(found)} nodes, or another", "records")
    for kind in INJECTIONS:
        found = records(graph.invoke(operation, graph.question("find", wanted=TRICKY[kind]), sandbox.ctx))
        expect.that(not found, f"no record for {kind}, which no node has", f"{len(found)}", "records")


def binds_in_every_dialect(graph: Graph, operation: str) -> None:
    """An operation binds parameters in each listed dialect but the first.

    Raises:
        NotApplicable: no other dialect is listed that the suite knows.
    """
    graph.require(operation)
    others = [name for name in graph.dialects.known[1:] if asks(graph, "find", name)]
    if not others:
        raise NotApplicable("no other dialect is listed that the suite can ask in")
    sandbox, keys = tricky_nodes(graph)
    for dialect in others:
        for kind in INJECTIONS:
            key, value = keys[kind]
            found = sandbox.answers(operation, "find", dialect=dialect, wanted=key)
            got = f"{len(found)} nodes, or another"
            expect.that(found == [value], f"the node of the value {kind} in {dialect}", got, "records")


def binds_in_a_batch(graph: Graph, name: str) -> None:
    """The queries of a batch, or of a transaction, bind parameters in each listed dialect.

    Raises:
        NotApplicable: it takes no queries.
    """
    graph.require(name, "query")
    sandbox, keys = tricky_nodes(graph)
    dialects = [dialect for dialect in graph.dialects.known if asks(graph, "find", dialect)]
    asked = [(dialect, kind) for dialect in dialects for kind in INJECTIONS]
    items = [sandbox.item("query", **graph.question("find", dialect, wanted=keys[kind][0])) for dialect, kind in asked]
    most = graph.capabilities.limit("max_batch_ops") or len(items)
    answers: list[Any] = []
    for start in range(0, len(items), most):
        reply = sandbox.call_many(name, *items[start : start + most])
        if reply.is_a("NotSupported", "BadRequest"):
            raise NotApplicable(f"a {name} takes no queries")
        answers += listed(expect.success(reply, f"a {name} to work"), "results")
    if answers and all("NOTSUPPORTED" in str(each).upper().replace("_", "") for each in answers):
        raise NotApplicable(f"a {name} takes no queries")
    for (dialect, kind), answer in zip(asked, answers, strict=True):
        found = sandbox.own(answer)
        claim = f"the node of the value {kind} in {dialect}"
        expect.that(found == {keys[kind][1]}, claim, f"{len(found)} nodes, or another", f"{name}.results")


def asks(graph: Graph, purpose: str, dialect: str) -> bool:
    """Return whether a question can be asked in a dialect."""
    try:
        graph.speaks(purpose, dialect)
    except Undecided:
        return False
    return True


def tricky_nodes(graph: Graph) -> tuple[Sandbox, dict[str, tuple[str, str]]]:
    """Nodes whose keys are tricky values, and one more; by the kind of value the key and the value of its node."""
    sandbox = graph.sandbox(own=False)
    nodes = {}
    for kind, value in TRICKY.items():
        nodes[kind] = sandbox.node(kind)
        key = f"{sandbox.tag} {value}" if value.endswith("\\") else f"{value} {sandbox.tag}"
        nodes[kind]["properties"]["corpus_key"] = key
    sandbox.put(*nodes.values(), sandbox.node("other"))
    return sandbox, {kind: (node["properties"]["corpus_key"], value_of(node)) for kind, node in nodes.items()}


def binds_typed(graph: Graph, operation: str) -> None:
    """An operation finds a node by a value of each type that a property takes, and not by another value."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("typed")
    sandbox = graph.sandbox(own=False)
    for kind, (there, absent) in TYPED.items():
        node = sandbox.node(kind, rank=there)
        key = node["properties"]["corpus_key"] = f"{sandbox.key(kind)} $rank $wanted"
        if type(there) is int:
            sandbox.put(node)
        elif sandbox.call("upsert_nodes", {"nodes": [node]}).is_a("BadRequest"):
            continue  # a property that holds integers may take no other values
        found = sandbox.answers(operation, "typed", wanted=key, rank=there)
        expect.that(found == [value_of(node)], f"the node that has the value: {kind}", f"{len(found)} nodes", "records")
        found = sandbox.answers(operation, "typed", wanted=key, rank=absent)
        expect.that(not found, f"no node with another value: {kind}", f"{len(found)}", "records")


def ordered(graph: Graph, operation: str) -> None:
    """An operation gives the records of an ordered query in their order."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("ordered")
    sandbox = graph.sandbox(own=False)
    ranks = [5, 1, 4, 2, 7, 3, 6]
    nodes = [sandbox.node(f"n{rank}", rank=rank) for rank in ranks]
    sandbox.put(*nodes)
    wanted = [value_of(node) for node in sorted(nodes, key=lambda node: node["properties"]["corpus_rank"])]
    found = sandbox.answers(operation, "ordered", group=sandbox.group)
    expect.that(sorted(found) == sorted(wanted), f"{len(wanted)} records", f"{len(found)}, or others", "records")
    expect.that(found == wanted, "the order that was asked for", "another order", "records")


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
