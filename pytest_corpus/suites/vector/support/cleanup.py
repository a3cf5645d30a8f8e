"""Removing what the suite wrote to a vector adapter: after each test what no other one needs, in the end the rest."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from typing import Any

from pytest_corpus.adapter import inputs, turns
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.leftovers import TIDY_S
from pytest_corpus.suites.vector.support.answers import failures_of
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.support.shared import Place, context_of, named_in, speaking, tenant_of

KEPT_VECTORS = 30
"""More vectors than these do not stay from one test to the next in a namespace that tests share."""

FEW = 2
"""With fewer namespaces than these nothing can be tried: none makes room for another one."""

ROOM_S, LOOK_S = 5.0, 0.02
"""The time for which a test in flight waits until others have ended, and for one look whether they have."""

AT_ONCE = 100
"""The number of ids that a delete names if no limit is stated."""

"""Why an adapter is not called; what is there then stays until the end."""


def is_keyed(request: Mapping[str, Any]) -> bool:
    """True if a request has an idempotency key: its success may be the replay of an older one."""
    ctx = request.get("ctx")
    return isinstance(ctx, Mapping) and "idempotency_key" in ctx


def ids_in(args: Mapping[str, Any]) -> list[str]:
    """The ids of the vectors that an upsert holds."""
    items = speaking(args, "vectors")[1:]
    return [item["id"] for item in items if isinstance(item.get("id"), str) and item["id"]]


def dropping(place: Place) -> AbstractContextManager[None]:
    """Delete a namespace within; a test in flight that needs it waits until it is gone, and makes it again."""
    return turns.finding_out("dropping", place)


def nothing() -> None:
    """Take back nothing."""


class Cleanup:
    """Notes what requests write, and deletes it (R115).

    Namespaces of tests are deleted through the first instance of the adapter, for another one is closed after its test.
    One that could not be deleted is `stuck`: it is tried once more in the end, or when a quota is used up.
    """

    def __init__(self, vector: VectorCapabilities) -> None:
        self._vector, self._shared, self._journal = vector, vector.shared, vector.settings.journal

    # -- what is there ---------------------------------------------------------------------------------

    def foresee(self, request: Any) -> Callable[[], None]:
        """Note what a request may create before it is sent: a run that is interrupted never sees the answer.

        Returns:
            the function that takes the note back, if nothing was created.
        """
        if not isinstance(request, Mapping):
            return nothing
        tenant, made, names = tenant_of(request), self._shared.made_namespaces, list(named_in(request))
        for place in ((tenant, name) for name in names):
            self._shared.used.add(place)
            if place in made:
                made[place] = made.pop(place)
        if request.get("op") == "vector.upsert":
            return self._foresee_vectors(request, tenant)
        if not names or request.get("op") != "vector.create_namespace" or (tenant, names[0]) in made:
            return nothing
        self._make_room()
        made[tenant, names[0]] = None
        self._journal.add(("vector", tenant, None, "namespace"), names[:1])
        return partial(self._gone, (tenant, names[0]))

    def _foresee_vectors(self, request: Mapping[str, Any], tenant: str | None) -> Callable[[], None]:
        args = request.get("args")
        if not isinstance(args, Mapping) or args.get("namespace") not in (None, "default"):
            return nothing
        names = [name for name in ids_in(args) if name not in self._shared.left.get(tenant, {})]
        self._journal.add(("vector", tenant, None, "vector"), names)
        return partial(self._journal.remove, ("vector", tenant, None, "vector"), names)

    def note(self, request: Any) -> None:
        """Remember what is there now, to be deleted later."""
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping):
            return
        place = tenant_of(request), str(args.get("namespace"))
        if request.get("op") == "vector.delete_namespace":
            if not is_keyed(request):
                self._gone(place)
        elif request.get("op") == "vector.upsert":
            if args.get("namespace") in (None, "default"):
                self._vector.leave(place[0], ids_in(args))
            elif place == (None, self._shared.scratch):
                self._shared.scratched.update(dict.fromkeys(ids_in(args)))

    def answered(self, request: Any, *, is_success: bool) -> None:
        """Note if what a request was to make is there."""
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping):
            return
        tenant = tenant_of(request)
        if request.get("op") == "vector.create_namespace":
            self._journal.answered(("vector", tenant, None, "namespace"), named_in(request), is_success=is_success)
        elif request.get("op") == "vector.upsert" and args.get("namespace") in (None, "default"):
            self._journal.answered(("vector", tenant, None, "vector"), ids_in(args), is_success=is_success)

    def _gone(self, place: Place) -> None:
        """Note that a namespace is not there: it is made again just before a plain request that needs it."""
        self._shared.made_namespaces.pop(place, None)
        self._shared.stuck.pop(place, None)
        self._shared.lasting.discard(place)
        for ready in self._shared.ready.values():
            ready.difference_update([key for key in ready if key[2] == place[1]])
        if place == (None, self._shared.scratch):
            self._shared.scratched.clear()
        self._journal.remove(("vector", place[0], None, "namespace"), [place[1]])

    # -- after a test ----------------------------------------------------------------------------------

    def release(self) -> None:
        """Delete what a test made and no other one needs."""
        lasting = self._lasting()
        self._shared.used.clear()
        self._shared.sandboxes.clear()
        self._shared.temporary_namespaces.clear()
        self._vector.client.provider.clear()
        try:
            for place in [each for each in self._shared.made_namespaces if each not in lasting]:
                if not self._drop(place):
                    return
            if len(self._shared.scratched) > KEPT_VECTORS:
                self._empty_scratch()
            for tenant in [each for each, left in self._shared.left.items() if len(left) > KEPT_VECTORS]:
                self.sweep(tenant)
        except (*UNCALLABLE, Outage):
            return

    def _lasting(self) -> set[Place]:
        """The namespaces that other tests need, too: they are made again when something speaks of them."""
        plain = self._shared.main_namespace, self._shared.scratch
        undeleted = (name for left in self._shared.undeleted.values() for names in left.values() for name in names)
        found = {(tenant, name) for tenant in (None, *self._shared.tenants) for name in plain}
        return found | self._shared.lasting | {(None, name) for name in undeleted}

    def _drop(self, place: Place) -> bool:
        """Delete a namespace, or note that it is stuck; False if the adapter can do nothing at the moment."""
        with dropping(place):
            reply = None if self._shared.keeps_namespaces else self._delete(place)
            if reply is not None and (reply.exchange.fault or reply.is_a("Unavailable", "TransientNetwork")):
                return False
            if reply is not None and reply.is_a("NamespaceNotFound") and not self._vector.settle.seconds:
                self._gone(place)
            if place in self._shared.made_namespaces:
                self._shared.stuck[place] = self._shared.made_namespaces.pop(place)
                self._shared.keeps_namespaces = reply is None or reply.is_a("NotSupported")
            return True

    def _delete(self, place: Place) -> Reply:
        vector, (tenant, name) = self._vector.main, place
        if vector.outages.lasting:  # nothing is waited for any more
            request = vector.envelope("delete_namespace", {"namespace": name}, context_of(tenant))
            reply = Reply(vector.client.send(request, vector.component))
            if reply.is_success:
                self.note(request)
            return reply
        with vector.prepares(), vector.settling.at_once():
            return vector.call("delete_namespace", {"namespace": name}, context_of(tenant))

    def _empty_scratch(self) -> None:
        """Delete the vectors of plain writes."""
        names, size = list(self._shared.scratched), self._vector.batch or AT_ONCE
        self._shared.scratched.clear()
        with self._vector.prepares(), self._vector.settling.at_once():
            for start in range(0, len(names), size):
                where = self._vector.at(self._shared.scratch)
                self._vector.call("delete", {"ids": names[start : start + size], **where})

    # -- within a test ---------------------------------------------------------------------------------

    def _make_room(self) -> None:
        """Delete what is needed least, until there is room for one more namespace."""
        most = min(self._vector.most_namespaces, self._shared.room or self._vector.most_namespaces)
        until = inputs.monotonic() + ROOM_S
        while len(self._shared.made_namespaces) >= most and not self._vector.retries.probing:
            place = next(iter((*self._spare(), *self._used_before())), None)
            if place is None and turns.is_in_flight() and inputs.monotonic() < until:
                inputs.sleep(LOOK_S)
                continue
            if place is None:
                turns.disturbed()
                return
            self._shared.used.add(place)  # no other test drops it meanwhile
            if not self._drop(place):
                return

    def relieve(self, request: Any) -> bool:
        """Delete what nothing needs now, because a quota is used up; whether anything was deleted.

        A namespace that is refused again may need the place of one that was used before.
        """
        new = tenant_of(request), next(named_in(request), "")
        found = [*self._spare(), *(self._shared.stuck if not self._shared.keeps_namespaces else ())]
        many = len(self._shared.made_namespaces) > FEW
        if many and not found and new in self._shared.made_namespaces and self._shared.refused == new:
            self._shared.room = len(self._shared.made_namespaces) - 1
            found = self._used_before()[:1]
        self._shared.refused = new
        for place in found:
            self._shared.made_namespaces.setdefault(place)
            self._drop(place)
        return any(place not in self._shared.stuck for place in found)

    @property
    def held(self) -> set[Place]:
        """The namespaces of sandboxes, and those that other tests in flight use."""
        used = turns.in_others(self._shared, "used")
        sandboxes = chain(self._shared.sandboxes, *turns.in_others(self._shared, "sandboxes"))
        return {each.place for each in sandboxes}.union(*used)

    def _spare(self) -> list[Place]:
        """The namespaces that nothing speaks of any more, or that are made again when something does."""
        plain, lasting = (self._shared.main_namespace, self._shared.scratch), self._lasting()
        return [
            place
            for place in self._shared.made_namespaces
            if place not in self.held
            and (
                place in self._shared.temporary_namespaces
                or ((place[1] in plain or place in lasting) and place not in self._shared.used)
            )
        ]

    def _used_before(self) -> list[Place]:
        """The other namespaces, without those of sandboxes, the one that was used last left out."""
        return [place for place in list(self._shared.made_namespaces)[:-1] if place not in self.held]

    # -- the default namespace -------------------------------------------------------------------------

    def sweep(self, tenant: str | None) -> None:
        """Delete what the suite left in the default namespace of a tenant.

        Another instance may have a store of its own: what it deletes may still be there for the first one.
        """
        first = self._vector.client is self._shared.first
        shared = list(self._shared.left) if self._vector.shares else [tenant]
        size = self._vector.batch or AT_ONCE
        for owner in shared:
            left = list(self._shared.left.get(owner, {}))
            if first:
                self._shared.left.pop(owner, None)
            for start in range(0, len(left), size):
                names, ctx = left[start : start + size], context_of(owner)
                with self._vector.prepares():
                    reply = self._vector.call("delete", {"ids": names}, ctx)
                if first and reply.is_success and not failures_of(reply.result):
                    self._shared.swept_of(owner, own_data=not self._vector.shares).update(names)
                    self._journal.remove(("vector", owner, None, "vector"), names)
        self._shared.ready.pop(self._vector.client, None)

    # -- in the end ------------------------------------------------------------------------------------

    def remove(self) -> None:
        """Delete what is left, as far as it can be deleted in time.

        Namespaces come last: plain queries of one show if a delete that fails is to be made again.
        """
        self._vector.client.provider.clear()
        until = inputs.monotonic() + TIDY_S
        for (component, tenant, _, kind), names in self._journal.names.items():
            if (component, kind) == ("vector", "vector"):  # of calls that were interrupted, too
                self._shared.left.setdefault(tenant, {}).update(dict.fromkeys(names))
        for tenant in list(self._shared.left):
            if inputs.monotonic() < until and not self._vector.outages.lasting:
                self.sweep(tenant)
        missed: list[Place] = []
        for place in [*self._shared.made_namespaces, *self._shared.stuck]:
            if inputs.monotonic() > until:
                return
            reply = self._delete(place)
            if reply.is_a("NamespaceNotFound"):
                missed.append(place)
            elif not reply.is_success and self._vector.outages.lasting:
                return
        if missed and self._vector.settle.seconds:
            inputs.sleep(self._vector.settle.seconds)
        for place in missed:
            if not self._vector.settle.seconds or self._delete(place).is_a("NamespaceNotFound"):
                self._gone(place)
