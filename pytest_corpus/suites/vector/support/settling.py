"""The time that a vector store takes to show a write (R46)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.store.settling import Look, Settling
from pytest_corpus.suites.vector.support.answers import failures_of, id_of, matches_of
from pytest_corpus.suites.vector.support.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.support.shared import speaking

SEVERAL = 5
"""The number of matches to ask for if a vector is not alone."""


class VectorSettling(Settling):
    """Tries an upsert and a delete in a namespace of its own; each namespace settles for itself."""

    blind = frozenset({"capabilities", "health", "upsert"})

    def __init__(self, vector: VectorCapabilities) -> None:
        super().__init__(vector)
        self._vector = vector

    def places(self, request: Mapping[str, Any]) -> frozenset[str]:
        found = [each.get("namespace") for each in speaking(request.get("args"), "queries", "vectors")]
        return frozenset([str(found[0] or "default"), *(str(name) for name in found[1:] if name)] if found else ())

    def looks(self, name: str, request: Mapping[str, Any]) -> bool:
        """Return whether a request reads what was written; deleting items made only for that does not."""
        args = request.get("args")
        if not super().looks(name, request) or not isinstance(args, Mapping):
            return name not in self.blind
        ids = args.get("ids") if name == "delete" else [args.get("namespace")] if name == "delete_namespace" else None
        doomed = self._vector.shared.to_delete
        if self.known.in_order and (ids is not None or name == "create_namespace"):
            return False
        return not (isinstance(ids, list) and ids and all(isinstance(each, str) and each in doomed for each in ids))

    def trials(self) -> Iterator[Look]:
        vector = self._vector
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
            if self.known.in_order is None:
                yield self._trial_of_order(name)
            if vector.namespaces:
                vector.call("delete_namespace", where)

    def _trial_of_order(self, name: str) -> Look:
        """Write to a namespace, delete it, create it again, and at once write to it and delete by id."""
        vector, where = self._vector, self._vector.at(name)
        lost, item, gone = vector.item(), vector.item(), vector.item()
        writes: list[tuple[str, dict[str, Any]]] = [("upsert", {"vectors": [lost], **where})]
        if vector.namespaces:
            writes += [("delete_namespace", where), ("create_namespace", vector.named(name))]
        else:
            writes += [("delete", {"ids": [lost["id"]]})]
        batches = [[item], [gone]] if vector.batch == 1 else [[item, gone]]
        writes += [("upsert", {"vectors": batch, **where}) for batch in batches]
        writes += [("delete", {"ids": [gone["id"]], **where})]
        begun = inputs.monotonic()
        replies = [vector.call(*write) for write in writes]
        done = all(reply.is_success and not failures_of(reply.result) for reply in replies)
        known = {lost["id"], item["id"], gone["id"]}
        return self.order(begun, partial(self._seen, item, where, known), [item["id"]], done=done)

    def _seen(self, item: Mapping[str, Any], where: Mapping[str, Any], known: set[str]) -> set[str] | None:
        """The ids of some vectors that a query finds."""
        reply = self._vector.call("query", {"vector": item["vector"], "top_k": self._vector.at_most(SEVERAL), **where})
        if reply.is_a("IndexNotReady", "NamespaceNotFound"):
            return set()
        return known & set(map(id_of, matches_of(reply.result))) if reply.is_success else None

    def _shows(self, item: Mapping[str, Any], where: Mapping[str, Any], *, there: bool) -> bool | None:
        """Return whether a query finds a vector that should be there, or does not find one that was deleted."""
        found = self._seen(item, where, {item["id"]})
        return None if found is None else bool(found) is there
