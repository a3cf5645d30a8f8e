"""The nodes and edges of one test: written, and read with the operations that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation, difference
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.results import next_cursor
from pytest_corpus.kit.store.store import parts_of, quota_used_up
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import is_namespace_missing, items_of, records
from pytest_corpus.suites.graph.support.node_group import NodeGroup
from pytest_corpus.text.values import strings_of

NODE_READERS = {"query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2", "bulk_vertices": "GRA-BULK-1"}
"""The operations that show nodes, and the requirement for each."""

EDGE_READERS = {"traversal": "GRA-TRAV-2", "query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2"}
"""The operations that show edges."""

MOST_PAGES = 150
PAGE = 100

T = TypeVar("T")


def call_or_none(read: Callable[..., T], *args: Any) -> T | None:
    """Return the result of `read`, or None if it raises Violation or Undecided."""
    try:
        return read(*args)
    except (Undecided, Violation):
        return None


class NodeViews(NodeGroup):
    """Reads the nodes of a sandbox, with each operation that shows nodes."""

    def read_values(self, reader: str) -> list[str]:
        """Return the sorted values of all nodes in the sandbox, as one operation shows them."""
        if reader == "bulk_vertices":
            mine = [node["properties"] for node in self.list_nodes()]
            return sorted(str(each.get("corpus_value")) for each in mine if each.get("corpus_group") == self.group)
        return sorted(self.query_values(reader, "group", group=self.group))

    def expect_values(self, reader: str, values: Iterable[str], claim: str) -> None:
        """Check that one operation shows exactly these values."""
        wanted, found = sorted(values), self.read_values(reader)
        if wanted != found:
            about = (self.name_of(value) for value in set(wanted) ^ set(found))
            raise Violation(f"{claim}: {len(wanted)} nodes", difference(wanted, found), reader, about=about)

    def expect_all_show_values(self, values: Iterable[str], claim: str) -> None:
        """Check that every operation that shows nodes correctly shows exactly these values."""
        wanted = list(values)
        for reader in self.graph.readers.for_nodes():
            self.expect_values(reader, wanted, claim)

    def expect_one_shows_values(self, values: Iterable[str], claim: str) -> None:
        """Check that an operation that shows nodes correctly, another in each check, shows exactly these values."""
        self.expect_values(self.node_reader(), values, claim)

    def node_reader(self) -> str:
        """Return an operation that shows nodes correctly. Each call returns another operation."""
        return self._next_in_rotation(self.graph.readers.for_nodes())

    def _next_in_rotation(self, readers: list[str]) -> str:
        """Return one of these operations. The choice changes with each read, and depends on the test and the seed."""
        return readers[inputs.next_in_rotation("reader") % len(readers)]

    def query_values(self, operation: str, purpose: str, *, dialect: str | None = None, **params: Any) -> list[str]:
        """Return the values in the records of a query, one value per record, in order."""
        args = self.graph.question(purpose, dialect, **params)
        self.graph.require_question(purpose, dialect)
        reply = self.stream(args) if operation == "stream_query" else self.call("query", args)
        if is_namespace_missing(reply):
            return []
        return [min(values) for values in map(self.own_values, records(reply)) if values]

    def ask_for_all(self, reader: str) -> Any:
        """Return the answer of one operation to a request for all nodes of the sandbox."""
        if reader == "bulk_vertices":
            return self.call(reader, {"limit": 5})
        args = self.graph.question("group", group=self.group)
        return self.stream(args) if reader == "stream_query" else self.call(reader, args)

    def own_values(self, value: Any) -> set[str]:
        """Return the values of this sandbox that occur anywhere in a JSON value."""
        return {text for text in strings_of(value) if text.startswith(f"v-{self.tag}-")}

    def list_nodes(self, **args: Any) -> list[Mapping[str, Any]]:
        """Return all nodes of the sandbox, each once, as `bulk_vertices` lists them."""
        own = {} if self.namespace or not self.graph.accepts_filters else {"filter": {"corpus_group": self.group}}
        nodes = [node for page in self.pages({"limit": PAGE, **own, **args}) for node in page]
        sound = [node for node in nodes if isinstance(node.get("properties"), Mapping)]
        return list({str(node.get("id")): node for node in sound}.values())

    def pages(self, args: Mapping[str, Any], first: Reply | None = None) -> Iterator[list[Mapping[str, Any]]]:
        """Yield the pages of `bulk_vertices`, from `first` on if given. Raises NotAssessed for too many pages."""
        cursor: Any = None
        for _ in range(MOST_PAGES):
            following_args = {**args, "cursor": cursor} if cursor else args
            reply, first = first or self.call("bulk_vertices", following_args), None
            if is_namespace_missing(reply) and not cursor:
                return
            result = expect.success(reply, "a page of nodes")
            yield items_of(result, "nodes")
            cursor = next_cursor(result)
            if not cursor:
                return
        raise NotAssessed(Obstacle.MANY_PAGES, number=MOST_PAGES)


class EdgeViews(NodeViews):
    """Reads the edges of a sandbox, with each operation that shows edges."""

    def read_targets(self, edge_reader: str, source: str) -> list[str]:
        """Return the sorted targets of a node's edges: ids from a traversal, values of nodes from a query."""
        if edge_reader != "traversal":
            return sorted(self.query_values(edge_reader, "links", wanted=self.key(source)))
        targets = {str(edge.get("id")): str(edge.get("dst")) for edge in self.relationships(source)}
        return sorted(targets.values())

    def targets_to_show(self, edge_reader: str, targets: Mapping[str, str] | Iterable[str]) -> list[str]:
        """Return the targets that an operation must show: ids in a traversal, values of nodes in a query."""
        values = dict(targets) if isinstance(targets, Mapping) else {name: name for name in targets}
        return sorted(map(self.id, values) if edge_reader == "traversal" else values.values())

    def expect_targets(
        self, edge_reader: str, source: str, targets: Mapping[str, str] | Iterable[str], claim: str
    ) -> None:
        """Check that the edges from a node lead exactly to `targets`: names of nodes, or values by name."""
        wanted, found = self.targets_to_show(edge_reader, targets), self.read_targets(edge_reader, source)
        expect.check(found == wanted, f"{claim}: {len(wanted)} edges", difference(wanted, found), edge_reader)

    def expect_all_show_targets(self, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """Check that every operation that shows edges correctly shows exactly these targets of a node."""
        for edge_reader in self.graph.readers.for_edges():
            self.expect_targets(edge_reader, source, targets, claim)

    def expect_one_shows_targets(self, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """Check that an operation that shows edges correctly, another in each check, shows exactly these targets."""
        self.expect_targets(self._next_in_rotation(self.graph.readers.for_edges()), source, targets, claim)

    def relationships(self, *sources: str) -> list[Mapping[str, Any]]:
        """Return the outgoing edges of nodes, as a traversal shows them."""
        found = items_of(self.traverse(*sources), "relationships")
        return [edge for edge in found if edge.get("src") in map(self.id, sources)]

    def traverse(self, *sources: str, **args: Any) -> Any:
        """Return the result of a traversal. Raises NotApplicable if its direction is not supported."""
        starts = [self.id(source) for source in sources]
        given = {"start_nodes": starts, "max_depth": 1, "direction": "OUTGOING", **args}
        reply = self.call("traversal", given)
        if given["direction"] != "OUTGOING":
            expect.applicable(not reply.is_a("NotSupported"), f"the direction {given['direction']} is not supported")
        return expect.success(reply, "a traversal to work")

    def reached_nodes(self, *sources: str, **args: Any) -> list[str]:
        """Return the sorted names of the nodes that a traversal reaches, without the start nodes."""
        return sorted(self.node_names(self.traverse(*sources, **args)) - {*sources})

    def node_names(self, result: Any) -> set[str]:
        """Return the names of the nodes in the result of a traversal."""
        return {str(node.get("id")).removeprefix(f"{self.tag}-") for node in items_of(result, "nodes")}


class GraphSandbox(EdgeViews):
    """The nodes and edges of one test, in one namespace and of one tenant."""

    def copy_to(self, *, namespace: str | None = None, tenant: str | None = None) -> GraphSandbox:
        """Return a sandbox with the same ids and group in another namespace, or for another tenant."""
        return GraphSandbox(self.graph, self.tag, namespace=namespace, tenant=tenant)

    def put(self, *nodes: Mapping[str, Any]) -> list[str]:
        """Write nodes; return the `corpus_value` of each node."""
        return self._write("upsert_nodes", "nodes", nodes)

    def put_named(self, names: Iterable[str]) -> dict[str, str]:
        """Write a plain node for each name; return the values of the nodes by name."""
        return dict(zip(names, self.put(*map(self.node, names)), strict=True))

    def put_edges(self, *edges: Mapping[str, Any]) -> list[str]:
        """Write edges; return the `corpus_value` of each edge."""
        return self._write("upsert_edges", "edges", edges)

    def _write(self, name: str, kind: str, items: tuple[Mapping[str, Any], ...]) -> list[str]:
        self.graph.require(name)
        for part in parts_of([*items], self.graph.items_per_request):
            reply = self.call(name, {kind: [*part]})
            if self.graph.store.is_full(reply):
                raise quota_used_up(reply)
            expect.full_success(reply, f"{name} of valid {kind} to work")
        return [str(item["properties"].get("corpus_value")) for item in items]

    def remove(self, kind: str, *names: str) -> None:
        """Delete nodes or edges, with one request each."""
        self.graph.require(f"delete_{kind}")
        for name in names:
            expect.success(self.call(f"delete_{kind}", {"ids": [self.id(name)]}), f"delete_{kind} to work")
