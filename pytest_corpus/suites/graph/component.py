"""The graph component as its suite speaks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import payload_problem
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph import requests_with_canaries
from pytest_corpus.suites.graph.dialects import Dialects
from pytest_corpus.suites.graph.node_readers import SEEDS, edges_shown, nodes_shown
from pytest_corpus.suites.graph.root_causes import blocked_by, failing_basics
from pytest_corpus.suites.graph.sandbox import NODE_READERS, Sandbox, counted, listed
from pytest_corpus.suites.graph.written_items import MANY, WrittenItems

ASKING = ("query", "stream_query")
"""The operations that take a text of a dialect."""

NEEDY = (*ASKING, "traversal", "upsert_edges")
"""The operations whose plain requests speak of nodes that must be there."""

WRITINGS = tuple((what, kind) for what in ("upsert", "delete") for kind in ("nodes", "edges"))

MOST_AT_ONCE = 20
"""So many items the suite puts in one request, or fewer where `max_batch_ops` is lower."""

CYCLE = 60
"""So many requests differ only in the spaces at the end of their text."""


@dataclass(slots=True)
class _Known:
    """What is known of an adapter, and what was written to it, shared by all its instances."""

    written_items: WrittenItems = field(default_factory=WrittenItems)
    node_readers: dict[str, bool] | None = None
    edge_readers: dict[str, bool] | None = None
    namespaces: Undecided | None = None
    tried_namespaces: bool = False
    filters: bool | None = None
    failing_basics: dict[str, tuple[str, ...]] | None = None


class Graph(Subject):
    """Requests of the graph component: nodes of unique ids, in the default namespace unless a test has its own."""

    component = "graph"
    principal = "upsert_nodes"
    principal_stream = "stream_query"
    checked = "GRA-NODE-6"
    content = ("records",)
    core: Mapping[str, str] = {
        **Subject.core,
        "upsert_nodes": "GRA-NODE-1",
        "upsert_edges": "GRA-EDGE-1",
        "delete_nodes": "GRA-DELETE-3",
        "delete_edges": "GRA-DELETE-3",
        "query": "GRA-QUERY-1",
    }
    payloads: Mapping[str, str] = {
        "capabilities": "COM-CAP-1",
        "health": "COM-HEALTH-1",
        "upsert_nodes": "GRA-NODE-4",
        "upsert_edges": "GRA-EDGE-8",
        "delete_nodes": "GRA-DELETE-8",
        "delete_edges": "GRA-DELETE-8",
        "query": "GRA-QUERY-1",
        "stream_query": "GRA-STREAM-1",
        "bulk_vertices": "GRA-BULK-2",
        "batch": "GRA-BATCH-2",
        "transaction": "GRA-TXN-4",
        "traversal": "GRA-TRAV-1",
        "get_schema": "GRA-SCHEMA-1",
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.dialects = Dialects(self.capabilities.names("dialects"), self.settings.dialects)
        self.seeds = Sandbox(self, f"c{self.settings.run}")
        self.plain = Sandbox(self, f"p{self.settings.run}")
        self._known = _Known()
        self._seeded: set[tuple[str | None, int]] = set()

    def fresh(self) -> Graph:
        other = super().fresh()
        assert isinstance(other, Graph)
        other.dialects, other._known = self.dialects, self._known
        return other

    # -- what the adapter offers -----------------------------------------------------------------------

    @property
    def at_once(self) -> int:
        """How many items go into one request."""
        return min(MOST_AT_ONCE, self.capabilities.limit("max_batch_ops") or MOST_AT_ONCE)

    @property
    def filters(self) -> bool:
        """Whether filters by property are claimed, or served where nothing is said."""
        claimed = self.capabilities.flag("supports_property_filters")
        if claimed is None and self._known.filters is None:
            args = {"limit": 5, "filter": {"corpus_group": self.seeds.group}}
            self._known.filters = self.works("bulk_vertices") and self.call("bulk_vertices", args).is_success
        return bool(claimed or (claimed is None and self._known.filters))

    @property
    def dialect(self) -> str | None:
        """The listed dialect that the suite asks in, or None where it knows none of them."""
        return next(iter(self.dialects.known), None)

    def operations(self, *, streaming: bool | None = None) -> list[str]:
        """The operations that can be called: where no listed dialect is known, those that need none (R33)."""
        names = super().operations(streaming=streaming)
        return names if self.dialect else [name for name in names if name not in ASKING]

    def question(self, purpose: str, dialect: str | None = None, **params: Any) -> dict[str, Any]:
        """The arguments of a query in words that the adapter takes, where it takes any."""
        spoken = dialect or self.dialect
        if spoken is None:
            return {"text": "no query", "dialect": next(iter(self.dialects.listed), "unknown")}

        def attempt(text: str) -> Reply:
            with self.client.provider.paused():
                return super(Graph, self).call("query", {"text": text, "dialect": spoken, "params": params})

        return {"text": self.dialects.text(purpose, spoken, attempt), "dialect": spoken, "params": params}

    def speaks(self, purpose: str, dialect: str | None = None) -> None:
        """Go on only where a question can be asked.

        Raises:
            NotAssessed: the suite knows no listed dialect, or the adapter takes no spelling of it.
            Blocked: it takes none although any adapter of the dialect does.
        """
        spoken = dialect or self.dialect
        if spoken is None:
            listed = ", ".join(self.dialects.listed) or "none"
            raise NotAssessed(f"no probe queries for the listed dialects ({listed}): give them with --corpus-dialects")
        example = {"wanted": self.seeds.key("s1"), "group": self.seeds.group, "rank": 1}
        names = {"find": ["wanted"], "group": ["group"], "ordered": ["group"], "typed": ["wanted", "rank"]}
        self.question(purpose, dialect, **{name: example[name] for name in names.get(purpose, ["wanted"])})
        if obstacle := self.dialects.obstacle(purpose, spoken):
            raise obstacle

    def claimed(self, name: str) -> bool | None:
        return False if name in ASKING and self.dialect is None else super().claimed(name)

    def _try(self, name: str) -> Undecided | None:
        if name in ASKING and (self.dialect is None or not self.denies(name)):
            try:
                self.speaks("group")
            except Undecided as obstacle:
                return obstacle
        return super()._try(name)

    def batched(self, name: str) -> str:
        """How a batch spells an operation: by its bare name, unless `extensions` advertise others (R33)."""
        extensions = self.capabilities.document.get("extensions")
        for key, value in (extensions or {}).items() if isinstance(extensions, Mapping) else ():
            if "batch" in str(key) and isinstance(value, list) and value:
                for spelling in (name, f"graph.{name}"):
                    if spelling in value:
                        return spelling
                raise NotApplicable(f"capabilities.extensions advertise no {name} for batches")
        return name

    def item(self, name: str, **args: Any) -> dict[str, Any]:
        """An operation of a batch or a transaction."""
        return {"op": self.batched(name), "args": args}

    # -- places ----------------------------------------------------------------------------------------

    def sandbox(self, *, tenant: str | None = None, own: bool = True) -> Sandbox:
        """An empty place: a new namespace where the adapter makes them, else a new group."""
        self._made.count += 1
        tag = f"c{self.settings.run}t{self._made.count}"
        namespace = tag if own and self._makes_namespaces() is None else None
        return Sandbox(self, tag, namespace=namespace, tenant=tenant)

    def namespaces(self, *, aside: bool = False) -> None:
        """Go on only where writing to a new namespace makes it; `aside` where a test tries that too, among others.

        Raises:
            NotApplicable: namespaces are not claimed, or a new one is refused and the test tries others as well.
            NotAssessed: a new one is refused.
        """
        if obstacle := self._makes_namespaces():
            raise NotApplicable(obstacle.reason) if aside else obstacle

    def _makes_namespaces(self) -> Undecided | None:
        known = self._known
        if not known.tried_namespaces:
            known.tried_namespaces = True
            claimed = self.capabilities.flag("supports_namespaces")
            reply = self.plain.like(namespace=self.plain.tag).call("upsert_nodes", self._plain_nodes())
            if claimed is not True:
                known.namespaces = NotApplicable("namespaces are not claimed")
            elif not reply.is_success:
                known.namespaces = NotAssessed(f"writing to a new namespace makes none: {reply}")
        return known.namespaces

    def seed(self, tenant: str | None = None) -> None:
        """Write the nodes that plain requests speak of, once for each tenant."""
        when = tenant, self.client.generation
        if when in self._seeded:
            return
        self._seeded.add(when)
        with self.client.provider.paused():
            self._write_seeds(tenant)

    def _write_seeds(self, tenant: str | None) -> None:
        sandbox = self.seeds.like(tenant=tenant)
        nodes = [
            sandbox.node(name, f"v-{sandbox.tag}-{name}", rank=number) for number, name in enumerate(SEEDS, start=1)
        ]
        edges = [sandbox.edge(SEEDS[0], SEEDS[1], "e1"), sandbox.edge(SEEDS[1], SEEDS[2], "e2")]
        for kind, items in (("nodes", nodes), ("edges", edges)):
            for start in range(0, len(items), self.at_once):
                args = {kind: items[start : start + self.at_once]}
                self.send(self.envelope(f"upsert_{kind}", args, sandbox.ctx))

    def node_readers(self) -> Mapping[str, bool]:
        """For each operation that shows nodes whether it shows the seeds, and nodes in other places, rightly."""
        if self._known.node_readers is None:
            self._known.node_readers = nodes_shown(self)
        return self._known.node_readers

    def reader(self, name: str) -> str:
        """Go on only where an operation shows nodes rightly, or none does.

        Raises:
            NotApplicable: nothing can be asked in the dialect of the adapter, but other operations show nodes.
            Undecided: it is not offered, does not work, or shows less than the others.
        """
        self.spare(name, self.node_readers())
        node_readers = self.node_readers()
        if not node_readers.get(name, True) and any(node_readers.values()):
            self._plainly_shown(name)
            raise NotAssessed(f"{name} does not show what other operations show")
        return name

    def _plainly_shown(self, name: str) -> None:
        """Go on only where an operation shows nodes that nobody looked for before they were written."""
        sandbox = self.sandbox(own=False)
        values = [value for node in SEEDS for value in sandbox.put(sandbox.node(node))]
        with expect.resting_on(NODE_READERS[name]):
            sandbox.shows(name, values, "the nodes that were written")

    def readers(self) -> list[str]:
        """The operations that show nodes rightly; all where none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        node_readers = self.node_readers()
        if not node_readers:
            raise NotAssessed("no operation can read back: neither bulk_vertices nor a query of a known dialect")
        return [name for name, right in node_readers.items() if right] or list(node_readers)

    def spare(self, name: str, others: Mapping[str, bool]) -> None:
        """Go on where an operation works; leave a query out where others show the same and its dialect is unknown.

        Raises:
            NotApplicable: there are others.
            Undecided: it is not offered or does not work.
        """
        try:
            self.require(name)
        except Blocked:
            raise
        except NotAssessed as unknown:
            if others and name in ASKING:
                raise NotApplicable(unknown.reason) from None
            raise

    def edge_readers(self) -> list[str]:
        """The operations that show edges rightly; all where none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        if self._known.edge_readers is None:
            self._known.edge_readers = edges_shown(self)
        found = self._known.edge_readers
        if not found:
            raise NotAssessed("no operation can show edges: neither traversal nor a query of a known dialect")
        return [name for name, right in found.items() if right] or list(found)

    def links(self) -> bool:
        """Whether a query can ask for the ends of edges."""
        try:
            self.speaks("links")
        except Undecided:
            return False
        return True

    # -- requests --------------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Reply:
        tenant = (ctx or {}).get("tenant")
        if name in NEEDY and name not in ASKING and isinstance(tenant, str) and tenant and self._plain(args):
            self.seed(tenant)
        return super().call(name, args, ctx, **options)

    def _plain(self, args: Mapping[str, Any] | None) -> bool:
        """Whether a request speaks of the seeds."""
        return args is None or f"{self.seeds.tag}-s1" in str(args)

    def send(self, request: Any, **options: Any) -> Reply:
        self._known.written_items.note(request)
        return super().send(request, **options)

    def _plain_nodes(self, name: str = "plain") -> dict[str, Any]:
        return {"nodes": [self.plain.node(name, f"v-{self.plain.tag}-{name}")]}

    def minimal(self, name: str) -> dict[str, Any]:
        if name in NEEDY:
            self.seed()
        if name in MANY:
            return {MANY[name]: [{"op": self._spelling("upsert_nodes"), "args": self._plain_nodes()}]}
        if name in ASKING:
            return self.question("group", group=self.seeds.group)
        return self._data(name, "")

    def _data(self, name: str, number: str) -> dict[str, Any]:
        """Plain arguments of an operation on single items, with ids that end in `number`."""
        match name:
            case "upsert_nodes":
                return self._plain_nodes(f"plain{number}")
            case "upsert_edges" if number:
                return {"edges": [self.seeds.edge("s1", "s2", f"e{number}", label="CORPUS_OTHER")]}
            case "upsert_edges":
                return {"edges": [self.seeds.edge("s1", "s2", "e1")]}
            case "delete_nodes" | "delete_edges":
                return {"ids": [self.seeds.id(f"none{number}")]}
            case "bulk_vertices":
                return {"limit": 2 + int(number or 3) % CYCLE}
            case "traversal":
                plain: dict[str, Any] = {"start_nodes": [self.seeds.id("s1")], "max_depth": 1}
                return {**plain, "relationship_types": [f"NONE{number}"]} if number else plain
        return {}

    def _spelling(self, name: str) -> str:
        try:
            return self.batched(name)
        except NotApplicable:
            return name

    def carries(self, operation: str) -> bool:
        """Whether batches, or transactions, are offered and take every write."""
        try:
            return self.works(operation) and all(self.batched(f"{what}_{kind}") for what, kind in WRITINGS)
        except NotApplicable:
            return False

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        self._made.count += 1
        number = self._made.count
        if name in ASKING:
            return {**args, "text": args["text"] + " " * (number % CYCLE)}
        if name in MANY:
            return {MANY[name]: [{**args[MANY[name]][0], "args": self._plain_nodes(f"plain{number}")}]}
        return self._data(name, str(number))

    def wrong_types(self, name: str) -> dict[str, Any]:
        wrong: dict[str, dict[str, Any]] = {
            "upsert_nodes": {"nodes": "n1"},
            "upsert_edges": {"edges": "e1"},
            "delete_nodes": {"ids": 7},
            "delete_edges": {"ids": 7},
            "query": {"text": 7},
            "stream_query": {"text": 7},
            "bulk_vertices": {"limit": "ten"},
            "batch": {"ops": "upsert_nodes"},
            "transaction": {"operations": "upsert_nodes"},
            "traversal": {"start_nodes": 7},
        }
        return wrong.get(name, {})

    def requests_with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        item = {"op": self._spelling("upsert_nodes"), "args": self._plain_nodes()}
        found: list[tuple[str, dict[str, Any]]] = [
            ("upsert_nodes", {"nodes": [{**self._plain_nodes()["nodes"][0], **unknown}]}),
            ("upsert_edges", {"edges": [{**edge, **unknown} for edge in self.minimal("upsert_edges")["edges"]]}),
        ]
        for name, key in MANY.items():
            found.append((name, {key: [{**item, **unknown}]}))
            found.append((name, {key: [{**item, "args": {**self._plain_nodes(), **unknown}}]}))
        return found

    def requests_with_number(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        found: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("bulk_vertices", {"limit": number}, {}),
            ("traversal", {**self.minimal("traversal"), "max_depth": number}, {}),
        ]
        if self.filters:
            found.append(("bulk_vertices", {"limit": 2, "filter": {"corpus_rank": number}}, {}))
        for operation in ASKING if self.dialect else ():
            plain = self.minimal(operation)
            found.append((operation, {**plain, "params": {**plain["params"], "group": number}}, {}))
            found.append((operation, {**plain, "params": {**plain["params"], "group": [{"a": [number]}]}}, {}))
            found.append((operation, {**plain, "timeout_ms": number}, {}))
        return [*found, *((name, self.minimal(name), {"deadline_ms": number}) for name in self.deadlined())]

    def requests_with_integer(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("bulk_vertices", {"limit": number}),
            ("traversal", {**self.minimal("traversal"), "max_depth": number}),
        ]

    def distinguishable(self) -> list[dict[str, Any]]:
        self.require("upsert_nodes")
        sandbox = self.sandbox(own=False)
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        most = min(4, self.at_once, max(2, self.capabilities.limit("concurrency") or 4))
        many = [
            self.envelope("upsert_nodes", {"nodes": [sandbox.node(f"{size}x{n}") for n in range(size)]})
            for size in range(1, most + 1)
        ]
        if not self.works("query") or most < 4:
            return many
        finds = [self.envelope("query", self.question("find", wanted=sandbox.key(name))) for name in "ab"]
        return [*finds, *many[:2]]

    def fingerprint(self, reply: Reply) -> Any:
        result = expect.success(reply, "the answer that the request gets alone")
        if isinstance(result, Mapping) and "records" in result:
            return " ".join(sorted(map(str, listed(result, "records", of=object))))
        return counted(result)

    def requests_with_canaries(
        self, *, refused: bool
    ) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        return requests_with_canaries.refused(self) if refused else requests_with_canaries.good(self)

    # -- what holds for every answer -------------------------------------------------------------------

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        requirement = self.payloads.get(name)
        if requirement is None or self.operation(name).streaming:
            return
        if not isinstance(result, Mapping):
            yield requirement, Violation("an object", type(result).__name__, "result")
        elif name not in ("capabilities", "health") and self.settings.edition != "1.0.0":
            # Edition 1.0.0 has no schema that says what the result of a graph operation is.
            whole = {"ok": True, "code": "OK", "ms": 0, "result": result}
            if problem := payload_problem(f"graph.{name}.success", whole, self.settings.edition):
                yield requirement, problem

    def audit_chunk(self, _name: str, _chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        yield from ()

    def root_cause(self, requirement: str, violation: Violation) -> Blocked | None:
        if cause := super().root_cause(requirement, violation):
            return cause
        if self._known.failing_basics is None:
            self._known.failing_basics = {}
            self._known.failing_basics = dict(failing_basics(self))
        return blocked_by(self._known.failing_basics, requirement)

    # -- leaving no trace ------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Delete all that was written; what an adapter refuses to delete stays."""
        self._known.written_items.remove(self, self.at_once)


@pytest.fixture
def graph(request: pytest.FixtureRequest) -> Graph:
    """The graph component under test."""
    found = request.node.stash[SUBJECT]
    assert isinstance(found, Graph)
    return found


COMPONENT = Graph
