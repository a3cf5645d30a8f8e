"""A place of its own for a test: nodes and edges that it wrote, and the ways to see them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.spec.dialects import EDGE_LABEL, NODE_LABEL
from pytest_corpus.suites.graph.subject.answers import failures, following, listed, records
from pytest_corpus.suites.graph.subject.shared import GraphShared
from pytest_corpus.text.values import strings_of

NODE_READERS = {"query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2", "bulk_vertices": "GRA-BULK-1"}
"""The operations that show nodes, and the requirement that says that they do."""

EDGE_READERS = {"traversal": "GRA-TRAV-2", "query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2"}
"""The operations that show edges."""

PLACELESS = ("batch", "transaction", "get_schema")
"""The operations that take no `namespace` of their own."""

MOST_PAGES = 150
PAGE = 100


class GraphCalls(Protocol):
    """What of the component a sandbox needs: calls, and the words for a question."""

    @property
    def shared(self) -> GraphShared: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def at_once(self) -> int: ...

    @property
    def filters(self) -> bool: ...

    def require(self, *names: str) -> None: ...

    def call(self, name: str, args: Mapping[str, Any], ctx: Mapping[str, Any]) -> Reply: ...

    def stream(self, name: str, args: Mapping[str, Any], ctx: Mapping[str, Any]) -> StreamReply: ...

    def item(self, name: str, **args: Any) -> dict[str, Any]: ...

    def question(self, purpose: str, dialect: str | None = None, **params: Any) -> dict[str, Any]: ...

    def speaks(self, purpose: str, dialect: str | None = None) -> None: ...


class Sandbox:
    """Nodes of one group, of one namespace (None: left out) and one tenant (None: none).

    Each value of `corpus_value` that it writes begins with a mark of its own, so that it is known again in
    whatever form a query gives it.
    """

    def __init__(self, graph: GraphCalls, tag: str, *, namespace: str | None = None, tenant: str | None = None) -> None:
        self.graph, self.tag, self.namespace, self.tenant = graph, tag, namespace, tenant
        self.group = f"g-{tag}-"

    def like(self, *, namespace: str | None = None, tenant: str | None = None) -> Sandbox:
        """The same ids and group elsewhere."""
        return Sandbox(self.graph, self.tag, namespace=namespace, tenant=tenant)

    # -- what is written -------------------------------------------------------------------------------

    @property
    def ctx(self) -> dict[str, Any]:
        return {} if self.tenant is None else {"tenant": self.tenant}

    @property
    def place(self) -> dict[str, Any]:
        """The arguments that name the namespace."""
        return {} if self.namespace is None else {"namespace": self.namespace}

    def id(self, name: str) -> str:
        """The id of a node or edge."""
        return f"{self.tag}-{name}"

    def key(self, name: str) -> str:
        """The `corpus_key` of a node, by which queries find it."""
        return f"k-{self.tag}-{name}"

    def value(self, name: str) -> str:
        """A value that was not written before."""
        return f"v-{self.tag}-{name}-{self.graph.shared.number()}"

    def node(self, name: str, value: str | None = None, *, rank: Any = 0, **properties: Any) -> dict[str, Any]:
        """A node of this space."""
        own = {"corpus_key": self.key(name), "corpus_group": self.group, "corpus_rank": rank}
        own["corpus_value"] = self.value(name) if value is None else value
        return {"id": self.id(name), "labels": [NODE_LABEL], "properties": {**own, **properties}}

    def edge(self, source: str, target: str, name: str = "", *, label: str = EDGE_LABEL, **properties: Any) -> Any:
        """An edge between two nodes of this space."""
        return {
            "id": self.id(name or f"{source}to{target}"),
            "src": self.id(source),
            "dst": self.id(target),
            "label": label,
            "properties": {"corpus_value": self.value("e"), **properties},
        }

    def item(self, name: str, **args: Any) -> dict[str, Any]:
        """An operation of a batch or a transaction here."""
        return self.graph.item(name, **args, **self.place)

    def put(self, *nodes: Mapping[str, Any]) -> list[str]:
        """Write nodes; their values."""
        self._write("upsert_nodes", "nodes", nodes)
        return [str(node["properties"].get("corpus_value")) for node in nodes]

    def link(self, *edges: Mapping[str, Any]) -> None:
        """Write edges."""
        self._write("upsert_edges", "edges", edges)

    def _write(self, name: str, kind: str, items: tuple[Mapping[str, Any], ...]) -> None:
        self.graph.require(name)
        most = self.graph.at_once
        for start in range(0, len(items), most):
            result = expect.success(self.call(name, {kind: list(items[start : start + most])}), f"{name} to work")
            expect.that(not failures(result), f"{name} of sound {kind} to work", "failures")

    def remove(self, kind: str, *names: str) -> None:
        """Delete nodes or edges."""
        self.graph.require(f"delete_{kind}")
        for name in names:
            expect.success(self.call(f"delete_{kind}", {"ids": [self.id(name)]}), f"delete_{kind} to work")

    def call(self, name: str, args: Mapping[str, Any], ctx: Mapping[str, Any] | None = None) -> Reply:
        """Call a unary operation here; one that takes no namespace, only for this tenant."""
        self.graph.shared.deeds.note(name, args, (self.tenant, self.namespace))
        place = {} if name in PLACELESS else self.place
        return self.graph.call(name, {**place, **args}, {**self.ctx, **(ctx or {})})

    def stream(self, args: Mapping[str, Any]) -> StreamReply:
        """Call `stream_query` here."""
        self.graph.shared.deeds.note("stream_query", args, (self.tenant, self.namespace))
        return self.graph.stream("stream_query", {**self.place, **args}, self.ctx)

    # -- what is seen ----------------------------------------------------------------------------------

    def seen(self, reader: str) -> list[str]:
        """The values of all nodes here, sorted, as one operation shows them."""
        if reader == "bulk_vertices":
            mine = [node for node in self.listed() if node["properties"].get("corpus_group") == self.group]
            return sorted(str(node["properties"].get("corpus_value")) for node in mine)
        return sorted(self.answers(reader, "group", group=self.group))

    def shows(self, reader: str, values: Iterable[str], claim: str) -> None:
        """One operation shows just these values."""
        wanted, found = sorted(values), self.seen(reader)
        if wanted != found:
            missing, more = len(set(wanted) - set(found)), len(set(found) - set(wanted))
            got = f"{len(found)} of which {more} are wrong, and {missing} are missing"
            raise Violation(f"{claim}: {len(wanted)} nodes", got, reader)

    def answers(self, operation: str, purpose: str, *, dialect: str | None = None, **params: Any) -> list[str]:
        """The values that the records of a question hold, one a record, in order."""
        args = self.graph.question(purpose, dialect, **params)
        self.graph.speaks(purpose, dialect)
        reply = self.stream(args) if operation == "stream_query" else self.call("query", args)
        if reply.is_a("IndexNotReady", "NamespaceNotFound"):
            return []
        found = [value for value in (self.own(record) for record in records(reply)) if value]
        return [min(values) for values in found]

    def own(self, value: Any) -> set[str]:
        """The values of this space that stand anywhere in a JSON value."""
        return {text for text in strings_of(value) if text.startswith(f"v-{self.tag}-")}

    def listed(self, **args: Any) -> list[Mapping[str, Any]]:
        """All nodes here, once each, as `bulk_vertices` lists them; of a crowded place only those of the group."""
        own = {} if self.namespace or not self.graph.filters else {"filter": {"corpus_group": self.group}}
        nodes = [node for page in self.pages({"limit": PAGE, **own, **args}) for node in page]
        sound = [node for node in nodes if isinstance(node.get("properties"), Mapping)]
        return list({str(node.get("id")): node for node in sound}.values())

    def pages(self, args: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
        """The pages of `bulk_vertices`, to the last one.

        Raises:
            NotAssessed: there are too many.
        """
        cursor: Any = None
        for _ in range(MOST_PAGES):
            reply = self.call("bulk_vertices", {**args, **({"cursor": cursor} if cursor else {})})
            if reply.is_a("IndexNotReady", "NamespaceNotFound") and not cursor:
                return
            result = expect.success(reply, "a page of nodes")
            yield listed(result, "nodes")
            cursor = following(result)
            if not cursor:
                return
        raise NotAssessed(f"bulk_vertices has more than {MOST_PAGES} pages")

    def ends(self, edge_reader: str, source: str) -> list[str]:
        """Where the edges from a node lead, as one operation shows it: values of nodes, or ids by a traversal."""
        if edge_reader != "traversal":
            return sorted(self.answers(edge_reader, "links", wanted=self.key(source)))
        led = {str(edge.get("id")): str(edge.get("dst")) for edge in self.relationships(source)}
        return sorted(led.values())

    def leads(self, edge_reader: str, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """The edges from a node lead just to these: names, or names with the values of their nodes."""
        values = dict(targets) if isinstance(targets, Mapping) else {name: name for name in targets}
        wanted = sorted(self.id(name) for name in values) if edge_reader == "traversal" else sorted(values.values())
        found = self.ends(edge_reader, source)
        expect.that(found == wanted, f"{claim}: {len(wanted)} edges", f"{len(found)}, or other ones", edge_reader)

    def relationships(self, source: str) -> list[Mapping[str, Any]]:
        """The outgoing edges of a node, as a traversal shows them."""
        result = self.traversed(source)
        return [edge for edge in listed(result, "relationships") if edge.get("src") == self.id(source)]

    def traversed(self, *sources: str, **args: Any) -> Any:
        """The result of a traversal."""
        starts = [self.id(source) for source in sources]
        given = {"start_nodes": starts, "max_depth": 1, "direction": "OUTGOING", **args}
        return expect.success(self.call("traversal", given), "a traversal to work")

    def reached(self, *sources: str, **args: Any) -> list[str]:
        """The names of the nodes that a traversal reaches, its start nodes left out, sorted."""
        starts = {self.id(source) for source in sources}
        found = {str(node.get("id")) for node in listed(self.traversed(*sources, **args), "nodes")} - starts
        return sorted(name.removeprefix(f"{self.tag}-") for name in found)
