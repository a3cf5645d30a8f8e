"""A place for one test: what it writes there, and how every operation shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation, difference
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import failures, following, has_no_place, listed, records
from pytest_corpus.suites.graph.support.place import Place
from pytest_corpus.text.values import strings_of

NODE_READERS = {"query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2", "bulk_vertices": "GRA-BULK-1"}
"""The operations that show nodes, and the requirement that says so of each."""

EDGE_READERS = {"traversal": "GRA-TRAV-2", "query": "GRA-QUERY-2", "stream_query": "GRA-STREAM-2"}
"""The operations that show edges."""

MOST_PAGES = 150
PAGE = 100

T = TypeVar("T")


def observed(look: Callable[..., T], *args: Any) -> T | None:
    """Return the result of a look, or None if it ends in a finding or without a verdict."""
    try:
        return look(*args)
    except (Undecided, Violation):
        return None


class NodeViews(Place):
    """The nodes of a place, as operations show them."""

    def seen(self, reader: str) -> list[str]:
        """The values of all nodes here, sorted, as one operation shows them."""
        if reader == "bulk_vertices":
            mine = [node["properties"] for node in self.listed()]
            return sorted(str(each.get("corpus_value")) for each in mine if each.get("corpus_group") == self.group)
        return sorted(self.answers(reader, "group", group=self.group))

    def all_seen(self) -> dict[str, list[str]]:
        """The values of all nodes here, sorted, by operation that shows nodes correctly."""
        return {reader: self.seen(reader) for reader in self.graph.readers.of_nodes()}

    def shows(self, reader: str, values: Iterable[str], claim: str) -> None:
        """One operation shows exactly these values."""
        wanted, found = sorted(values), self.seen(reader)
        if wanted != found:
            about = (self.named(value) for value in set(wanted) ^ set(found))
            raise Violation(f"{claim}: {len(wanted)} nodes", difference(wanted, found), reader, about=about)

    def all_show(self, values: Iterable[str], claim: str) -> None:
        """Every operation that shows nodes correctly shows exactly these values."""
        wanted = list(values)
        for reader in self.graph.readers.of_nodes():
            self.shows(reader, wanted, claim)

    def one_shows(self, values: Iterable[str], claim: str) -> None:
        """One operation that shows nodes correctly, each in turn as in `_in_turn`, shows exactly these values."""
        self.shows(self.node_reader(), values, claim)

    def node_reader(self) -> str:
        """An operation that shows nodes correctly, each in turn."""
        return self._in_turn(self.graph.readers.of_nodes())

    def _in_turn(self, readers: list[str]) -> str:
        """Another operation for the next look, the next case of a test and the next seed.

        A fault of one operation in one case alone is found by the runs with some seeds.
        """
        return readers[inputs.next_in_rotation("reader") % len(readers)]

    def answers(self, operation: str, purpose: str, *, dialect: str | None = None, **params: Any) -> list[str]:
        """The values that the records of a question hold, one per record, in order."""
        args = self.graph.question(purpose, dialect, **params)
        self.graph.speaks(purpose, dialect)
        reply = self.stream(args) if operation == "stream_query" else self.call("query", args)
        if has_no_place(reply):
            return []
        return [min(values) for values in map(self.own, records(reply)) if values]

    def asked(self, reader: str) -> Any:
        """The answer of one operation to a request for all nodes here."""
        if reader == "bulk_vertices":
            return self.call(reader, {"limit": 5})
        args = self.graph.question("group", group=self.group)
        return self.stream(args) if reader == "stream_query" else self.call(reader, args)

    def own(self, value: Any) -> set[str]:
        """The values of this place that occur anywhere in a JSON value."""
        return {text for text in strings_of(value) if text.startswith(f"v-{self.tag}-")}

    def listed(self, **args: Any) -> list[Mapping[str, Any]]:
        """All nodes here, once each, as `bulk_vertices` lists them; only those of the group if others lie here."""
        own = {} if self.namespace or not self.graph.filters else {"filter": {"corpus_group": self.group}}
        nodes = [node for page in self.pages({"limit": PAGE, **own, **args}) for node in page]
        sound = [node for node in nodes if isinstance(node.get("properties"), Mapping)]
        return list({str(node.get("id")): node for node in sound}.values())

    def pages(self, args: Mapping[str, Any], first: Reply | None = None) -> Iterator[list[Mapping[str, Any]]]:
        """The pages of `bulk_vertices`, to the last one; `first` is the answer to the first request.

        Raises NotAssessed if there are too many.
        """
        cursor: Any = None
        for _ in range(MOST_PAGES):
            following_args = {**args, "cursor": cursor} if cursor else args
            reply, first = first or self.call("bulk_vertices", following_args), None
            if has_no_place(reply) and not cursor:
                return
            result = expect.success(reply, "a page of nodes")
            yield listed(result, "nodes")
            cursor = following(result)
            if not cursor:
                return
        raise NotAssessed(Obstacle.MANY_PAGES, number=MOST_PAGES)


class EdgeViews(NodeViews):
    """The edges of a place, as operations show them."""

    def ends(self, edge_reader: str, source: str) -> list[str]:
        """The targets of a node's edges, sorted: values of nodes, or ids if a traversal shows them."""
        if edge_reader != "traversal":
            return sorted(self.answers(edge_reader, "links", wanted=self.key(source)))
        targets = {str(edge.get("id")): str(edge.get("dst")) for edge in self.relationships(source)}
        return sorted(targets.values())

    def expected_ends(self, edge_reader: str, targets: Mapping[str, str] | Iterable[str]) -> list[str]:
        """The ends that an operation must show for these nodes: names, or names with the values of their nodes."""
        values = dict(targets) if isinstance(targets, Mapping) else {name: name for name in targets}
        return sorted(map(self.id, values) if edge_reader == "traversal" else values.values())

    def leads(self, edge_reader: str, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """The edges from a node lead exactly to these: names, or names with the values of their nodes."""
        wanted, found = self.expected_ends(edge_reader, targets), self.ends(edge_reader, source)
        expect.check(found == wanted, f"{claim}: {len(wanted)} edges", difference(wanted, found), edge_reader)

    def all_lead(self, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """Every operation that shows edges correctly shows that those from a node lead exactly to these."""
        for edge_reader in self.graph.readers.of_edges():
            self.leads(edge_reader, source, targets, claim)

    def one_leads(self, source: str, targets: Mapping[str, str] | Iterable[str], claim: str) -> None:
        """One operation that shows edges correctly, each in turn, shows that a node leads exactly to these."""
        self.leads(self._in_turn(self.graph.readers.of_edges()), source, targets, claim)

    def relationships(self, *sources: str) -> list[Mapping[str, Any]]:
        """The outgoing edges of nodes, as a traversal shows them."""
        found = listed(self.traversed(*sources), "relationships")
        return [edge for edge in found if edge.get("src") in map(self.id, sources)]

    def traversed(self, *sources: str, **args: Any) -> Any:
        """The result of a traversal. Raises NotApplicable if edges are not followed in its direction."""
        starts = [self.id(source) for source in sources]
        given = {"start_nodes": starts, "max_depth": 1, "direction": "OUTGOING", **args}
        reply = self.call("traversal", given)
        if given["direction"] != "OUTGOING":
            expect.applicable(not reply.is_a("NotSupported"), f"the direction {given['direction']} is not supported")
        return expect.success(reply, "a traversal to work")

    def reached(self, *sources: str, **args: Any) -> list[str]:
        """The names of the nodes that a traversal reaches, without its start nodes, sorted."""
        return sorted(self.names(self.traversed(*sources, **args)) - {*sources})

    def names(self, result: Any) -> set[str]:
        """The names of the nodes in the result of a traversal."""
        return {str(node.get("id")).removeprefix(f"{self.tag}-") for node in listed(result, "nodes")}


class Sandbox(EdgeViews):
    """A place that one test writes to and reads back from."""

    def like(self, *, namespace: str | None = None, tenant: str | None = None) -> Sandbox:
        """The same ids and group in another place."""
        return Sandbox(self.graph, self.tag, namespace=namespace, tenant=tenant)

    def put(self, *nodes: Mapping[str, Any]) -> list[str]:
        """Write nodes; return their values."""
        return self._write("upsert_nodes", "nodes", nodes)

    def put_named(self, names: Iterable[str]) -> dict[str, str]:
        """Write a plain node for each name; return their values by name."""
        return dict(zip(names, self.put(*map(self.node, names)), strict=True))

    def link(self, *edges: Mapping[str, Any]) -> list[str]:
        """Write edges; return their values."""
        return self._write("upsert_edges", "edges", edges)

    def _write(self, name: str, kind: str, items: tuple[Mapping[str, Any], ...]) -> list[str]:
        self.graph.require(name)
        most = self.graph.at_once
        for start in range(0, len(items), most):
            result = expect.success(self.call(name, {kind: list(items[start : start + most])}), f"{name} to work")
            expect.check(not failures(result), f"{name} of valid {kind} to work", "failures")
        return [str(item["properties"].get("corpus_value")) for item in items]

    def remove(self, kind: str, *names: str) -> None:
        """Delete nodes or edges, each by a request of its own."""
        self.graph.require(f"delete_{kind}")
        for name in names:
            expect.success(self.call(f"delete_{kind}", {"ids": [self.id(name)]}), f"delete_{kind} to work")
