"""Random sequences of writes to a few nodes and edges, compared with a small model (SPECIFICATION 4.2.6, 7.3)."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.generation.stateful import Rule, Step, Trial, shrink_failure
from pytest_corpus.kit.outcomes import difference
from pytest_corpus.kit.reply import failed_items
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios import edges
from pytest_corpus.suites.graph.support.scenarios.edges import LOOP

KINDS = ("put", "put", "drop", "link", "unlink")
NAMES = ("a", "b", "c", "d")
PAIRS = (("a", "b"), ("b", "c"), ("c", "a"), ("a", "a"), ("d", "b"))
EXAMPLES, STEPS = 3, 8
SLOW_STEPS = 6
SLOW_S = 0.004
"""If the fastest call takes more than this many seconds, sequences of writes are shorter."""

Write = tuple[str, str, tuple[str, str]]
"""A kind of write, the name of a node, and the ends of an edge."""

PLAIN: tuple[Write, ...] = (
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
"""The steps before any random step, so that a plain fault is found with every seed."""


class GraphContents:
    """The expected content: the values of nodes by name, and edges by name."""

    def __init__(self, graph: Graph) -> None:
        self.sandbox: GraphSandbox = graph.sandbox()
        self.graph = graph
        self.readers = graph.readers.for_nodes()[:2]
        self.edge_readers = graph.readers.for_all_edges()[:1] if graph.works("upsert_edges") else []
        self.touched: set[str] = set()
        self.joined: set[str] = set()
        self.steps = self.looks = 0
        self.nodes: dict[str, str] = {}
        self.edges: dict[str, tuple[str, str]] = {}

    def put(self, name: str) -> dict[str, Any]:
        """Write a node to the model; return the operation with the same effect."""
        node = self.sandbox.node(name)
        self.touched.add(name)
        self.nodes[name] = value_of(node)
        return {"op": "upsert_nodes", "args": {"nodes": [node]}}

    def drop(self, name: str) -> dict[str, Any]:
        """Delete a node without edges from the model; return the operation with the same effect."""
        self.nodes.pop(name, None)
        return {"op": "delete_nodes", "args": {"ids": [self.sandbox.id(name)]}}

    def link(self, pair: tuple[str, str]) -> dict[str, Any]:
        """Write an edge between existing nodes to the model; return the operation with the same effect."""
        edge = self.sandbox.edge(*pair)
        self.touched.update(pair)
        self.joined.update(pair)
        self.edges["to".join(pair)] = pair
        return {"op": "upsert_edges", "args": {"edges": [edge]}}

    def unlink(self, pair: tuple[str, str]) -> dict[str, Any]:
        """Delete an edge from the model; return the operation with the same effect."""
        self.edges.pop("to".join(pair), None)
        self.touched.update(pair)
        return {"op": "delete_edges", "args": {"ids": [self.sandbox.id("to".join(pair))]}}

    def step(self, kind: str, name: str, pair: tuple[str, str]) -> dict[str, Any] | None:
        """Apply an operation of a kind to the model and return it, or None if the model does not allow it now."""
        if kind == "put":
            return self.put(name)
        if kind == "drop":
            linked = any(name in pair for pair in self.edges.values())  # an adapter may refuse to delete such a node
            return None if linked else self.drop(name)
        if not self.edge_readers:
            return None
        if kind == "link":
            return self.link(pair) if set(pair) <= set(self.nodes) else None
        return self.unlink(pair)

    def carry_out(self, operation: dict[str, Any]) -> None:
        """Send an operation alone, and check that it succeeds without failed items."""
        result = expect.success(self.sandbox.call(operation["op"], operation["args"]), f"{operation['op']} to work")
        is_right = not failed_items(result)
        expect.check(is_right, f"{operation['op']} of valid items to work", "failures", "result.failures")

    def carry_out_together(self, together: str, operations: list[dict[str, Any]]) -> None:
        """Send operations, if any, as a batch or a transaction, and check that all of them succeed."""
        if not operations:
            return
        items = [
            {
                "op": self.graph.operation_names.spell_operation(each["op"]),
                "args": {**self.sandbox.namespace_arg, **each["args"]},
            }
            for each in operations
        ]
        result = expect.success(self.sandbox.call(together, {MANY[together]: items}), f"{together} to work")
        failed = [item for item in items_of(result, "results") if item.get("ok") is False]
        expect.check(not failed, f"every operation of a valid {together} to work", f"{len(failed)} failures", "results")

    def take_step_of_kind(self, kind: str, name: str, pair: tuple[str, str]) -> None:
        """Carry out one step of `PLAIN` as a single write, in a batch or in a transaction."""
        if kind in MANY:
            self.carry_out_together(kind, [self.put(name) if pair[0] else self.drop(name)])
        elif (operation := self.step(kind, name, pair)) is not None:
            self.carry_out(operation)

    def expect_edges(self, edge_reader: str, names: frozenset[str]) -> None:
        """Check that the adapter shows the model's edges from these nodes. One traversal shows all of the edges."""
        sources, claim = sorted(names & self.nodes.keys()), "the edges that are left after the sequence"
        if edge_reader != "traversal":
            for name in sources:
                targets = {pair[1]: self.nodes[pair[1]] for pair in self.edges.values() if pair[0] == name}
                self.sandbox.expect_targets(edge_reader, name, targets, claim)
        elif sources:
            shown = {str(edge.get("id")): edge for edge in self.sandbox.relationships(*sources)}
            found = sorted((str(edge.get("src")), str(edge.get("dst"))) for edge in shown.values())
            pairs = (pair for pair in self.edges.values() if pair[0] in sources)
            wanted = sorted((self.sandbox.id(source), self.sandbox.id(target)) for source, target in pairs)
            expect.check(found == wanted, f"{claim}: {len(wanted)}", difference(wanted, found), "relationships")

    def close(self) -> None:
        """Keep the nodes in the store until the end of the run."""


