"""The namespaces and vectors that the suite wrote. After a test, those that no other test needs are deleted (R115).

The first instance of the adapter deletes namespaces, because other instances are closed after a test. A failed delete
is repeated at the end, or when a quota is used up.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any

from pytest_corpus.adapter import inputs, turns
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import op_of
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MIN_NAMESPACES
from pytest_corpus.kit.store.leftovers import Place
from pytest_corpus.kit.store.settling import postpone_deadline
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
from pytest_corpus.spec.errors import PERMANENT, UNCERTAIN
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.preparation import Preparation
from pytest_corpus.suites.vector.support.shared import DROPPING, exclusive_drop, ids_in, namespace_key, namespaces_in

SHARED = 4
"""One in this number of namespaces is reserved for data that several concurrent tests read."""

KEPT_VECTORS = 30
"""If a shared namespace has more vectors than this after a test, the suite deletes them."""

FEW = 2
"""If at most this number of namespaces exist, none is deleted to make room for another."""

ROOM_S, LOOK_S = 5.0, 0.02
"""The seconds that a concurrent test waits for others to end, and the seconds between two checks."""

AT_ONCE = 100
"""The number of ids that a delete names if no limit is stated."""


class VectorStore(Store):
    """Notes and deletes the namespaces of the suite, and its vectors in the default namespace."""

    def __init__(self, vector: Any) -> None:
        super().__init__(vector)
        self._vector: VectorCalls = vector
        self._shared = self._vector.shared
        self._shared.first = self._shared.first or vector.client
        self._preparation = Preparation(vector, vector.requests, self.sweep)

    def prepare(self, request: Any) -> Any:
        if self._vector.is_preparing or not isinstance(request, Mapping):
            return request
        before_s = self._vector.settle_time.waited_s
        self._preparation.prepare(request)
        return postpone_deadline(request, self._vector.settle_time.waited_s - before_s)

    def _things_written(self, request: Any) -> Writes:
        args, op = (request.get("args"), request.get("op")) if isinstance(request, Mapping) else (None, None)
        if op == "vector.create_namespace":
            return {namespace_key(tenant_of(request), name): () for name in [*namespaces_in(request)][:1]}
        if op != "vector.upsert" or not isinstance(args, Mapping):
            return {}
        tenant, namespace = tenant_of(request), args.get("namespace")
        if namespace in (None, "default"):
            return {(("vector", tenant, None, "vector"), name): () for name in ids_in(args)}
        is_scratch = namespace == self._shared.scratch and tenant is None
        return {(("vector", None, self._shared.scratch, "vector"), name): () for name in ids_in(args) if is_scratch}

    def _things_deleted(self, request: Any) -> Iterable[Thing]:
        if op_of(request) != "vector.delete_namespace" or has_key(request):
            return ()
        return (namespace_key(tenant_of(request), name) for name in namespaces_in(request))

    def _is_refused(self, reply: Reply) -> bool:
        return reply.is_error and not reply.is_a(*UNCERTAIN)

    def note_planned_writes(self, request: Any) -> list[Thing]:
        self._shared.actions.done |= {DROPPING} if op_of(request) == "vector.delete_namespace" else set()
        for name in namespaces_in(request):
            thing = namespace_key(tenant_of(request), name)
            self._shared.used.add(thing)
            self.written.move_to_end(thing)
        return super().note_planned_writes(request)

    def note_reply(self, request: Any, reply: Reply, fresh: Iterable[Thing], *, alone: bool = True) -> None:
        super().note_reply(request, reply, fresh, alone=alone)
        if (reply.is_a(*PERMANENT) and not reply.is_a("NamespaceNotFound")) or self._is_planned_failure(reply):
            self._preparation.note_refused_delete(request)

    def _is_planned_failure(self, reply: Reply) -> bool:
        """True if a request failed at the instance that is only used for planned faults."""
        client = self._vector.client
        faults = reply.exchange.observed.faults
        return reply.is_error and bool(faults) and client is self._shared.fault_client is not self._vector.main.client

    def forget(self, things: Iterable[Thing]) -> None:
        """Remove the records of things. A plain namespace among them is made again before its next use."""
        gone = [*things]
        for (_, tenant, _, kind), name in gone:
            if kind == "namespace":
                gone += [each for each in self.written.select(*State, kind="vector") if each[0][1:3] == (tenant, name)]
                for ready in self._shared.ready.values():
                    ready.difference_update([key for key in ready if key[2] == name])
        super().forget(gone)

    @property
    def existing_namespaces(self) -> list[Thing]:
        """The existing namespaces; the most recently used one comes last."""
        return self.written.select(*EXISTING_STATES, kind="namespace")

    def release(self, *, unlearn: bool) -> None:  # noqa: ARG002 - nothing that was learnt is in the way
        lasting = self._lasting_namespaces()
        self._shared.used.clear()
        self._shared.sandboxes.clear()
        self.written.change_records(self.written.select(*State, use=Use.SANDBOX), use=Use.ANY)
        self._vector.client.provider.clear()
        try:
            left = [each for each in self.existing_namespaces if each not in lasting]
            for things in parts_of(left, self._vector.main.store.together):
                if not all([*map(self._note_drop, things, self._delete(things))]):
                    return
            for place, names in names_by_place(self.written.select(*EXISTING_STATES, kind="vector")).items():
                if len(names) > KEPT_VECTORS:
                    self._delete_vectors(place, names)
        except (*UNCALLABLE, Outage):
            return

    def _lasting_namespaces(self) -> set[Thing]:
        """Return the namespaces that other tests need too. A deleted namespace is made again for its next use."""
        plain = self._shared.main_namespace, self._shared.scratch
        undeleted = (name for left in self._shared.undeleted.values() for names in left.values() for name in names)
        found = {namespace_key(tenant, name) for tenant in (None, *self._shared.tenants) for name in plain}
        return found.union(
            self.written.select(*State, use=Use.LASTING), (namespace_key(None, name) for name in undeleted)
        )

    def _drop_namespace(self, thing: Thing) -> bool:
        """Delete a namespace, or note that it cannot be deleted; return False if the adapter is unavailable."""
        with exclusive_drop(thing[1]):
            return self._note_drop(thing, *self._delete([thing]))

    def _note_drop(self, thing: Thing, reply: Reply | None) -> bool:
        if reply is not None and (reply.exchange.fault or reply.is_a("Unavailable", "TransientNetwork")):
            return False
        if reply is not None and reply.is_a("NamespaceNotFound") and not self._vector.settle_time.seconds:
            self.forget([thing])
        if self.written.is_there(thing):
            self.written.change_records([thing], state=State.STUCK)
            self._shared.keeps_namespaces = reply is None or reply.is_a("NotSupported")
        return True

    def _delete(self, things: Sequence[Thing]) -> Sequence[Reply | None]:
        """Delete namespaces and return the replies. Each is None if the adapter cannot delete namespaces."""
        if self._shared.keeps_namespaces:
            return [None] * len(things)
        main = self._vector.main
        with main.settling.reading_at_once():
            return [*main.store.delete_each((place, [name]) for place, name in things)]

    def _pause_faults(self) -> AbstractContextManager[None]:
        return self._vector.suite_calls()

    @property
    def isolates_tests(self) -> bool:
        return self._vector.prerequisites.claim_of("create_namespace") is True

    @property
    def most_in_flight(self) -> int:
        """The number of concurrent tests for which the store has room. Each needs one namespace that is not shared."""
        return max(1, self._room - max(MIN_NAMESPACES, self._room // SHARED))

    @property
    def _room(self) -> int:
        """The number of namespaces that fit into the store."""
        most = self._vector.limits.most_namespaces
        return min(most, self._shared.room or most)

    def _make_room(self, thing: Thing) -> None:
        """Delete the least needed namespaces until there is room for one more."""
        if thing[0][3] != "namespace":
            return
        most, until = self._room, inputs.monotonic() + ROOM_S
        while len(self.existing_namespaces) >= most and not self._vector.retries.probing:
            spare = next(iter((*self._spare_namespaces(), *self._unheld_except_last())), None)
            if spare is None and turns.is_in_flight() and inputs.monotonic() < until:
                inputs.sleep(LOOK_S)
                continue
            if spare is None:
                turns.break_off_body()
                return
            self._shared.used.add(spare)  # so no other test deletes it now
            if not self._drop_namespace(spare):
                return

    def is_full(self, reply: Reply | StreamReply) -> bool:
        if is_exhausted(reply):
            return reply.exchange.op in ("vector.create_namespace", "vector.upsert")
        return self.exceeds_limit(reply)

    def exceeds_limit(self, reply: Reply | StreamReply) -> bool:
        """True if a refused namespace is one more than capabilities allow (BEHAVIORAL_CONFORMANCE 6.7)."""
        most = self._vector.capabilities.published_limit("max_namespaces")
        if most is None or reply.exchange.op != "vector.create_namespace" or not reply.is_a(*PERMANENT):
            return False
        request = reply.exchange.request
        new = {namespace_key(tenant_of(request), name) for name in namespaces_in(request)}
        return len({*self.existing_namespaces} - new) >= most and not reply.exchange.observed.faults

    def free_space(self, reply: Reply | StreamReply | None = None) -> bool:
        """Delete namespaces that nothing needs, because a quota is used up; return True if any was deleted.

        If a namespace is refused a second time, an earlier namespace is deleted to make room.
        """
        if reply is None or not self.is_full(reply):
            return False
        request = reply.exchange.request
        new = namespace_key(tenant_of(request), next(namespaces_in(request), ""))
        stuck = [] if self._shared.keeps_namespaces else self.written.select(State.STUCK, kind="namespace")
        found = [*self._spare_namespaces(), *stuck]
        if (
            len(self.existing_namespaces) > FEW
            and not found
            and self.written.is_there(new)
            and self._shared.refused == new
        ):
            self._shared.room = len(self.existing_namespaces) - 1
            found = self._unheld_except_last()[:1]
        self._shared.refused = new
        self.written.change_records(found, state=State.OLD)
        for thing in found:
            self._drop_namespace(thing)
        return not all(thing in self.written.select(State.STUCK) for thing in found)

    @property
    def _held_namespaces(self) -> set[Thing]:
        """The namespaces of sandboxes, and those that other running tests use."""
        used = turns.values_in_other_bodies(self._shared, "used")
        sandboxes = chain(self._shared.sandboxes, *turns.values_in_other_bodies(self._shared, "sandboxes"))
        return {each.store_key for each in sandboxes}.union(*used)

    def _spare_namespaces(self) -> list[Thing]:
        """Return the namespaces that are no longer needed, or that the suite makes again when a request names them."""
        plain, lasting = (self._shared.main_namespace, self._shared.scratch), self._lasting_namespaces()
        return [
            thing
            for thing in self._unheld_namespaces()
            if self.written.use_of(thing) is Use.SANDBOX
            or ((thing[1] in plain or thing in lasting) and thing not in self._shared.used)
        ]

    def _unheld_namespaces(self) -> list[Thing]:
        """Return the namespaces that no running test holds. If tenants may share data, the tenant is ignored."""
        held, tenants = self._held_namespaces, self._vector.capabilities.flag("supports_multi_tenant")
        names = {name for _, name in held} if tenants is not True else ()
        return [thing for thing in self.existing_namespaces if thing not in held and thing[1] not in names]

    def _unheld_except_last(self) -> list[Thing]:
        last = self.existing_namespaces[-1:]
        return [thing for thing in self._unheld_namespaces() if thing not in last]

    def sweep(self, tenant: str | None) -> None:
        """Delete the suite's vectors in the default namespace of a tenant."""
        for place, names in names_by_place(self.written.select(*EXISTING_STATES, kind="vector")).items():
            if place[2] is None and (self._vector.limits.tenants_share_data or place[1] == tenant):
                self._delete_vectors(place, names)
        self._shared.ready.pop(self._vector.client, None)

    def _delete_vectors(self, place: Place, left: list[str]) -> None:
        """Delete these vectors, even if another instance deleted them: the first instance may still have them."""
        is_first = self._vector.client is self._shared.first
        if is_first:
            self.written.change_records(((place, name) for name in left), state=State.STUCK)
        with self._vector.settling.reading_at_once() if place[2] else nullcontext():  # no test reads plain writes
            for names in parts_of(left, self._vector.limits.most_in_batch or AT_ONCE):
                reply = self.delete(place, names)
                if is_first and reply.is_carried_out:
                    self.written.change_records(((place, name) for name in names), state=State.GONE)

    def remove_leftovers(self, until: float) -> None:
        """Delete all remaining data. Namespaces come last: queries on them show if a delete must be repeated."""
        self._vector.client.provider.clear()
        for place, names in names_by_place(self.written.select(*EXISTING_STATES, State.STUCK, kind="vector")).items():
            if place[2] is None and inputs.monotonic() < until and not self._vector.outages.lasting:
                self._delete_vectors(place, names)
        missed: list[Thing] = []
        self._shared.keeps_namespaces = False  # undeletable namespaces are tried once more
        left = [*self.existing_namespaces, *self.written.select(State.STUCK, kind="namespace")]
        for things in parts_of(left, self._vector.main.store.together):
            if inputs.monotonic() > until:
                return
            replies = self._delete(things)
            missed += [thing for thing, reply in zip(things, replies, strict=True) if _is_missing(reply)]
            if self._vector.outages.lasting and not all(reply and reply.is_success for reply in replies):
                return
        if missed and self._vector.settle_time.seconds:
            inputs.sleep(self._vector.settle_time.seconds)
            missed = [thing for thing, reply in zip(missed, self._delete(missed), strict=True) if _is_missing(reply)]
        self.forget(missed)


def _is_missing(reply: Reply | None) -> bool:
    return reply is not None and reply.is_a("NamespaceNotFound")
