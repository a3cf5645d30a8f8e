"""Finds out the operations that show the content of a graph, and the prerequisites of the tests of a graph."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.kit.store.settling import Probe, Settling, VisibilityCheck
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import reported_count
from pytest_corpus.suites.graph.support.capabilities import ASKING, SEEDS, GraphCapabilities
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import EDGE_READERS, NODE_READERS, GraphSandbox, call_or_none

_NAMESPACE = re.compile(r"'namespace': '([^']*)'")
_READS = re.compile(r"'filter'|'op': '(graph\.)?query'")


class Readers:
    """Finds out once in a run which operations show nodes or edges correctly."""

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    @reading_separately()
    def correctness_for_nodes(self) -> Mapping[str, bool]:
        """Return for each operation True if it shows exactly the nodes that the suite wrote."""
        with self._graph.client.provider.paused():
            return self._graph.shared.find_once("node_readers", lambda: _try_node_readers(self._graph))

    @reading_separately()
    def for_nodes(self) -> list[str]:
        """Return the operations that show nodes correctly, else all that show nodes. Raises NotAssessed if none do."""
        return _choose_readers(
            self.correctness_for_nodes(), "read nodes back: bulk_vertices and queries in known dialects do not work"
        )

    @reading_separately()
    def for_edges(self) -> list[str]:
        """Return the operations that show edges correctly, else all that show edges. Raises NotAssessed if none do."""
        with self._graph.client.provider.paused():
            found = self._graph.shared.find_once("edge_readers", lambda: _try_edge_readers(self._graph))
        return _choose_readers(found, "show edges: traversal and queries in known dialects do not work")

    @reading_separately()
    def for_all_edges(self) -> list[str]:
        """Return the operations that show edges, without traversals that show only one way to each node."""
        found = self.for_edges()
        if "traversal" in found and len(found) > 1:
            with self._graph.client.provider.paused():
                if not cached(self._graph, "all edges", lambda: _shows_all_edges(self._graph), common=True):
                    found.remove("traversal")
        return found

    @reading_separately()
    def require_correct(self, name: str) -> str:
        """Check that an operation shows nodes correctly. If no operation shows them correctly, the check succeeds.

        Raises:
            NotApplicable: the operation needs a query, the suite knows no listed dialect, and another operation works.
            Undecided: the operation does not work.
        """
        shown = self.correctness_for_nodes()
        self.skip_if_others_work(name, shown)
        if not shown.get(name, True) and any(shown.values()):
            self._shows_new_nodes(name)
            raise NotAssessed(Obstacle.NOT_SHOWN, op=name)
        return name

    def _shows_new_nodes(self, name: str) -> None:
        """Check that an operation shows new, uncached nodes. If `query` is faulty, check `query` before a stream."""
        if name == "stream_query" and self.correctness_for_nodes().get("query") is False:
            self._shows_new_nodes("query")
        sandbox = self._graph.sandbox(own=False)
        values = [value for node in SEEDS for value in sandbox.put(sandbox.node(node))]
        with expect.resting_on(NODE_READERS[name]):
            sandbox.expect_values(name, values, "the nodes that were written")

    def skip_if_others_work(self, name: str, others: Mapping[str, bool]) -> None:
        """Check that an operation works. Raises NotApplicable if it only lacks a known dialect, and `others` work."""
        try:
            self._graph.require(name)
        except NotAssessed as unknown:
            if isinstance(unknown, Blocked) or not (others and name in ASKING):
                raise
            raise NotApplicable(unknown.reason) from None


def _choose_readers(readers: Mapping[str, bool], purpose: str) -> list[str]:
    expect.assessable(readers, Obstacle.NO_READER, purpose=purpose)
    return [name for name, correct in readers.items() if correct] or list(readers)


@reading_separately()
def _try_node_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """Return for each operation True if it shows exactly the content of a sandbox, before and after a first write."""
    readers = {name: True for name in NODE_READERS if graph.works(name)}
    for sandbox, wanted in _written_nodes(graph):
        for name, correct in readers.items():
            readers[name] = correct and call_or_none(sandbox.read_values, name) == sorted(wanted)
    return readers


def _written_nodes(graph: GraphCapabilities) -> Iterator[tuple[GraphSandbox, list[str]]]:
    """Yield sandboxes, each with the values that it must show now."""
    graph.seed()
    yield graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS]
    places = [graph.sandbox(own=False), graph.sandbox()]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        places.append(graph.sandbox(tenant=graph.settings.next_tenant()))
    yield places[0], []
    for sandbox in places:
        nodes = [sandbox.node(name) for name in "abc"]
        if call_or_none(sandbox.put, *nodes):
            yield sandbox, [value_of(node) for node in nodes]


@reading_separately()
def _try_edge_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """Return for each operation True if it shows exactly the edges of the plain nodes and of a new sandbox."""
    readers = {
        name: True for name in EDGE_READERS if graph.works(name) and (name == "traversal" or can_ask(graph, "links"))
    }
    graph.seed()
    _exclude_wrong_edge_readers(readers, graph.seeds, "s1", {"s2": f"v-{graph.seeds.tag}-s2"})
    sandbox = graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    if call_or_none(sandbox.put, *nodes) and call_or_none(sandbox.put_edges, sandbox.edge("a", "b")):
        _exclude_wrong_edge_readers(readers, sandbox, "a", {"b": value_of(nodes[1])})
    return readers


@reading_separately()
def can_ask(graph: GraphCapabilities, purpose: str, dialect: str | None = None) -> bool:
    """True if a query is possible for this purpose."""
    try:
        graph.require_question(purpose, dialect)
    except Undecided:
        return False
    return True


def _shows_all_edges(graph: GraphCapabilities) -> bool:
    """True if a traversal shows both edges between two nodes. Also true if the edges cannot be written or read."""
    sandbox = graph.sandbox()
    edges = [sandbox.edge("a", "b"), sandbox.edge("b", "a")]
    if not (call_or_none(sandbox.put_named, "ab") and call_or_none(sandbox.put_edges, *edges)):
        return True
    told = call_or_none(sandbox.relationships, "a", "b")
    return told is None or {edge["id"] for edge in edges} <= {edge.get("id") for edge in told}


def _exclude_wrong_edge_readers(
    readers: dict[str, bool], sandbox: GraphSandbox, source: str, target: Mapping[str, str]
) -> None:
    """Set operations in `readers` to False if they do not show `target` as the only target of `source`."""
    for name, correct in readers.items():
        found, wanted = call_or_none(sandbox.read_targets, name, source), sandbox.targets_to_show(name, target)
        # Plain requests may have added edges between the same seeds, which only a traversal shows.
        same = found is not None and set(found) == set(wanted) if name == "traversal" else found == wanted
        readers[name] = correct and same


class GraphSettling(Settling):
    """Measures the delay until written nodes are visible, for each operation that shows nodes.

    Each group of nodes has one delay for its nodes and one for its edges. A request without ids counts as a read of the
    namespace that it names. If it names no namespace, it counts as a read of the seeds. If a request reads other data,
    the test itself must wait for the data.
    """

    write_independent = frozenset({"capabilities", "health", "upsert_nodes"})

    def __init__(self, graph: GraphCapabilities) -> None:
        super().__init__(graph)
        self._graph = graph
        begun = f"{graph.settings.run_prefix}|{graph.settings.process_prefix}"
        self._group = re.compile(rf"((?:{begun})(?:\d+|[ps]\b))")

    def places(self, request: Mapping[str, Any]) -> frozenset[str]:
        args = request.get("args")
        groups = self._group.findall(str(args))
        params = args.get("params") if isinstance(args, Mapping) else None
        listed = request.get("op") == "graph.bulk_vertices"
        filters = self._graph.shared.filters
        if filters is None:
            filters = self._graph.capabilities.flag("supports_property_filters")
        if listed and not groups and not filters:
            return frozenset(_NAMESPACE.findall(str(args)))
        if groups and (listed or (isinstance(params, Mapping) and "group" in params)):
            return frozenset(groups)
        if groups or _NAMESPACE.search(str(args)):
            return frozenset((*groups, *map(_edge_group, groups)) if groups else _NAMESPACE.findall(str(args)))
        return frozenset({self._graph.seeds.tag})

    def places_written(self, request: Mapping[str, Any]) -> frozenset[str]:
        args = str(request.get("args"))
        groups = self._group.findall(args)
        if request.get("op") == "graph.upsert_edges" and {*groups} == {self._graph.seeds.tag} and "-e1'" not in args:
            return frozenset({self._graph.plain.tag})  # no test reads these edges between the seeds
        places = (
            map(_edge_group, groups) if request.get("op") in ("graph.upsert_edges", "graph.delete_edges") else groups
        )
        edges = map(_edge_group, groups) if "_edges" in args else ()
        return frozenset((*places, *edges, *_NAMESPACE.findall(args)) if groups else ())

    def note(self, request: Any, *, refused: bool = False) -> None:
        """Record a write. A refused write is not noted if it concerns only the seeds or plain nodes."""
        plain = {self._graph.seeds.tag, _edge_group(self._graph.seeds.tag), self._graph.plain.tag}
        if not (refused and isinstance(request, Mapping) and self.places_written(request) <= plain):
            super().note(request, refused=refused)

    def reads_written_data(self, name: str, request: Mapping[str, Any]) -> bool:
        """True if a request reads written data. A write reads data only if it has a filter or a query."""
        direct = self.known.in_order and self._graph.operation(name).mutating
        return super().reads_written_data(name, request) and not (
            direct and not _READS.search(str(request.get("args")))
        )

    @contextmanager
    def probe(self) -> Iterator[Probe]:
        with self._graph.client.provider.paused():
            yield GraphProbe(self._graph)


class GraphProbe(Probe):
    """Writes and deletes nodes in a new sandbox, and reads them with each operation that shows nodes."""

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph, self._sandbox = graph, graph.sandbox(own=False)
        self.readers = [name for name in NODE_READERS if graph.prerequisites.is_callable(name)]

    def write(self, *names: str) -> bool:
        self._sandbox.put_named(names)
        return True

    def delete(self, *names: str) -> bool:
        self._sandbox.remove("nodes", *names)
        return True

    def names_seen(self, reader: str) -> set[str] | None:
        found = call_or_none(self._sandbox.read_values, reader)
        return None if found is None else {*map(self._sandbox.name_of, found)}

    def write_in_order(self) -> tuple[bool, set[str]]:
        """Write three nodes, delete one and link the others; return True on success, and the names of the others."""
        sandbox = self._sandbox = self._graph.sandbox(own=False)
        sandbox.put_named("abc")
        writes = {"delete_nodes": {"ids": [sandbox.id("c")]}, "upsert_edges": {"edges": [sandbox.edge("a", "b")]}}
        offered = [name for name in writes if self._graph.prerequisites.is_callable(name)]
        replies = [sandbox.call(name, writes[name]) for name in offered]
        return all(each.is_carried_out and reported_count(each.result) != 0 for each in replies), {"a", "b"}

    def slow_trials(self) -> Iterator[VisibilityCheck]:
        with suppress(Undecided, Violation):
            self._sandbox.put_named("st")
            self._sandbox.put_edges(self._sandbox.edge("s", "t"))
            yield from (partial(self._has_edges, reader, 1) for reader in EDGE_READERS)
            self._sandbox.remove("edges", "stot")
            yield from (partial(self._has_edges, reader, 0) for reader in EDGE_READERS)

    def _has_edges(self, reader: str, number: int) -> bool | None:
        """True if an operation shows this number of edges; None if the operation does not work."""
        found = call_or_none(self._sandbox.read_targets, reader, "s")
        return None if found is None else len(found) == number


def _edge_group(group: str) -> str:
    """Return a name for the edges of a group of nodes, because their writes become visible separately."""
    return f"{group} edges"


NAMING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", "traversal", *MANY)
"""The operations whose plain requests hold ids."""

ANY_ID = "GRA-NODE-12"
"""The requirement that any text can be an id."""


NODES = "GRA-NODE-1"
"""The requirement that nodes are written."""

DELETES = {"delete_nodes": "GRA-DELETE-1", "delete_edges": "GRA-DELETE-2"}
"""The deletes, and the requirement that each removes the given items."""


class GraphPrerequisites(Prerequisites):
    """Finds out if tests can rely on an operation. Queries need a known dialect, other requests need accepted ids."""

    _calls: GraphCapabilities

    def claim_of(self, name: str) -> bool | None:
        return False if name in ASKING and self._calls.dialect is None else super().claim_of(name)

    def obstacle(self, name: str) -> Undecided | None:
        if name in ASKING and (self._calls.dialect is None or not self.denies(name)):
            try:
                self._calls.require_question("group")
            except Undecided as obstacle:
                return obstacle
        return super().obstacle(name)

    def reason_not_to_judge(self, name: str, reply: Reply | StreamReply) -> Undecided | None:
        if name == "bulk_vertices" and reply.is_a("BadRequest", "NotSupported"):
            return NotApplicable("bulk_vertices refuses to list nodes; it may import them (R123)")
        if name in NAMING and is_refused(reply) and self.takes_only_uuids():
            return Blocked(ANY_ID, "only UUIDs are accepted as ids")
        if name in ("upsert_edges", "traversal") and is_refused(reply) and not reply.is_a("NotSupported"):
            return self._obstacle_to_nodes()
        return self._obstacle_to_delete(name) if name in DELETES and is_refused(reply) else None

    def _obstacle_to_nodes(self) -> Blocked | None:
        """Return the reason why the nodes of plain requests cannot be written, or None if no reason is known."""
        graph = self._calls
        if not graph.works("upsert_nodes"):
            obstacle = graph.shared.obstacles.get("upsert_nodes")
            return obstacle if isinstance(obstacle, Blocked) else None
        shown = [call_or_none(graph.seeds.read_values, reader) for reader in NODE_READERS if graph.works(reader)]
        if [] not in shown or any(shown):
            return None
        return Blocked(NODES, "no operation shows the nodes that were written for the request")

    def _obstacle_to_delete(self, name: str) -> Blocked | None:
        """Return the obstacle if a delete of existing items is refused; None if only unknown items are refused."""
        graph = self._calls
        write, args = {
            "delete_nodes": ("upsert_nodes", graph.plain_nodes("gone")),
            "delete_edges": ("upsert_edges", {"edges": [graph.seeds.edge("s1", "s2", "gone", label="CORPUS_OTHER")]}),
        }[name]
        with graph.client.provider.paused():
            written = graph.works(write) and not is_refused(graph.call(write, args))
            reply = graph.call(name, {"ids": [item["id"] for items in args.values() for item in items]})
        if not written or not reply.is_error or reply.is_a("ResourceExhausted"):
            return None
        said = f"a plain {reply.exchange.op} is answered with {reply}"
        return Blocked(DELETES[name], said, judged_on=(reply.exchange,))

    def takes_only_uuids(self) -> bool:
        """True if a node is refused, and the same node with a UUID as its id is accepted. Tried once in a run."""

        def find_out() -> bool:
            plain = self._calls.plain_nodes()
            named = {"nodes": [{**plain["nodes"][0], "id": uuid_of(self._calls.settings.run)}]}
            spared = is_refused(self._upsert_nodes(plain)) and not is_refused(self._upsert_nodes(named))
            return spared and is_refused(self._upsert_nodes(plain))  # a finding shows the last request

        return cached(self._calls, "only UUIDs", find_out)

    def _upsert_nodes(self, args: Mapping[str, Any]) -> Reply:
        with self._calls.client.provider.paused():
            return self._calls.call("upsert_nodes", args)


def is_refused(reply: Reply | StreamReply) -> bool:
    """True if a request, or an item of the request, is refused."""
    return reply.is_error or (isinstance(reply, Reply) and bool(reply.failed_items))
