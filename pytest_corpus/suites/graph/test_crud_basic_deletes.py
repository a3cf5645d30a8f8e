"""Deletes of nodes and edges, by id and by filter (SPECIFICATION 7.3.1; R26)."""

from collections.abc import Mapping

import pytest

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.kit.reply import Reply, failed_items
from pytest_corpus.kit.store.results import processed_count
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.readers import is_refused
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios import bad_arguments, batches, edges, queries, words
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.graph.support.scenarios.edges import PARALLEL
from pytest_corpus.suites.graph.support.scenarios.isolation import WHERE, empty_sandbox, sandbox_at
from pytest_corpus.suites.shared.claims.replays import send_twice_at_once

ALIKE = {"x": "caf\u00e9", "y": "CAF\u00c9", "z": "cafe\u0301"}
"""Texts for the kinds x, y and z. They differ only in letter case or normal form."""

LONG = 40
"""The number of ids in a long list."""


@core("GRA-DELETE-1")
@pytest.mark.parametrize("where", WHERE)
def test_deleted_nodes_are_gone(graph: Graph, where: str) -> None:
    """First one node, then two nodes in one request are deleted; the other nodes stay."""
    graph.require("upsert_nodes", "delete_nodes")
    sandbox = sandbox_at(graph, where)
    values = sandbox.put_named("abcd")
    sandbox.remove("nodes", "b")
    sandbox.expect_one_shows_values([values[name] for name in "acd"], "all but the deleted node")
    if graph.items_per_request > 1:
        reply = sandbox.call("delete_nodes", {"ids": [sandbox.id("d"), sandbox.id("a")]})
        expect.success(reply, "delete_nodes to work")
        (sandbox.expect_all_show_values if where == "default" else sandbox.expect_one_shows_values)(
            [values["c"]], "all but the deleted nodes"
        )


@pytest.mark.requirement("GRA-DELETE-1")
def test_a_delete_removes_what_is_there_and_nothing_else(graph: Graph) -> None:
    """A delete removes all existing nodes of its list, even of a long one, and keeps nodes with similar ids."""
    graph.require("upsert_nodes", "delete_nodes")
    expect.applicable(graph.items_per_request >= 2, "a request may hold only one item")
    sandbox = graph.sandbox()
    many = [f"n{number}" for number in range(min(9, graph.items_per_request - 2))]
    values = sandbox.put_named(("a", "ab", "a-1", "b", *many))
    unknown = [f"none{number}" for number in range(LONG - len(many))]
    long = sandbox.call("delete_nodes", {"ids": list(map(sandbox.id, (*unknown, "a", *many)))})
    shorter = [("none", "a", *many)] if is_refused(long) else []
    for names in (*shorter, ("b", "none")):
        expect.success(sandbox.call("delete_nodes", {"ids": list(map(sandbox.id, names))}), "delete_nodes to work")
    some = vocabulary.choose(vocabulary.WORDS, 8, ["composed", "decomposed"])
    odd = words.offer_items(sandbox, "nodes", words.nodes_with_ids(sandbox, {**vocabulary.INJECTIONS, **some}))
    doomed = {*vocabulary.INJECTIONS, "composed"}
    gone = [node for kind, node in odd.items() if kind in doomed]
    kept = [node for kind, node in odd.items() if kind not in doomed]
    for start in range(0, len(gone), graph.items_per_request):
        ids = [node["id"] for node in gone[start : start + graph.items_per_request]]
        expect.success(sandbox.call("delete_nodes", {"ids": ids}), "delete_nodes to work")
    sandbox.expect_all_show_values([values["ab"], values["a-1"], *map(value_of, kept)], "all but the deleted nodes")


