"""Any sequence of writes, compared with a small model (SPECIFICATION 4.2.6, 7.3).

The machine draws names from a few nodes and edges, so that writes meet; what it sends is within every limit
that the adapter states.
"""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.generation.generate import strategies
from pytest_corpus.kit.generation.stateful import machines
from pytest_corpus.suites.graph.support.answers import failures, listed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.scenarios import edges
from pytest_corpus.suites.graph.support.scenarios.edges import LOOP
from pytest_corpus.suites.graph.support.written_items import MANY

NAMES = ("a", "b", "c", "d")
PAIRS = (("a", "b"), ("b", "c"), ("c", "a"), ("a", "a"), ("d", "b"))
EXAMPLES, STEPS = 3, 10
SLOW_STEPS = 8
SLOW_S = 0.004
"""An adapter whose fastest call takes longer gets shorter sequences; one that shows writes late gets a single one."""

PLAIN: tuple[tuple[str, str, tuple[str, str]], ...] = (
    ("put", "a", ("", "")),
    ("put", "b", ("", "")),
    ("link", "", ("a", "b")),
    ("put", "a", ("", "")),
    ("unlink", "", ("a", "b")),
    ("drop", "b", ("", "")),
    ("put", "b", ("", "")),
    ("drop", "b", ("", "")),
    ("put", "b", ("", "")),
    ("drop", "a", ("", "")),
)
"""The steps before any random one: a plain fault is found with every seed, on every machine."""


class World:
    """The expected content: values of nodes by name, and the edges by name."""

    def __init__(self, graph: Graph, looks: int = 0) -> None:
        self.sandbox: Sandbox = graph.sandbox()
        self.graph = graph
        self.readers, self.edge_readers = (
            graph.readers.of_nodes()[:2],
            graph.readers.of_edges()[:1] if graph.works("upsert_edges") else [],
        )
        self.touched: set[str] = set()
        self.looks, self.steps = looks, 0
        self.nodes: dict[str, str] = {}
        self.edges: dict[str, tuple[str, str]] = {}

    def put(self, name: str) -> dict[str, Any]:
        """The operation that writes a node, and what becomes of the model."""
        node = self.sandbox.node(name)
        self.touched.add(name)
        self.nodes[name] = value_of(node)
        return {"op": "upsert_nodes", "args": {"nodes": [node]}}

    def drop(self, name: str) -> dict[str, Any]:
        """The operation that deletes a node without edges."""
        self.nodes.pop(name, None)
        return {"op": "delete_nodes", "args": {"ids": [self.sandbox.id(name)]}}

    def link(self, pair: tuple[str, str]) -> dict[str, Any]:
        """The operation that writes an edge between nodes that are there."""
        edge = self.sandbox.edge(*pair)
        self.touched.update(pair)
        self.edges["to".join(pair)] = pair
        return {"op": "upsert_edges", "args": {"edges": [edge]}}

    def unlink(self, pair: tuple[str, str]) -> dict[str, Any]:
        """The operation that deletes an edge."""
        self.edges.pop("to".join(pair), None)
        self.touched.update(pair)
        return {"op": "delete_edges", "args": {"ids": [self.sandbox.id("to".join(pair))]}}

    def free(self, name: str) -> bool:
        """Return whether a node has no edges: whether one that has some can be deleted is the adapter's business."""
        return not any(name in pair for pair in self.edges.values())

    def step(self, kind: str, name: str, pair: tuple[str, str]) -> dict[str, Any] | None:
        """One operation of a kind, where it makes sense as things are."""
        if kind == "put":
            return self.put(name)
        if kind == "drop":
            return self.drop(name) if self.free(name) else None
        if not self.edge_readers:
            return None
        if kind == "link":
            return self.link(pair) if set(pair) <= set(self.nodes) else None
        return self.unlink(pair)

    def carry_out(self, operation: dict[str, Any]) -> None:
        """Send an operation by itself; it works, and no item of it fails."""
        result = expect.success(self.sandbox.call(operation["op"], operation["args"]), f"{operation['op']} to work")
        expect.that(not failures(result), f"{operation['op']} of sound items to work", "failures", "result.failures")

    def carry_out_together(self, together: str, operations: list[dict[str, Any]]) -> None:
        """Send operations as a batch or a transaction; all of them work."""
        items = [
            {"op": self.graph.operation_names.spelled(each["op"]), "args": {**self.sandbox.place, **each["args"]}}
            for each in operations
        ]
        result = expect.success(self.sandbox.call(together, {MANY[together]: items}), f"{together} to work")
        failed = [item for item in listed(result, "results") if item.get("ok") is False]
        expect.that(not failed, f"every operation of a sound {together} to work", f"{len(failed)} failures", "results")

    def compare(self) -> None:
        """The adapter shows, by one operation after the other, the content of the model."""
        self.looks += 1
        self.sandbox.shows(
            self.readers[self.looks % len(self.readers)], self.nodes.values(), "what the sequence adds up to"
        )
        touched, self.touched = self.touched & set(self.nodes), set()
        for edge_reader in self.edge_readers:
            for name in sorted(touched):
                targets = {pair[1]: self.nodes[pair[1]] for pair in self.edges.values() if pair[0] == name}
                self.sandbox.leads(edge_reader, name, targets, "the edges that the sequence adds up to")

    def take(self, kind: str, name: str, pair: tuple[str, str]) -> None:
        """Carry out one step of `PLAIN`, or one write that a batch or a transaction carries."""
        if kind in MANY:
            self.carry_out_together(kind, [self.put(name) if pair[0] else self.drop(name)])
        elif (operation := self.step(kind, name, pair)) is not None:
            self.carry_out(operation)

    def seldom(self) -> None:
        """Compare, if each look waits for a write only after every fifth step."""
        self.steps += 1
        if not self.graph.settling.late or self.steps % 5 == 0:
            self.compare()


