"""The time that a vector store takes to show a write (R46)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

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
            if vector.namespaces:
                vector.call("delete_namespace", where)

    def _shows(self, item: Mapping[str, Any], where: Mapping[str, Any], *, there: bool) -> bool | None:
        """Return whether a query finds a vector that should be there, or does not find one that was deleted."""
        query = {"vector": item["vector"], "top_k": self._vector.at_most(SEVERAL), **where}
        reply = self._vector.call("query", query)
        if reply.is_a("IndexNotReady", "NamespaceNotFound"):
            return not there
        if not reply.is_success:
            return None
        return (item["id"] in map(id_of, matches_of(reply.result))) is there
