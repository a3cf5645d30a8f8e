"""The items that the suite wrote into an adapter, to be removed (R115)."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.leftovers import TIDY_S, Kind, Leftovers
from pytest_corpus.suites.graph.support.answers import failures, listed

WRITES = {"upsert_nodes": "nodes", "upsert_edges": "edges"}

MANY = {"batch": "ops", "transaction": "operations"}
"""The operations that carry others, and the argument that holds them."""

KINDS: dict[str, Kind] = {"edges": "edge", "nodes": "node"}
"""The kinds of items, in the order of their deletion; nodes come first if their edges go with them."""

MOST_IDS = 200
"""The number of ids in one delete, if the adapter takes as many."""

Place = tuple[str | None, str | None]
"""A tenant or None, and a namespace or None."""

Item = tuple[Place, str, str]
"""The place, the kind and the id of an item."""

Ends = tuple[Item, ...]
"""The nodes that an edge joins; none for a node."""


@dataclass(slots=True)
class WrittenItems:
    """Nodes and edges that may be there.

    Attributes:
        made: those of the current test.
        older: those of earlier tests.
        kept: those that could not be deleted.
        edges_of: the edges at each node.
        edges_go: True once edges were seen to go with the nodes that they join.
        takes_long_lists: False once a delete of `MOST_IDS` was refused.
    """

    made: dict[Item, None] = field(default_factory=dict)
    older: dict[Item, None] = field(default_factory=dict)
    kept: dict[Item, None] = field(default_factory=dict)
    edges_of: dict[Item, set[Item]] = field(default_factory=dict)
    edges_go: bool = False
    takes_long_lists: bool = True

    def note(self, request: Any, journal: Leftovers) -> list[Item]:
        """Remember what a request writes, and where; what was not known before."""
        found = dict(written_by(request))
        fresh = [item for item in found if item not in self.made and item not in self.older]
        self.made.update(dict.fromkeys(fresh))
        for item, ends in found.items():
            for node in ends:
                self.edges_of.setdefault(node, set()).add(item)
        for place, kind, name in fresh:
            journal.add(("graph", *place, KINDS[kind]), [name])
        return fresh

    @staticmethod
    def answered(request: Any, journal: Leftovers, *, is_success: bool) -> None:
        """Note if what a request was to write is there."""
        for (place, kind, name), _ in written_by(request):
            journal.answered(("graph", *place, KINDS[kind]), [name], is_success=is_success)

    def forget(self, items: Collection[Item], journal: Leftovers) -> None:
        """Take back what is not there."""
        for item in items:
            for known in (self.made, self.older, self.kept):
                known.pop(item, None)
            place, kind, name = item
            journal.remove(("graph", *place, KINDS[kind]), [name])

    def age(self) -> None:
        """Note that a test is over."""
        self.older.update(self.made)
        self.made.clear()

    def delete(self, graph: Subject, at_once: int, lasts: Callable[[Item], bool], *, least: int = 1) -> bool:
        """Delete items of earlier tests that do not last, `least` of a kind in a place; True if any is deleted."""
        gone = False
        for place, kind, names in self._grouped(lasts):
            if len(names) < least:
                continue
            gone = self._delete(graph, place, kind, names, at_once) or gone
        return gone

    def remove(self, graph: Subject, at_once: int) -> None:
        """Delete all of it, as far as it can be deleted in time."""
        self.age()
        self.older.update(self.kept)
        self.kept.clear()
        until = inputs.monotonic() + TIDY_S
        for place, kind, names in self._grouped():
            if inputs.monotonic() > until:
                return
            if not self._delete(graph, place, kind, names, at_once) and graph.outages.lasting:
                return

    def _grouped(self, lasts: Callable[[Item], bool] = lambda _: False) -> Iterator[tuple[Place, str, list[str]]]:
        """The items of earlier tests by place and kind; those of the second kind that are left after the first."""
        for kind in reversed(KINDS) if self.edges_go else KINDS:
            found: dict[Place, list[str]] = {}
            for item in self.older:
                if item[1] == kind and not lasts(item):
                    found.setdefault(item[0], []).append(item[2])
            for place, names in found.items():
                for start in range(0, len(names), MOST_IDS):
                    yield place, kind, names[start : start + MOST_IDS]

    def _delete(self, graph: Subject, place: Place, kind: str, names: list[str], at_once: int) -> bool:
        """Delete some of one kind: `at_once` in a request if more are refused together, and then one by one."""
        if len(names) > at_once and not self.takes_long_lists:
            parts = [names[start : start + at_once] for start in range(0, len(names), at_once)]
            return True in [self._delete(graph, place, kind, part, at_once) for part in parts]
        reply = _deleted(graph, place, kind, names)
        if len(names) > at_once and reply.is_a("BadRequest", "NotSupported", "ResourceExhausted"):
            self.takes_long_lists = False
            return self._delete(graph, place, kind, names, at_once)
        if len(names) > 1 and reply.is_a("BadRequest"):
            return True in [self._delete(graph, place, kind, [name], at_once) for name in names]
        items = [(place, kind, name) for name in names]
        if reply.is_success and not failures(reply.result):
            edges = [edge for item in items for edge in self.edges_of.pop(item, ())] if self.edges_go else []
            self.forget([*items, *edges], graph.settings.journal)
            return True
        for item in items:
            self.older.pop(item, None)
        self.kept.update(dict.fromkeys(items))
        return False


def _deleted(graph: Subject, place: Place, kind: str, names: list[str]) -> Reply:
    tenant, namespace = place
    args = {**({} if namespace is None else {"namespace": namespace}), "ids": names}
    if graph.outages.lasting:  # nothing is waited for any more
        request = graph.envelope(f"delete_{kind}", args, {} if tenant is None else {"tenant": tenant})
        return Reply(graph.client.send(request, graph.component))
    with graph.client.provider.paused(), inputs.fact_scope("graph cleanup"):
        return Subject.call(graph, f"delete_{kind}", args, {} if tenant is None else {"tenant": tenant})


def deleted_by(request: Any) -> Iterator[Item]:
    """The items that a request deletes by ids alone; with an idempotency key it may be the replay of an older one."""
    ctx, args = (request.get(key) if isinstance(request, Mapping) else None for key in ("ctx", "args"))
    if not isinstance(ctx, Mapping) or not isinstance(args, Mapping) or "idempotency_key" in ctx:
        return
    kind, ids = str(request.get("op")).removeprefix("graph.delete_"), args.get("ids")
    if kind in KINDS and isinstance(ids, list) and not args.get("filter"):
        tenant, namespace = ctx.get("tenant"), args.get("namespace")
        place = tenant if isinstance(tenant, str) else None, namespace if isinstance(namespace, str) else None
        yield from ((place, kind, name) for name in ids if isinstance(name, str))


def written_by(request: Any) -> Iterator[tuple[Item, Ends]]:
    """The items that a request writes and the ends of each, those in batches and transactions included."""
    if isinstance(request, Mapping) and isinstance(request.get("ctx"), Mapping):
        tenant = request["ctx"].get("tenant")
        yield from _written(request.get("op"), request.get("args"), tenant if isinstance(tenant, str) else None)


def _written(op: Any, args: Any, tenant: str | None) -> Iterator[tuple[Item, Ends]]:
    name = str(op).removeprefix("graph.")
    if not isinstance(args, Mapping):
        return
    for operation in listed(args, MANY.get(name, "")):
        yield from _written(operation.get("op"), operation.get("args"), tenant)
    for item in listed(args, WRITES.get(name, "")):
        if isinstance(item.get("id"), str) and item["id"]:
            where = item.get("namespace") or args.get("namespace")
            place = tenant, where if isinstance(where, str) else None
            ends = [item.get(end) for end in ("src", "dst")] if WRITES[name] == "edges" else []
            yield (place, WRITES[name], item["id"]), tuple((place, "nodes", str(end)) for end in ends)
