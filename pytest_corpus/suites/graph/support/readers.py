"""The operations that show what a graph holds, tried once, and the prerequisites of a test of a graph."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.judgement import reading_apart
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import uuid_of
from pytest_corpus.kit.store.settling import Look, Settling
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import failures, listed, size
from pytest_corpus.suites.graph.support.capabilities import ASKING, SEEDS, GraphCapabilities
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import EDGE_READERS, NODE_READERS, Sandbox, observed

_NAMESPACE = re.compile(r"'namespace': '([^']*)'")
_READS = re.compile(r"'filter'|'op': '(graph\.)?query'")


class Readers:
    """The operations that show nodes or edges correctly."""

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    @reading_apart()
    def nodes_shown(self) -> Mapping[str, bool]:
        """By operation that shows nodes, whether it shows exactly those of the seeds and of other places."""
        with self._graph.client.provider.paused():
            return self._graph.shared.once("node_readers", lambda: _node_readers(self._graph))

    @reading_apart()
    def of_nodes(self) -> list[str]:
        """The operations that show nodes correctly, or all if none does. Raises NotAssessed if there are none."""
        return _correct(self.nodes_shown(), "read back: neither bulk_vertices nor a query of a known dialect")

    @reading_apart()
    def of_edges(self) -> list[str]:
        """The operations that show edges correctly, or all if none does. Raises NotAssessed if there are none."""
        with self._graph.client.provider.paused():
            found = self._graph.shared.once("edge_readers", lambda: _edge_readers(self._graph))
        return _correct(found, "show edges: neither traversal nor a query of a known dialect")

    @reading_apart()
    def trusted(self, name: str) -> str:
        """Go on only if an operation shows nodes correctly, or no operation does.

        Raises NotApplicable if the suite knows no listed dialect, but other operations show nodes, Undecided if the
        operation is not offered, does not work, or shows less than the others.
        """
        shown = self.nodes_shown()
        self.skip_if_others_work(name, shown)
        if not shown.get(name, True) and any(shown.values()):
            self._shows_new_nodes(name)
            raise NotAssessed(Obstacle.NOT_SHOWN, op=name)
        return name

    def _shows_new_nodes(self, name: str) -> None:
        """Go on only if an operation shows nodes that no query asked for before they were written.

        A stream of the records that a query does not show either rests on the query.
        """
        if name == "stream_query" and self.nodes_shown().get("query") is False:
            self._shows_new_nodes("query")
        sandbox = self._graph.sandbox(own=False)
        values = [value for node in SEEDS for value in sandbox.put(sandbox.node(node))]
        with expect.resting_on(NODE_READERS[name]):
            sandbox.shows(name, values, "the nodes that were written")

    def skip_if_others_work(self, name: str, others: Mapping[str, bool]) -> None:
        """Go on only if an operation works; a query of an unknown dialect is not needed if others show the same.

        Raises NotApplicable if there are others, Undecided if it is not offered or does not work.
        """
        try:
            self._graph.require(name)
        except NotAssessed as unknown:
            if isinstance(unknown, Blocked) or not (others and name in ASKING):
                raise
            raise NotApplicable(unknown.reason) from None


def _correct(readers: Mapping[str, bool], purpose: str) -> list[str]:
    expect.assessable(readers, Obstacle.NO_READER, purpose=purpose)
    return [name for name, correct in readers.items() if correct] or list(readers)


@reading_apart()
def _node_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """By operation that works, whether it shows exactly what is in every place, before a first write and after it."""
    readers = {name: True for name in NODE_READERS if graph.works(name)}
    for sandbox, wanted in _written_nodes(graph):
        for name, correct in readers.items():
            readers[name] = correct and observed(sandbox.seen, name) == sorted(wanted)
    return readers


def _written_nodes(graph: GraphCapabilities) -> Iterator[tuple[Sandbox, list[str]]]:
    """Places, each with the values that it holds just now."""
    graph.seed()
    yield graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS]
    places = [graph.sandbox(own=False), graph.sandbox()]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        places.append(graph.sandbox(tenant=graph.settings.tenant()))
    yield places[0], []
    for sandbox in places:
        nodes = [sandbox.node(name) for name in "abc"]
        if observed(sandbox.put, *nodes):
            yield sandbox, [value_of(node) for node in nodes]


@reading_apart()
def _edge_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """By operation that works, whether it shows exactly the edge of the seeds, and one in another place."""
    readers = {
        name: True for name in EDGE_READERS if graph.works(name) and (name == "traversal" or can_ask(graph, "links"))
    }
    graph.seed()
    _follow(readers, graph.seeds, "s1", {"s2": f"v-{graph.seeds.tag}-s2"})
    sandbox = graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    if observed(sandbox.put, *nodes) and observed(sandbox.link, sandbox.edge("a", "b")):
        _follow(readers, sandbox, "a", {"b": value_of(nodes[1])})
    return readers


@reading_apart()
def can_ask(graph: GraphCapabilities, purpose: str, dialect: str | None = None) -> bool:
    """True if a question can be asked."""
    try:
        graph.speaks(purpose, dialect)
    except Undecided:
        return False
    return True


def _follow(readers: dict[str, bool], sandbox: Sandbox, source: str, target: Mapping[str, str]) -> None:
    """Note which operations show that the edges of a node lead to one other only."""
    for name, correct in readers.items():
        found, wanted = observed(sandbox.ends, name, source), sandbox.expected_ends(name, target)
        # Plain requests may have added edges between the same seeds, which only a traversal shows.
        same = found is not None and set(found) == set(wanted) if name == "traversal" else found == wanted
        readers[name] = correct and same


class GraphSettling(Settling):
    """Try nodes that are written and deleted, with each operation that shows nodes.

    Each group of ids settles for itself, its nodes apart from its edges; a request that names no group looks at its
    namespace, and without one at the seeds: a test that looks at more pauses.
    """

    blind = frozenset({"capabilities", "health", "upsert_nodes"})

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
            return frozenset((*groups, *map(_edges, groups)) if groups else _NAMESPACE.findall(str(args)))
        return frozenset({self._graph.seeds.tag})

    def written_to(self, request: Mapping[str, Any]) -> frozenset[str]:
        args = str(request.get("args"))
        groups = self._group.findall(args)
        if request.get("op") == "graph.upsert_edges" and {*groups} == {self._graph.seeds.tag} and "-e1'" not in args:
            return frozenset({self._graph.plain.tag})  # more edges between the seeds, which no test looks for
        places = map(_edges, groups) if request.get("op") in ("graph.upsert_edges", "graph.delete_edges") else groups
        edges = map(_edges, groups) if "_edges" in args else ()
        return frozenset((*places, *edges, *_NAMESPACE.findall(args)) if groups else ())

    def note(self, request: Any, *, refused: bool = False) -> None:
        """Note a write; one that was refused matters only in a place that a test looks at."""
        plain = {self._graph.seeds.tag, _edges(self._graph.seeds.tag), self._graph.plain.tag}
        if not (refused and isinstance(request, Mapping) and self.written_to(request) <= plain):
            super().note(request, refused=refused)

    def looks(self, name: str, request: Mapping[str, Any]) -> bool:
        """True if a request reads what was written; a write may do so only if it has a filter or a query."""
        direct = self.known.in_order and self._graph.operation(name).mutating
        return super().looks(name, request) and not (direct and not _READS.search(str(request.get("args"))))

    def trials(self) -> Iterator[Look]:
        graph = self._graph
        readers = [name for name in NODE_READERS if graph.prerequisites.is_callable(name)]
        with graph.client.provider.paused():
            sandbox = graph.sandbox(own=False)
            values = sandbox.put(sandbox.node("a"))
            yield from (partial(_shows, sandbox, name, values) for name in readers)
            sandbox.remove("nodes", "a")
            yield from (partial(_shows, sandbox, name, []) for name in readers)
            if readers and self.known.in_order is None:
                yield self._trial_of_order(graph.sandbox(own=False), readers[0])

    def _trial_of_order(self, sandbox: Sandbox, reader: str) -> Look:
        """Write nodes, and at once delete one and link the others."""
        begun, values = inputs.monotonic(), sandbox.put_named("abc")
        writes = {"delete_nodes": {"ids": [sandbox.id("c")]}, "upsert_edges": {"edges": [sandbox.edge("a", "b")]}}
        replies = [
            sandbox.call(name, args) for name, args in writes.items() if self._graph.prerequisites.is_callable(name)
        ]
        done = all(each.is_success and not failures(each.result) and size(each.result) != 0 for each in replies)
        return self.order(begun, partial(observed, sandbox.seen, reader), [values["a"], values["b"]], done=done)


def _edges(group: str) -> str:
    """The place of the edges of a group."""
    return f"{group} edges"


def _shows(sandbox: Sandbox, reader: str, values: list[str]) -> bool | None:
    """True if an operation shows exactly these nodes; None if it does not work."""
    found = observed(sandbox.seen, reader)
    return None if found is None else found == values


NAMING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", "traversal", *MANY)
"""The operations whose plain requests hold ids."""

ANY_ID = "GRA-NODE-12"
"""The requirement that says that any text is an id."""


NODES = "GRA-NODE-1"
"""The requirement that says that nodes are written."""

DELETES = {"delete_nodes": "GRA-DELETE-1", "delete_edges": "GRA-DELETE-2"}
"""The deletes, and the requirement that says of each that it removes what is there."""


class GraphPrerequisites(Prerequisites):
    """Queries need a listed dialect that the suite knows, and what holds ids needs ids that are taken."""

    _calls: GraphCapabilities

    def claim_of(self, name: str) -> bool | None:
        return False if name in ASKING and self._calls.dialect is None else super().claim_of(name)

    def obstacle(self, name: str) -> Undecided | None:
        if name in ASKING and (self._calls.dialect is None or not self.denies(name)):
            try:
                self._calls.speaks("group")
            except Undecided as obstacle:
                return obstacle
        return super().obstacle(name)

    def excuse(self, name: str, reply: Reply | StreamReply) -> Undecided | None:
        if name == "bulk_vertices" and reply.is_a("BadRequest", "NotSupported"):
            return NotApplicable("bulk_vertices refuses to list nodes; it may import them (R123)")
        if name in NAMING and is_refused(reply) and self.takes_only_uuids():
            return Blocked(ANY_ID, "only ids that are UUIDs are taken")
        if name in ("upsert_edges", "traversal") and is_refused(reply) and not reply.is_a("NotSupported"):
            return self._without_nodes()
        return self._deletes(name) if name in DELETES and is_refused(reply) else None

    def _without_nodes(self) -> Blocked | None:
        """The reason why the nodes that plain requests name are not there; None if they are, or that is unknown."""
        graph = self._calls
        if not graph.works("upsert_nodes"):
            obstacle = graph.shared.obstacles.get("upsert_nodes")
            return obstacle if isinstance(obstacle, Blocked) else None
        shown = [observed(graph.seeds.seen, reader) for reader in NODE_READERS if graph.works(reader)]
        if [] not in shown or any(shown):
            return None
        return Blocked(NODES, "no operation shows the nodes that were written for the request")

    def _deletes(self, name: str) -> Blocked | None:
        """The answer to a delete of what is there; None if it is deleted, and only what is not there is refused."""
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
        """True if a node is refused, and taken as soon as its id is a UUID; tried once a run."""

        def found() -> bool:
            plain = self._calls.plain_nodes()
            named = {"nodes": [{**plain["nodes"][0], "id": uuid_of(self._calls.settings.run)}]}
            spared = is_refused(self._upserted(plain)) and not is_refused(self._upserted(named))
            return spared and is_refused(self._upserted(plain))  # a finding shows what was asked last

        return cached(self._calls, "only UUIDs", found)

    def _upserted(self, args: Mapping[str, Any]) -> Reply:
        with self._calls.client.provider.paused():
            return self._calls.call("upsert_nodes", args)


def is_refused(reply: Reply | StreamReply) -> bool:
    """True if a request is refused, or an item of it is."""
    result = reply.result if isinstance(reply, Reply) else None
    return (
        reply.is_error or bool(failures(result)) or any(each.get("ok") is False for each in listed(result, "results"))
    )