def plain(graph: Graph) -> None:
    """Every kind of write by itself, and one that adds and one that deletes through each way of sending many.

    After each step the place is as it should be. If writes show late, each number of steps has a place of its own, and
    one wait is enough.
    """
    carriers = [name for name in MANY if graph.operation_names.carries(name)]
    steps = [*PLAIN, *((name, "c", (then, "")) for name in carriers for then in ("put", ""))]
    graph.settling.find_out()
    worlds = [World(graph)]
    for number, step in enumerate(steps, start=1):
        if graph.settling.late:
            worlds.append(World(graph, looks=number))
            for each in steps[:number]:
                worlds[-1].take(*each)
        else:
            worlds[0].take(*step)
            worlds[0].compare()
    for world in worlds[1:]:
        world.compare()


def machine(graph: Graph) -> type[Any]:
    """The state machine of an adapter: rules for the operations that it offers."""
    stateful, draw = machines(), strategies()
    kinds, names = draw.sampled_from(["put", "put", "drop", "link", "unlink"]), draw.sampled_from(NAMES)
    pairs = draw.sampled_from([pair for pair in PAIRS if len(set(pair)) == 2 or edges.takes(graph, LOOP)])
    together = [name for name in MANY if graph.operation_names.carries(name)]
    most = min(graph.at_once, 4)
    many = draw.lists(draw.tuples(kinds, names, pairs), min_size=1, max_size=most)

    class Machine(stateful.RuleBasedStateMachine):  # type: ignore[misc, name-defined]
        """Writes in any order; after each the adapter is compared with the model."""

        def __init__(self) -> None:
            super().__init__()
            self.world = World(graph)
            self.begun = len(graph.client.exchanges)

        @property
        def envelopes(self) -> list[Any]:
            return [exchange.request for exchange in graph.client.exchanges[self.begun :]]

        @stateful.rule(kind=kinds, name=names, pair=pairs)  # type: ignore[untyped-decorator]
        def one(self, kind: str, name: str, pair: tuple[str, str]) -> None:
            operation = self.world.step(kind, name, pair)
            if operation is not None:
                self.world.carry_out(operation)
                self.world.seldom()

        @stateful.precondition(lambda _: bool(together))  # type: ignore[untyped-decorator]
        @stateful.rule(operation=draw.sampled_from(together or ["batch"]), steps=many)  # type: ignore[untyped-decorator]
        def several(self, operation: str, steps: list[tuple[str, str, tuple[str, str]]]) -> None:
            found, touched = [], set[str]()
            for kind, name, pair in steps:
                names = {name} if kind in ("put", "drop") else {*pair}
                if not names & touched:  # the order in a batch, or a transaction, is a SHOULD
                    found.append(self.world.step(kind, name, pair))
                    touched |= names
            operations = [each for each in found if each is not None]
            if operations:
                self.world.carry_out_together(operation, operations)
                self.world.seldom()

    return Machine
