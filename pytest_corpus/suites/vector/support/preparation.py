"""Makes the namespaces and vectors that plain requests name, and measures the delay of writes (R46)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.outcomes import Blocked, QuotaUsedUp, Undecided
from pytest_corpus.kit.prerequisites import Prerequisites
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store.settling import Probe, Settling, VisibilityCheck
from pytest_corpus.kit.store.store import parts_of, tenant_context, tenant_of
from pytest_corpus.suites.vector.support import pages
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.requests import VectorRequests
from pytest_corpus.suites.vector.support.sandbox import expect_stored, namespace_obstacle
from pytest_corpus.suites.vector.support.shared import Item, exclusive_drop, objects_in

INDEPENDENT = ("vector.capabilities", "vector.health", "vector.create_namespace")
"""The operations that need no existing data."""


class VectorPrerequisites(Prerequisites):
    """Finds out if tests can rely on an operation. The obstacle can be a missing plain namespace."""

    def __init__(self, vector: VectorCalls) -> None:
        super().__init__(vector)
        self._vector = vector

    def claim_of(self, name: str) -> bool | None:
        """Return the claim of an operation, or None. For namespaces, two capabilities can be the claim (R22)."""
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
        return namespace_obstacle(Reply(obstacle.exchanges[-1])) or obstacle if obstacle.exchanges else obstacle


class Preparation:
    """Makes the plain namespaces for each tenant and each instance, and the items that a request deletes.

    Args:
        sweep: the function that empties the default namespace of a tenant.
    """

    def __init__(self, vector: VectorCalls, places: VectorRequests, sweep: Callable[[str | None], None]) -> None:
        self._vector, self._places, self._sweep = vector, places, sweep

    def prepare(self, request: Mapping[str, Any]) -> None:
        """Make everything that a request needs and that does not exist yet."""
        args = request.get("args")
        if not isinstance(args, Mapping) or request.get("op") in INDEPENDENT:
            return
        tenant = tenant_of(request)
        with self._vector.suite_calls():
            for name, make in self._needed_things(args, tenant):
                key = (self._vector.client.instance.generation, tenant, name)
                with exclusive_drop(name):
                    pass
                with finding_out(id(self._vector.client), key):
                    ready = self._vector.shared.ready.setdefault(self._vector.client, set())  # a sweep replaces the set
                    if key not in ready:
                        self._attempt(make)
                        ready.add(key)

    def note_refused_delete(self, request: Any) -> None:
        """Record that a delete was refused, so the items that were made for it still exist."""
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
        except QuotaUsedUp:
            raise
        except Undecided as obstacle:
            self._vector.shared.unmade.append(obstacle)

    def _needed_things(self, args: Mapping[str, Any], tenant: str | None) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the name of each namespace or vector that a request needs, and the function that makes it."""
        names = {str(each.get("namespace", "default")) for each in objects_in(args, "queries")}
        doomed = self._vector.shared.to_delete
        plain = set() if self._vector.occupied else {self._places.main_namespace, self._places.scratch}
        for name in sorted(names & plain):
            yield name, partial(self._make_plain_namespace, name, tenant)
        for name in sorted(names & doomed.keys()):
            yield name, partial(self._create, name, tenant)
        ids = args.get("ids")
        for name in ids if isinstance(ids, list) else ():
            if isinstance(name, str) and (item := doomed.get(name)):
                yield name, partial(self._fill, self._places.scratch, [item], tenant)

    def _make_plain_namespace(self, name: str, tenant: str | None) -> None:
        if not self._vector.has_namespaces:
            self._sweep(tenant)
        self._create(name, tenant)
        if name == self._places.main_namespace:
            self._fill(name, self._places.settled_vectors, tenant)
            self._await_index({**self._vector.query_args(), **self._vector.namespace_arg(name)}, tenant_context(tenant))

    def _await_index(self, query: Mapping[str, Any], ctx: Mapping[str, Any]) -> None:
        """Wait until a filled namespace can be queried. If an earlier one could be queried immediately, do not wait."""
        ask = partial(self._vector.call, "query", query, ctx)
        if self._vector.shared.index_lags is not False:
            self._vector.shared.index_lags = ask().is_a("IndexNotReady")
        if self._vector.shared.index_lags:
            self._vector.wait_for_index(ask, True)

    def _create(self, name: str, tenant: str | None) -> None:
        if self._vector.has_namespaces:
            self._vector.call("create_namespace", self._vector.namespace_args(name), tenant_context(tenant))

    def _fill(self, name: str, items: Sequence[Item], tenant: str | None) -> None:
        size = self._vector.limits.most_in_batch or len(items)
        for start in range(0, len(items), size):
            batch = list(items[start : start + size])
            args = {"vectors": batch, **self._vector.namespace_arg(name)}
            reply = self._vector.call("upsert", args, tenant_context(tenant))
            self._vector.features.check_ids(reply)
            expect_stored(reply, batch)