@pytest.mark.requirement("GRA-DELETE-1")
def test_a_deleted_node_stays_deleted(graph: Graph) -> None:
    """Writes of other nodes do not bring a deleted node back. If the node is written again, it has the new value."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    values = sandbox.put_named("abc")
    sandbox.remove("nodes", "a")
    del values["a"]
    for then in ("delete", "upsert", "delete_again", "update", *filter(graph.works, MANY)):
        name = {"delete": "c", "delete_again": "a", "update": "b"}.get(then, then)
        if then.startswith("delete"):
            sandbox.remove("nodes", name)
            values.pop(name, None)
        elif then in MANY:
            node = sandbox.node(name)
            expect.success(sandbox.call(then, sandbox.write_args(then, "nodes", node)), f"{then} to work")
            values[name] = value_of(node)
        else:
            [values[name]] = sandbox.put(sandbox.node(name))
        sandbox.expect_one_shows_values(values.values(), f"all but the deleted nodes, after {then}")
    sandbox.expect_all_show_values(
        [*values.values(), *sandbox.put(sandbox.node("a"))], "all nodes, including the one that was written again"
    )


@core("GRA-DELETE-2")
def test_deleted_edges_are_gone(graph: Graph) -> None:
    """A deleted edge is not shown, even if its id was the last of a long list; other edges and all nodes stay."""
    graph.require("delete_edges")
    edges.require_edge_readers(graph)
    sandbox, values = edges.link_nodes(graph)
    sandbox.put_edges(sandbox.edge("a", "c", "f"), sandbox.edge("b", "c", "g"))
    sandbox.remove("edges", "e")
    sandbox.expect_all_show_targets("a", {"c": values["c"]}, "all but the deleted edge")
    unknown = [sandbox.id(f"none{number}") for number in range(LONG)]
    odd = {kind: word for kind, word in vocabulary.WORDS.items() if kind not in (*vocabulary.CONTROLS, "long")}
    injected = vocabulary.fill_in(vocabulary.INJECTIONS)
    for names in ({**injected, **vocabulary.fill_in(odd)}, injected, {}):
        ids = [*map(sandbox.id, names.values()), *unknown[len(names) :]]
        reply = sandbox.call("delete_edges", {"ids": [*ids, sandbox.id("f")]})
        if expect.either(reply, *PERMANENT) and not reply.failed_items:
            break
    else:
        sandbox.remove("edges", "f")
    sandbox.expect_all_show_targets("a", (), "no edge")
    sandbox.expect_one_shows_targets("b", {"c": values["c"]}, "the edge that was not deleted")
    sandbox.expect_one_shows_values(values.values(), "the nodes of deleted edges")


@pytest.mark.requirement("GRA-DELETE-2")
def test_a_parallel_edge_stays(graph: Graph) -> None:
    """If one of two edges between the same nodes is deleted, the other edge stays."""
    graph.require("delete_edges")
    edges.require_edge_readers(graph)
    expect.applicable(edges.accepts_edges(graph, PARALLEL), f"{PARALLEL} is refused permanently")
    sandbox, values = edges.link_nodes(graph)
    sandbox.put_edges(sandbox.edge("a", "b", "f"))
    sandbox.remove("edges", "e")
    sandbox.expect_all_show_targets("a", {"b": values["b"]}, "the edge that was not deleted")


@pytest.mark.requirement("GRA-DELETE-4")
def test_a_deleted_node_is_not_reached(graph: Graph) -> None:
    """No edge leads to or through a deleted node, whether it was deleted by id or by a filter."""
    sandbox, reply = delete_the_middle(graph)
    expect.success(reply, "delete_nodes to work")
    sandbox.put(sandbox.node("d"))
    sandbox.put_edges(sandbox.edge("a", "d", "g"))
    by_filter = not is_refused(sandbox.call("delete_nodes", {"filter": {"corpus_key": sandbox.key("d")}}))
    if not by_filter:
        sandbox.remove("nodes", "d")
    try:
        sandbox.expect_all_show_targets("a", (), "no edge to a deleted node")
    except Violation as violation:
        if by_filter and violation.exchange and Reply(violation.exchange).is_a("VertexNotFound"):
            raise Blocked("GRA-DELETE-6", "a delete by filter removed a node that does not match the filter") from None
        raise
    if "traversal" in graph.readers.for_edges() and 2 in queries.depths(graph):
        is_right = not sandbox.reached_nodes("a", max_depth=2)
        expect.check(is_right, "no node beyond a deleted node", "a node beyond a deleted node", "result.nodes")


@pytest.mark.requirement("GRA-DELETE-5")
def test_old_edges_do_not_come_back(graph: Graph) -> None:
    """A node that is written with the id of a deleted node has no edges."""
    sandbox, _ = delete_the_middle(graph)
    sandbox.put(sandbox.node("b"))
    sandbox.expect_all_show_targets("a", (), "no old edge to the new node")
    sandbox.expect_one_shows_targets("b", (), "no old edge from the new node")
    graph.shared.edges_go = True


@pytest.mark.core
@rules("succeeds GRA-DELETE-3, schema GRA-DELETE-8")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_deleting_what_is_not_there_succeeds(graph: Graph, requirement: str, kind: str) -> None:
    """Deleting an unknown id, a deleted id, or several such ids succeeds. The result is valid under the schema."""
    for reply in delete_repeatedly(graph, kind):
        if requirement == "GRA-DELETE-8":
            expect_audited("GRA-DELETE-8", reply, graph, claim=f"delete_{kind} to work")
            continue
        result = expect.success(reply, f"delete_{kind} to succeed")
        expect.check(
            not failed_items(result), "no failure for an item that does not exist", "a failed item", "result.failures"
        )


@remembered
def delete_repeatedly(graph: Graph, kind: str) -> list[Reply]:
    """Delete an unknown id, an existing id, the same id again, and then both ids; return the answers."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    sandbox.put_edges(sandbox.edge("a", "b", "e"))
    if kind == "nodes":
        sandbox.remove("edges", "e")
    never, there = sandbox.id("never"), sandbox.id("e" if kind == "edges" else "a")
    asked = [[never], [there], [there], [never, there][: graph.items_per_request]]
    return [sandbox.call(f"delete_{kind}", {"ids": ids}) for ids in asked]


