"""The nodes and edges that the suite wrote. If there are many, the suite deletes those that no test needs (R115)."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import op_of
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.store.leftovers import Kind, Place
from pytest_corpus.kit.store.store import (
    EXISTING_STATES,
    State,
    Store,
    Thing,
    Use,
    Writes,
    has_key,
    is_exhausted,
    names_by_place,
    parts_of,
    tenant_of,
)
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.capabilities import GraphCapabilities
from pytest_corpus.suites.graph.support.run_state import MANY, WRITES

WRITING = (*WRITES, *MANY)
"""The operations that write."""

KINDS: tuple[Kind, ...] = ("edge", "node")
"""The kinds in the order of their deletion; nodes come first if their edges go with them."""

DELETES: dict[str, Kind] = {"graph.delete_nodes": "node", "graph.delete_edges": "edge"}

MOST_IDS = 200
"""The number of ids in one delete, if the adapter takes as many."""

MANY_NODES, MANY_SEEN = 850, 200
"""The numbers of nodes that may stay for later tests (R115): in general, and if tests can list each other's nodes."""

FEW_ITEMS = 4
"""Fewer items of a kind in one namespace stay until the end, because their deletion would cost a call."""


class GraphStore(Store):
    """Notes and deletes the nodes and edges of the suite."""

    def __init__(self, graph: GraphCapabilities) -> None:
        super().__init__(graph)
        self._graph, self._shared = graph, graph.shared

    def _things_written(self, request: Any) -> Writes:
        """Return the items that a request writes, including those in batches and transactions."""
        return dict(_written_things(op_of(request), request.get("args"), tenant_of(request))) if op_of(request) else {}

    def _things_deleted(self, request: Any) -> Iterator[Thing]:
        """Yield the items that a request deletes by ids alone."""
        kind = DELETES.get(op_of(request))
        args = request.get("args") if kind else None
        if kind is None or not isinstance(args, Mapping) or has_key(request) or args.get("filter"):
            return
        place: Place = ("graph", tenant_of(request), _text(args.get("namespace")), kind)
        yield from ((place, name) for name in items_of(args, "ids", of=str))

    def _is_refused(self, reply: Reply) -> bool:
        """True if an answer shows that nothing was written. A fault on the wire does not show this."""
        struck = any(BY_KIND[kind].canonical for kind in reply.exchange.observed.faults)
        is_whole = struck and not self._graph.client.provider.is_on_wire
        return reply.is_a("BadRequest", "NotSupported", "ResourceExhausted") or (is_whole and reply.is_error)

    def note_reply(self, request: Any, reply: Reply, fresh: Iterable[Thing], *, alone: bool = True) -> None:
        super().note_reply(request, reply, fresh if alone else (), alone=alone and not reply.failed_items)

    @property
    def most_nodes(self) -> int:
        """If this many nodes are stored, the suite deletes the data of earlier tests."""
        apart = all(map(self._graph.capabilities.flag, ("supports_namespaces", "supports_property_filters")))
        return MANY_NODES if apart else MANY_SEEN

    @property
    def has_much_data(self) -> bool:
        return self._shared.crowded or len(self.written.select(*EXISTING_STATES, kind="node")) >= self.most_nodes

    def is_full(self, reply: Reply | StreamReply) -> bool:
        return is_exhausted(reply) and reply.exchange.op.removeprefix("graph.") in WRITING

    def free_space(self, reply: Reply | StreamReply | None = None) -> bool:
        if reply is None:
            return self._free_space_for_others()
        if not self.is_full(reply):
            return False
        gone = self._delete_unneeded()
        self._shared.crowded = not gone
        return gone

    def _free_space_for_others(self) -> bool:
        """Delete data of ended tests while other tests go on; return True if there is not much data any more."""
        if not (self._shared.crowded or self._graph.settle_time.seconds):
            with suppress(*UNCALLABLE, Outage):
                # Seeds of tenants stay, because no test writes them again while others go on.
                self._delete_unneeded(FEW_ITEMS, kept=self._graph.seed_ids)
        return not self.has_much_data

    def lasts(self, thing: Thing) -> bool:
        """True if several tests read an item. The seeds of tenants do not count, because they are written again."""
        (_, tenant, _, _), name = thing
        return self.written.use_of(thing) is Use.LASTING or (tenant is None and name in self._graph.seed_ids)

    def release(self, *, unlearn: bool) -> None:
        """Delete the items of earlier tests if there are many."""
        shared = self._shared
        if shared.crowded and unlearn:  # shared data fills the quota; it is written again
            self.written.change_records(self.written.select(*State, use=Use.LASTING), use=Use.ANY)
        self.written.change_records(self.written.select(State.NEW), state=State.OLD)
        if len(self.written.select(State.OLD, kind="node")) < self.most_nodes and not shared.crowded:
            return
        least = 1 if shared.crowded else FEW_ITEMS
        shared.crowded = False
        self._graph.client.provider.clear()
        for seeded in shared.seeded.values():
            if any(tenant is not None for tenant, _ in seeded):
                seeded.clear()  # tenants that share data lose their seeds together
        with suppress(*UNCALLABLE, Outage):
            self._graph.settling.pause()
            with self._graph.settling.reading_at_once():
                self._delete_unneeded(least)

    def _delete_unneeded(self, least: int = 1, kept: Container[str] = ()) -> bool:
        """Delete unneeded items of earlier tests; return True if any were deleted.

        A request is only sent if it deletes at least `least` items.
        """
        return any([*self._delete_things(lambda thing: not self.lasts(thing) and thing[1] not in kept, least)])

    def remove_leftovers(self, until: float) -> None:
        self.written.change_records(self.written.select(*EXISTING_STATES, State.STUCK), state=State.OLD, use=Use.ANY)
        for gone in self._delete_things(lambda _: True):
            if inputs.monotonic() > until or not (gone or not self._graph.outages.lasting):
                return

    def _delete_things(self, is_due: Callable[[Thing], bool], least: int = 1) -> Iterator[bool]:
        """Delete nodes and edges of earlier tests. After each request, yield True if the request deleted any."""
        for kind in reversed(KINDS) if self._shared.edges_go else KINDS:
            places = names_by_place(filter(is_due, self.written.select(State.OLD, kind=kind)))
            size = MOST_IDS if self._shared.takes_long_lists else self._graph.items_per_request
            parts = [(place, part) for place, names in places.items() for part in parts_of(names, size)]
            due = [each for each in parts if len(each[1]) >= least]
            for (place, names), reply in zip(due, self.delete_each(due), strict=True):
                yield self._is_deleted(place, names, reply)

    def _is_deleted(self, place: Place, names: list[str], reply: Reply) -> bool:
        """True if items were deleted. After a refusal, they are deleted in smaller requests, and then one by one."""
        at_once, size = self._graph.items_per_request, 0
        if len(names) > at_once and reply.is_a("BadRequest", "NotSupported", "ResourceExhausted"):
            self._shared.takes_long_lists, size = False, at_once
        elif len(names) > 1 and reply.is_a("BadRequest"):
            size = 1
        if size:
            return True in [self._is_deleted(place, part, self.delete(place, part)) for part in parts_of(names, size)]
        things = [(place, name) for name in names]
        if reply.is_carried_out:
            self.forget([*things, *(self.written.edges_at(things) if self._shared.edges_go else ())])
            return True
        self.written.change_records(things, state=State.STUCK)
        return False

    @contextmanager
    def _pause_faults(self) -> Iterator[None]:
        with self._graph.client.provider.paused(), inputs.fact_scope("graph cleanup"):
            yield


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _written_things(op: str, args: Any, tenant: str | None) -> Iterator[tuple[Thing, tuple[Thing, ...]]]:
    name = op.removeprefix("graph.")
    for operation in items_of(args, MANY.get(name, "")):
        yield from _written_things(op_of(operation), operation.get("args"), tenant)
    for item in items_of(args, WRITES.get(name, "")):
        if isinstance(item.get("id"), str) and item["id"]:
            namespace = _text(item.get("namespace") or args.get("namespace"))
            ends = [item.get(end) for end in ("src", "dst")] if name == "upsert_edges" else []
            kind: Kind = "edge" if name == "upsert_edges" else "node"
            of_nodes: Place = ("graph", tenant, namespace, "node")
            yield (("graph", tenant, namespace, kind), item["id"]), tuple((of_nodes, str(end)) for end in ends)
