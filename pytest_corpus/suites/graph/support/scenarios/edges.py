"""Edges: written between two nodes, read, updated and deleted (SPECIFICATION 4.2.6, 7.3.1; ERRORS 6.4)."""

from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import error_names
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import EDGE_READERS, GraphSandbox
from pytest_corpus.suites.graph.support.scenarios import words


def require_edge_readers(graph: Graph) -> list[str]:
    """Return the operations that show edges. Raises Undecided if edges are not offered."""
    graph.require("upsert_nodes", "upsert_edges")
    return graph.readers.for_edges()


def link_nodes_for_reader(graph: Graph, edge_reader: str) -> tuple[GraphSandbox, dict[str, str]]:
    """Write three nodes and link two of them. Raises Undecided or Violation if `edge_reader` does not show the edge."""
    graph.require("upsert_nodes", "upsert_edges")
    known = graph.readers.for_edges()
    graph.readers.skip_if_others_work(edge_reader, dict.fromkeys(known, True))
    if edge_reader != "traversal":
        graph.require_question("links")
    sandbox, values = link_nodes(graph)
    if edge_reader not in known:
        with expect.resting_on(EDGE_READERS[edge_reader]):
            sandbox.expect_targets(edge_reader, "a", {"b": values["b"]}, "the edge that was written")
        raise NotAssessed(Obstacle.NOT_SHOWN, op=edge_reader)
    return sandbox, values


def link_nodes(graph: Graph) -> tuple[GraphSandbox, dict[str, str]]:
    """Write three nodes, and an edge `e` from the first to the second; return the sandbox and the values."""
    sandbox = graph.sandbox()
    values = sandbox.put_named("abc")
    sandbox.put_edges(sandbox.edge("a", "b", "e"))
    return sandbox, values


def edges_with_words(sandbox: GraphSandbox, what: str) -> dict[str, words.Item]:
    """Write edges from `a` with unusual words as `labels` or in `properties`; return the accepted ones (R138)."""
    most = sandbox.graph.items_per_request
    if what == "labels":
        labels = vocabulary.choose({**vocabulary.INJECTIONS, **vocabulary.WORDS}, most - 4, ["backtick", "mixed_case"])
        every = {**vocabulary.fill_in(labels, "L"), **words.injections(sandbox.key("b"))}
        made: dict[str, dict[str, Any]] = {kind: {"label": label} for kind, label in every.items()}
        made["long id"] = {"id": sandbox.id("w" + "e" * 100)}
    else:
        made = {kinds: {"properties": held} for kinds, held in [*words.word_properties().items()][:most]}
    sandbox.put(*(sandbox.node(f"w{number}") for number in range(len(made))))
    edges = {
        kinds: {**sandbox.edge("a", f"w{number}", f"we{number}"), **held}
        for number, (kinds, held) in enumerate(made.items())
    }
    return words.offer_items(sandbox, "edges", edges)


def shown_targets(graph: Graph, sandbox: GraphSandbox, reader: str, source: str, wanted: list[str]) -> list[str]:
    """Return the targets that an operation shows for the edges from a node."""
    found = sandbox.read_targets(reader, source)
    given = reader != "traversal" and "links" in graph.dialects.row(str(graph.dialect)).supplied
    if given and found != wanted and found == sorted(set(wanted)):
        values = set(sandbox.query_values(reader, "link_values", wanted=sandbox.key(source)))
        if len(values) == len(wanted):
            raise NotAssessed(Obstacle.LINKS_ONCE)
    return found


@remembered
def send_dangling_edge(graph: Graph, missing: str) -> Any:
    """Send an edge with one or two missing nodes, and return the answer."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    sandbox.put(sandbox.node("a"))
    source, target = {"source": ("none", "a"), "target": ("a", "none"), "both": ("none", "nor")}[missing]
    return sandbox.call("upsert_edges", {"edges": [sandbox.edge(source, target)]})


def expect_item_refused(reply: Any, *also: str) -> None:
    """Check that the only item is refused or reported as failed, with BAD_REQUEST or one of the classes in `also`."""
    if expect.either(reply, "BadRequest", *also):
        expect.check(reply.failed_items, "a refusal, or a failed item", "a success without a failed item", "result")
        for failure in reply.failed_items:
            expect_failure_class(failure, "BadRequest", *also)


def expect_failure_class(failure: Any, *families: str) -> None:
    """If a failed item names a class of the taxonomy, check that it is one of these classes."""
    named = next(iter(error_names(failure)), None)
    right = named is None or any(is_a(named, family) for family in families)
    expect.check(right, f"a failure of class {' or '.join(families)}", str(named), "failures.error")


LOOP, PARALLEL = "a loop", "a second edge of one label between the same nodes"

EDGES = {LOOP: (("a", "a"),), PARALLEL: (("a", "b"), ("a", "b"))}
"""By kind of edge: sources and targets. The suite writes these edges to find out if a graph accepts the kind."""


def accepts_edges(graph: Graph, kind: str) -> bool:
    """True if a graph does not permanently refuse edges of a kind, such as loops."""
    known = graph.shared.edge_kinds
    if kind not in known:
        with inputs.fact_scope(f"graph {kind}"):
            known[kind] = not _refuses_edges(graph, kind)
    return known[kind]


def _refuses_edges(graph: Graph, kind: str) -> bool:
    graph.require("upsert_nodes", "upsert_edges")
    with graph.client.provider.paused():
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        for number, (source, target) in enumerate(EDGES[kind]):
            edge = sandbox.edge(source, target, f"e{number}")
            reply = sandbox.call("upsert_edges", {"edges": [edge]})
            if reply.fails_as(*PERMANENT):
                return True
    return False