@pytest.mark.requirement("GRA-DELETE-9")
def test_the_deleted_nodes_are_counted(graph: Graph) -> None:
    """Two existing nodes and an unknown one count as two deleted nodes."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    expect.applicable(graph.items_per_request >= 3, f"at most {graph.items_per_request} items go into one request")
    ids = [sandbox.id(name) for name in ("a", "b", "none")]
    result = expect.success(sandbox.call("delete_nodes", {"ids": ids}), "delete_nodes to work")
    bad_arguments.expect_counts(result, 2)


@pytest.mark.requirement("GRA-DELETE-9")
def test_a_node_that_is_deleted_twice_at_once_is_counted_once(graph: Graph) -> None:
    """Two concurrent deletes of one node count one deleted node in all."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    sandbox.put(sandbox.node("a"))
    request = graph.envelope("delete_nodes", {**sandbox.namespace_arg, "ids": [sandbox.id("a")]}, sandbox.ctx)
    counts = [processed_count(result) for result in send_twice_at_once(graph, request)[0]]
    expect.applicable(None not in counts, "the result contains no count (R123)")
    total = sum(filter(None, counts))
    expect.check(total == 1, "one deleted node in both answers together", f"{total}", "result")


@pytest.mark.core
@arguments_of("GRA-DELETE-7", "GRA-DELETE-10")
def test_what_is_not_a_delete_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A delete must name `ids` (a list of strings) or `filter` (an object); any other delete is refused."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-DELETE-7")
def test_a_delete_of_nothing_deletes_nothing(graph: Graph) -> None:
    """A delete without `ids` and `filter`, or with null for them, deletes no node."""
    graph.require("upsert_nodes", "delete_nodes")
    graph.require_namespaces(aside=True)
    sandbox = empty_sandbox(graph)
    written = sandbox.put(sandbox.node("a"), sandbox.node("b"))
    for args in bad_arguments.DELETES_OF_NOTHING.values():
        sandbox.call("delete_nodes", args)
    sandbox.expect_all_show_values(written, "every node")


