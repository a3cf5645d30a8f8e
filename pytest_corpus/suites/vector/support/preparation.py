"""Making what plain requests name, just before they are sent, and waiting until a store shows a write (R46)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.outcomes import Blocked, Full, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.settling import Look, Settling
from pytest_corpus.kit.store.store import tenant_context, tenant_of
from pytest_corpus.suites.vector.support import pages
from pytest_corpus.suites.vector.support.answers import failures_of, id_of, matches_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.requests import VectorRequests
from pytest_corpus.suites.vector.support.sandbox import lost, stored
from pytest_corpus.suites.vector.support.shared import Item, dropping, namespace_of, speaking

INDEPENDENT = ("vector.capabilities", "vector.health", "vector.create_namespace")
"""The operations that need nothing that was made before."""


class VectorPrerequisites(Prerequisites):
    """Plain requests need the namespaces that are made for them."""

    def __init__(self, vector: VectorCalls) -> None:
        super().__init__(vector)
        self._vector = vector

    def claim_of(self, name: str) -> bool | None:
        """Namespaces can be created and deleted with either of two capabilities (R22)."""
        if name not in ("create_namespace", "delete_namespace"):
            return super().claim_of(name)
        said = {self._calls.capabilities.flag(flag) for flag in ("supports_namespaces", "supports_index_management")}
        return True if True in said else False if False in said else None

    def obstacle(self, name: str) -> Undecided | None:
        obstacle = super().obstacle(name)
        if not isinstance(obstacle, Blocked):
            return obstacle
        if unmade := self._vector.shared.unmade:
            return unmade[0]
        return lost(Reply(obstacle.exchanges[-1])) or obstacle if obstacle.exchanges else obstacle


class Preparation:
    """Makes the plain namespaces for each tenant and each instance, and whatever a request deletes.

    Args:
        sweep: empties the default namespace of a tenant.
    """

    def __init__(self, vector: VectorCalls, places: VectorRequests, sweep: Callable[[str | None], None]) -> None:
        self._vector, self._places, self._sweep = vector, places, sweep

    def prepare(self, request: Mapping[str, Any]) -> None:
        """Make what a request needs and was not made before."""
        args = request.get("args")
        if not isinstance(args, Mapping) or request.get("op") in INDEPENDENT:
            return
        tenant = tenant_of(request)
        with self._vector.prepares():
            for name, make in self._needed(args, tenant):
                key = (self._vector.client.instance.generation, tenant, name)
                with dropping(namespace_of(tenant, name)):
                    pass
                with finding_out(id(self._vector.client), key):
                    ready = self._vector.shared.ready.setdefault(self._vector.client, set())  # a sweep begins a new one
                    if key not in ready:
                        self._attempt(make)
                        ready.add(key)

    def keep(self, request: Any) -> None:
        """Note that what was made to be deleted by a request is still there, because the request was refused."""
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping) or tenant_of(request) is not None:
            return
        shared, client = self._vector.shared, self._vector.client
        ids = args.get("ids")
        for name in (args.get("namespace"), *(ids if isinstance(ids, list) else ())):
            made = isinstance(name, str) and (client.instance.generation, None, name) in shared.ready.get(client, ())
            if made and name in shared.to_delete:
                operation = "delete" if shared.to_delete[name] else "delete_namespace"
                shared.undeleted.setdefault(client, {}).setdefault(operation, []).append(name)

    def _attempt(self, make: Callable[[], None]) -> None:
        try:
            make()
        except Full:
            raise
        except Undecided as obstacle:
            self._vector.shared.unmade.append(obstacle)

    def _needed(self, args: Mapping[str, Any], tenant: str | None) -> Iterator[tuple[str, Callable[[], None]]]:
        """The name of each thing that a request needs, and the step that makes it."""
        names = {str(each.get("namespace", "default")) for each in speaking(args, "queries")}
        doomed = self._vector.shared.to_delete
        plain = set() if self._vector.occupied else {self._places.main_namespace, self._places.scratch}
        for name in sorted(names & plain):
            yield name, partial(self._make_plain, name, tenant)
        for name in sorted(names & doomed.keys()):
            yield name, partial(self._create, name, tenant)
        ids = args.get("ids")
        for name in ids if isinstance(ids, list) else ():
            if isinstance(name, str) and (item := doomed.get(name)):
                yield name, partial(self._fill, self._places.scratch, [item], tenant)

    def _make_plain(self, name: str, tenant: str | None) -> None:
        if not self._vector.namespaces:
            self._sweep(tenant)
        self._create(name, tenant)
        if name == self._places.main_namespace:
            self._fill(name, self._places.settled, tenant)
            self._await_index({**self._vector.looking(), **self._vector.at(name)}, tenant_context(tenant))

    def _await_index(self, query: Mapping[str, Any], ctx: Mapping[str, Any]) -> None:
        """Wait until a namespace that was filled can be queried, unless the first one could be at once."""
        ask = partial(self._vector.call, "query", query, ctx)
        if self._vector.shared.index_lags is not False:
            self._vector.shared.index_lags = ask().is_a("IndexNotReady")
        if self._vector.shared.index_lags:
            self._vector.ready(ask, True)

    def _create(self, name: str, tenant: str | None) -> None:
        if self._vector.namespaces:
            self._vector.call("create_namespace", self._vector.named(name), tenant_context(tenant))

    def _fill(self, name: str, items: Sequence[Item], tenant: str | None) -> None:
        size = self._vector.limits.batch or len(items)
        for start in range(0, len(items), size):
            batch = list(items[start : start + size])
            args = {"vectors": batch, **self._vector.at(name)}
            reply = self._vector.call("upsert", args, tenant_context(tenant))
            self._vector.features.check_ids(reply)
            stored(reply, batch)


SEVERAL = 5
"""The number of matches to ask for if a vector is not alone."""


class VectorSettling(Settling):
    """Tries an upsert and a delete in a namespace of its own; each namespace settles for itself."""

    blind = frozenset({"capabilities", "health", "upsert"})

    _subject: VectorCalls

    def places(self, request: Mapping[str, Any]) -> frozenset[str]:
        found = [each.get("namespace") for each in speaking(request.get("args"), "queries", "vectors")]
        return frozenset([str(found[0] or "default"), *(str(name) for name in found[1:] if name)] if found else ())

    def looks(self, name: str, request: Mapping[str, Any]) -> bool:
        """True if a request reads what was written; deleting items made only for that does not."""
        args = request.get("args")
        if not super().looks(name, request) or not isinstance(args, Mapping):
            return name not in self.blind
        ids = args.get("ids") if name == "delete" else [args.get("namespace")] if name == "delete_namespace" else None
        doomed = self._subject.shared.to_delete
        if self.known.in_order and (ids is not None or name == "create_namespace"):
            return False
        return not (isinstance(ids, list) and ids and all(isinstance(each, str) and each in doomed for each in ids))

    def trials(self) -> Iterator[Look]:
        vector = self._subject
        with vector.prepares():
            item, name = vector.item(), vector.name("trial")
            where = vector.at(name)
            if vector.namespaces and not vector.call("create_namespace", vector.named(name)).is_success:
                return
            written = vector.call("upsert", {"vectors": [item], **where})
            if written.is_success and not failures_of(written.result):
                yield partial(self._shows, item, where, there=True)
                if vector.call("delete", {"ids": [item["id"]], **where}).is_success:
                    yield partial(self._shows, item, where, there=False)
            if self._is_late and self.known.in_order is None:
                yield self._trial_of_order(name)
            if vector.namespaces:
                vector.call("delete_namespace", where)

    def _trial_of_order(self, name: str) -> Look:
        """Write to a namespace, delete it, create it again, and at once write to it and delete by id."""
        vector, where = self._subject, self._subject.at(name)
        lost, item, gone = vector.item(), vector.item(), vector.item()
        writes: list[tuple[str, dict[str, Any]]] = [("upsert", {"vectors": [lost], **where})]
        if vector.namespaces:
            writes += [("delete_namespace", where), ("create_namespace", vector.named(name))]
        else:
            writes += [("delete", {"ids": [lost["id"]]})]
        batches = [[item], [gone]] if vector.limits.batch == 1 else [[item, gone]]
        writes += [("upsert", {"vectors": batch, **where}) for batch in batches]
        writes += [("delete", {"ids": [gone["id"]], **where})]
        begun = inputs.monotonic()
        replies = [vector.call(*write) for write in writes]
        done = all(reply.is_success and not failures_of(reply.result) for reply in replies)
        known = {lost["id"], item["id"], gone["id"]}
        return self.order(begun, partial(self._seen, item, where, known), [item["id"]], done=done)

    def _seen(self, item: Mapping[str, Any], where: Mapping[str, Any], known: set[str]) -> set[str] | None:
        """The ids of some vectors that a query finds."""
        vector = self._subject
        query = {"vector": item["vector"], "top_k": vector.limits.at_most(SEVERAL), **where}
        reply = pages.whole(vector.shared, partial(vector.call, "query"), query)
        if reply.is_a("IndexNotReady", "NamespaceNotFound"):
            return set()
        return known & set(map(id_of, matches_of(reply.result))) if reply.is_success else None

    def _shows(self, item: Mapping[str, Any], where: Mapping[str, Any], *, there: bool) -> bool | None:
        """True if a query finds a vector that should be there, or does not find one that was deleted."""
        found = self._seen(item, where, {item["id"]})
        return None if found is None else bool(found) is there