def names_of(*writes: Write) -> frozenset[str]:
    """Return the nodes that writes change."""
    return frozenset(name for kind, name, pair in writes for name in (pair if kind in ("link", "unlink") else (name,)))


def compare_nodes(trial: Trial[GraphContents]) -> None:
    """Check that the adapter shows the nodes of the model. Each check uses another operation that shows nodes."""
    world = trial.model
    reader = world.readers[world.looks % len(world.readers)]
    world.looks += 1
    claim = "the nodes that are left after the sequence"
    trial.take_step(
        Step(lambda world: world.sandbox.expect_values(reader, world.nodes.values(), claim), is_read_only=True)
    )


def compare_edges(trial: Trial[GraphContents]) -> None:
    """Check the edges of the nodes that changed since the last comparison and that have, or had, edges."""
    world = trial.model
    touched, world.touched = frozenset(world.touched & world.joined & set(world.nodes)), set()
    for edge_reader in world.edge_readers if touched else ():
        look = partial(GraphContents.expect_edges, edge_reader=edge_reader, names=touched)
        trial.take_step(Step(look, names=touched, is_read_only=True))


def take_plain_steps(graph: Graph) -> None:
    """Carry out every kind of write alone and in batches and transactions; compare the content after each step.

    If writes are visible late, the first step is done in one sandbox, the first two in another, and so on;
    then one wait is enough for all comparisons.
    """
    carriers = [name for name in MANY if graph.operation_names.accepts_writes(name)]
    writes: list[Write] = [*PLAIN, *((name, "c", (then, "")) for name in carriers for then in ("put", ""))]
    steps = [
        Step(
            partial(GraphContents.take_step_of_kind, kind=kind, name=name, pair=pair),
            names=names_of((kind, name, pair)),
        )
        for kind, name, pair in writes
    ]
    graph.settling.find_settle_time()
    if not graph.settling.has_late_writes:
        trial = Trial(graph, lambda: GraphContents(graph))
        with shrink_failure(trial):
            for step in steps:
                trial.take_step(step)
                compare_nodes(trial)
                compare_edges(trial)
        return
    trials = [Trial(graph, lambda: GraphContents(graph)) for _ in steps]
    for number, trial in enumerate(trials, start=1):
        with shrink_failure(trial):
            for step in steps[:number]:
                trial.take_step(step)
    for number, trial in enumerate(trials):
        trial.model.looks = number
        with shrink_failure(trial):
            compare_nodes(trial)
            compare_edges(trial)


def rules_of(graph: Graph) -> list[Rule[GraphContents]]:
    """Return the rules for an adapter: single writes, and several in one request if the adapter offers this."""
    pairs = [pair for pair in PAIRS if len(set(pair)) == 2 or edges.accepts_edges(graph, LOOP)]
    together = [name for name in MANY if graph.operation_names.accepts_writes(name)]
    most = min(graph.items_per_request, 4)

    def write(chance: Random) -> Write:
        return chance.choice(KINDS), chance.choice(NAMES), chance.choice(pairs)

    def take_and_compare(trial: Trial[GraphContents], act: Callable[[GraphContents], None], *writes: Write) -> None:
        """Carry out a step. Compare nodes after one step and edges after the next.

        If writes become visible late, compare both after every fifth step.
        """
        before = len(trial.calls)
        trial.take_step(Step(act, names=names_of(*writes)))
        if len(trial.calls) > before:
            world, late = trial.model, graph.settling.has_late_writes
            world.steps += 1
            if world.steps % (5 if late else 2) == 0:
                compare_edges(trial)
            if world.steps % 5 == 0 if late else world.steps % 2 or not world.edge_readers:
                compare_nodes(trial)

    def write_one(chance: Random, trial: Trial[GraphContents]) -> None:
        kind, name, pair = write(chance)
        take_and_compare(trial, lambda world: world.take_step_of_kind(kind, name, pair), (kind, name, pair))

    def write_several(chance: Random, trial: Trial[GraphContents]) -> None:
        operation, found, touched = chance.choice(together), [], set[str]()
        for step in [write(chance) for _ in range(chance.randint(1, most))]:
            if not names_of(step) & touched:  # the order in a batch, or a transaction, is a SHOULD
                found.append(step)
                touched |= names_of(step)
        take_and_compare(
            trial,
            lambda world: world.carry_out_together(operation, [*filter(None, (world.step(*each) for each in found))]),
            *found,
        )

    return [write_one, write_several] if together else [write_one]