@pytest.mark.requirement("GRA-DELETE-6")
@pytest.mark.parametrize(
    ("kind", "size", "gone"), [("x", None, "ac"), ("x", 1, "a"), ("none", None, "")], ids=["one", "two", "nothing_fits"]
)
def test_a_filter_deletes_the_nodes_that_fit(graph: Graph, kind: str, size: int | None, gone: str) -> None:
    """A delete with a filter removes exactly the nodes with all properties of the filter, or is refused."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    kinds = {"a": ("x", 1), "b": ("y", 1), "c": ("x", 2), "d": ("z", 1)}

    def build_nodes(texts: Mapping[str, str]) -> dict[str, words.Item]:
        named = {name: (sandbox.tag + texts.get(of, of), n) for name, (of, n) in kinds.items()}
        return {name: sandbox.node(name, corpus_kind=of, corpus_size=n) for name, (of, n) in named.items()}

    texts: Mapping[str, str] = {} if size is None else ALIKE
    nodes = build_nodes(texts)
    if not texts or len(words.offer_items(sandbox, "nodes", nodes)) < len(nodes):
        texts, nodes = {}, build_nodes({})
        sandbox.put(*nodes.values())
    odd = nodes_with_injections(sandbox) if kind == "none" else {}
    taken = words.offer_items(sandbox, "nodes", {each: node for each, (_, node) in odd.items()})
    wanted = {"corpus_kind": sandbox.tag + texts.get(kind, kind), **({} if size is None else {"corpus_size": size})}
    reply = sandbox.call("delete_nodes", {"filter": wanted})
    expect.either(reply, *PERMANENT)
    left = [value_of(node) for name, node in nodes.items() if reply.is_error or name not in gone]
    for each, (name, node) in odd.items():  # the group is deleted last: it has all nodes
        term = {key: node["properties"][key] for key in (name, "corpus_group")}
        if expect.either(sandbox.call("delete_nodes", {"filter": term}), *PERMANENT):
            taken.pop(each, None)
    show = sandbox.expect_all_show_values if gone else sandbox.expect_one_shows_values
    show([*left, *map(value_of, taken.values())], "the nodes that do not match the filter")


def nodes_with_injections(sandbox: GraphSandbox) -> dict[str, tuple[str, words.Item]]:
    """Return by kind: the key of a property that does harm in the text of a query, and a node with this property."""
    values = vocabulary.fill_in(vocabulary.choose(vocabulary.INJECTIONS, 2, ["condition", "expression"]), "w")
    keys = vocabulary.choose({**vocabulary.INJECTIONS, **vocabulary.WORDS}, 2, ["backtick_end"])
    terms = {kind: ("corpus_kind", word) for kind, word in values.items()}
    terms |= {f"{kind} key": (word, "a") for kind, word in vocabulary.fill_in(keys, "w").items()}
    return {
        kind: (key, sandbox.node(f"odd{number}", **{key: value}))
        for number, (kind, (key, value)) in enumerate(terms.items())
    }


@pytest.mark.requirement("GRA-DELETE-6")
def test_ids_and_a_filter_restrict_each_other(graph: Graph) -> None:
    """A delete with ids and a filter is refused, or removes only nodes that both of them select (R131)."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    kinds = {"a": "x", "b": "y", "c": "y"}
    nodes = {name: sandbox.node(name, corpus_kind=sandbox.tag + kind) for name, kind in kinds.items()}
    sandbox.put(*nodes.values())
    ids = [nodes[name]["id"] for name in "ab"]
    reply = sandbox.call("delete_nodes", {"ids": ids, "filter": {"corpus_kind": f"{sandbox.tag}y"}})
    expect.either(reply, "BadRequest", "NotSupported")
    left = [value_of(node) for name, node in nodes.items() if reply.is_error or name != "b"]
    sandbox.expect_one_shows_values(left, "the nodes that `ids` or the filter does not select")