SEVERAL = 5
"""The number of matches to request if the namespace may have other vectors."""


class VectorSettling(Settling):
    """Measures the delay of writes in a new namespace. Each namespace has its own delay."""

    write_independent = frozenset({"capabilities", "health", "upsert"})

    _subject: VectorCalls

    def places(self, request: Mapping[str, Any]) -> frozenset[str]:
        found = [each.get("namespace") for each in objects_in(request.get("args"), "queries", "vectors")]
        return frozenset([str(found[0] or "default"), *(str(name) for name in found[1:] if name)] if found else ())

    def reads_written_data(self, name: str, request: Mapping[str, Any]) -> bool:
        """True if a request reads written data. A delete does not, if its items were written only to be deleted."""
        args = request.get("args")
        if not super().reads_written_data(name, request) or not isinstance(args, Mapping):
            return name not in self.write_independent
        ids = args.get("ids") if name == "delete" else [args.get("namespace")] if name == "delete_namespace" else None
        doomed = self._subject.shared.to_delete
        if self.known.in_order and (ids is not None or name == "create_namespace"):
            return False
        return not (isinstance(ids, list) and ids and all(isinstance(each, str) and each in doomed for each in ids))

    @contextmanager
    def probe(self) -> Iterator[Probe]:
        with self._subject.suite_calls():
            yield VectorProbe(self._subject)


class VectorProbe(Probe):
    """Writes and deletes vectors of one direction in a new namespace, and reads them with `query`.

    A vector of another direction is never deleted: an empty namespace can answer INDEX_NOT_READY before a delete is
    visible in matches.
    """

    readers = ("query",)
    filtered = "filtered query"

    def __init__(self, vector: VectorCalls) -> None:
        self._vector, self._name = vector, vector.new_name("try")
        self._where, self._items = vector.namespace_arg(self._name), dict[str, Item]()
        self._metadata: dict[str, str] | None = None
        self._is_made = (
            not vector.has_namespaces or vector.call("create_namespace", vector.namespace_args(self._name)).is_success
        )

    def write(self, *names: str) -> bool:
        other = [] if self._items else [self._vector.item(-270)]
        self._items |= {name: self._vector.item(metadata=self._metadata) for name in names}
        written = [*other, *(self._items[name] for name in names)]
        parts = parts_of(written, self._vector.limits.most_in_batch or len(written)) if self._is_made else []
        replies = [self._vector.call("upsert", {"vectors": part, **self._where}) for part in parts]
        return self._is_made and all(reply.is_carried_out for reply in replies)

    def delete(self, *names: str) -> bool:
        ids = [self._items[name]["id"] for name in names]
        return self._vector.call("delete", {"ids": ids, **self._where}).is_success

    def names_seen(self, reader: str) -> set[str] | None:
        query = {
            "vector": direction(45, self._vector.dimensions),
            "top_k": self._vector.limits.cap_matches(SEVERAL),
            **self._where,
            **({"filter": self._metadata} if reader == self.filtered else {}),
        }
        reply = pages.ask_for_all(self._vector.shared, partial(self._vector.call, "query"), query)
        if reply.is_a("IndexNotReady", "NamespaceNotFound"):
            return set()
        found = {*map(id_of, matches_of(reply.result))} if reply.is_success else None
        return None if found is None else {name for name, item in self._items.items() if item["id"] in found}

    def write_in_order(self) -> tuple[bool, set[str]]:
        """Write a vector, recreate the namespace, write two vectors, delete one; return success and the kept name."""
        done = [self.write("lost")]
        if self._vector.has_namespaces:
            done.append(self._vector.call("delete_namespace", self._where).is_success)
            done.append(self._vector.call("create_namespace", self._vector.namespace_args(self._name)).is_success)
        else:
            done.append(self.delete("lost"))
        return all([*done, self.write("kept", "gone"), self.delete("gone")]), {"kept"}

    def slow_trials(self) -> Iterator[VisibilityCheck]:
        doomed = VectorProbe(self._vector)
        if self._vector.has_namespaces and doomed.write("deleted with its namespace"):
            doomed.close()
            yield partial(doomed.shows, "query", set())
        if not self._vector.features.accepts_filters:
            return
        self._items, self._metadata = {}, {"trial": self._name}
        if self.write("filtered"):
            yield partial(self.shows, self.filtered, {"filtered"})
            if self.delete("filtered"):
                yield partial(self.shows, self.filtered, set())
        doom = {"filter": self._metadata, **self._where}
        written = self._vector.features.deletes_by_filter and self.write("doomed")
        if written and self._vector.call("delete", doom).is_success:
            yield partial(self.shows, "query", set())

    def close(self) -> None:
        if self._vector.has_namespaces and self._is_made:
            self._vector.call("delete_namespace", self._where)