@pytest.mark.requirement("GRA-DELETE-6")
@pytest.mark.parametrize("kind", batches.PREDICATES)
def test_a_predicate_of_a_delete_is_applied_or_refused(graph: Graph, kind: str) -> None:
    """A filter term that is not a plain value is refused or deletes only matching nodes, with or without ids (R131)."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes")
    values = sandbox.put(
        *(sandbox.node(name, corpus_kind=sandbox.tag, corpus_size=n) for n, name in enumerate("ab", 1))
    )
    wanted = {"corpus_kind": sandbox.tag, "corpus_size": batches.PREDICATES[kind]}
    ids = {"ids": [sandbox.id(name) for name in "ab"]} if kind in ("greater", "list") else {}
    expect.either(sandbox.call("delete_nodes", {**ids, "filter": wanted}), "BadRequest", "NotSupported")
    reader = sandbox.node_reader()
    expect.check(
        values[0] in sandbox.read_values(reader), "the node that does not match the filter", "it is gone", reader
    )


@pytest.mark.requirement("GRA-DELETE-6")
@pytest.mark.parametrize("way", list(MANY))
def test_a_filter_deletes_in_a_batch_too(graph: Graph, way: str) -> None:
    """A delete with a filter in a batch or transaction removes the matching nodes, or fails."""
    sandbox = graph.sandbox("upsert_nodes", "delete_nodes", way)

    def build_batch_nodes(text: str) -> dict[str, words.Item]:
        return {name: sandbox.node(name, corpus_kind=f"{sandbox.tag}{name}{text}") for name in "ab"}

    text, nodes = words.put_with_words(sandbox, "nodes", build_batch_nodes)
    values = [*map(value_of, nodes.values())]
    reply = sandbox.call_many(way, sandbox.item("delete_nodes", filter={"corpus_kind": f"{sandbox.tag}a{text}"}))
    expect.either(reply, "BadRequest", "NotSupported")
    sandbox.expect_one_shows_values(
        values if is_refused(reply) else values[1:],
        "the nodes that do not match the filter, or all nodes if the delete failed",
    )


@pytest.mark.requirement("GRA-DELETE-6")
def test_a_filter_deletes_the_edges_that_fit(graph: Graph) -> None:
    """A delete of edges with a filter removes the matching edges, or is refused and removes none."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges", "delete_edges")
    values = sandbox.put_named("abc")

    def build_edges(text: str) -> dict[str, words.Item]:
        return {name: sandbox.edge("a", name, corpus_kind=f"{sandbox.tag}{name}{text}") for name in "bc"}

    text, _ = words.put_with_words(sandbox, "edges", build_edges)
    reply = sandbox.call("delete_edges", {"filter": {"corpus_kind": f"{sandbox.tag}b{text}"}})
    expect.either(reply, "BadRequest", "NotSupported")
    left = {name: values[name] for name in ("bc" if reply.is_error else "c")}
    sandbox.expect_all_show_targets("a", left, "the edges that do not match the filter")


@pytest.mark.requirement("GRA-DELETE-9")
@pytest.mark.parametrize("kind", bad_arguments.SPOILED_IDS)
def test_the_deletes_beside_failed_ones_are_counted(graph: Graph, kind: str) -> None:
    """If a delete fails for one id, the result counts the deleted nodes and the failed id."""
    graph.require("upsert_nodes", "delete_nodes")
    readers, sandbox = graph.readers.for_nodes(), graph.sandbox()
    before = len(sandbox.put(*(sandbox.node(name) for name in "abc")))
    ids = bad_arguments.insert_bad_items(
        [sandbox.id(name) for name in "ab"], [bad_arguments.SPOILED_IDS[kind]], graph.items_per_request
    )
    reply = sandbox.call("delete_nodes", {"ids": ids})
    bad_arguments.expect_counts_match_store(reply, before - len(sandbox.read_values(readers[0])), "GRA-DELETE-7")


def delete_the_middle(graph: Graph) -> tuple[GraphSandbox, Reply]:
    """Write edges from `a` to `b` and from `b` to `c`, and delete `b`; return the sandbox and the answer."""
    graph.require("delete_nodes")
    edges.require_edge_readers(graph)
    sandbox, _ = edges.link_nodes(graph)
    sandbox.put_edges(sandbox.edge("b", "c", "f"))
    reply = sandbox.call("delete_nodes", {"ids": [sandbox.id("b")]})
    expect.applicable(not reply.is_a(*PERMANENT) and not reply.failed_items, "a node that has edges is not deleted")
    return sandbox, reply
