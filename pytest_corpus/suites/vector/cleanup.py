"""Removing what the suite wrote to a vector adapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_corpus.suites.vector.answers import failures_of
from pytest_corpus.suites.vector.capabilities import VectorCapabilities


def tenant_of(request: Mapping[str, Any]) -> str | None:
    """The tenant that a request names, or None."""
    ctx = request.get("ctx")
    tenant = ctx.get("tenant") if isinstance(ctx, Mapping) else None
    return tenant if isinstance(tenant, str) and tenant else None


class Cleanup:
    """Notes what requests write, and deletes it."""

    def __init__(self, vector: VectorCapabilities) -> None:
        self._vector = vector

    def foresee(self, request: Any) -> tuple[str | None, str] | None:
        """Note a namespace that a request may create, for who interrupts the run never sees the answer.

        Returns:
            its tenant and name where it was not noted before, for `forget`; else None.
        """
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping) or request.get("op") != "vector.create_namespace":
            return None
        name, made = args.get("namespace"), self._vector.shared.made_namespaces
        if not isinstance(name, str) or (tenant_of(request), name) in made:
            return None
        made[tenant_of(request), name] = None
        return tenant_of(request), name

    def forget(self, foreseen: tuple[str | None, str] | None) -> None:
        """Take back what was foreseen and did not come."""
        if foreseen is not None:
            self._vector.shared.made_namespaces.pop(foreseen, None)

    def note(self, request: Any) -> None:
        """Remember what is there now, to be deleted at the end."""
        args = request.get("args") if isinstance(request, Mapping) else None
        if not isinstance(args, Mapping):
            return
        tenant, where, vectors = tenant_of(request), args.get("namespace"), args.get("vectors")
        if request.get("op") == "vector.delete_namespace":
            self._vector.shared.made_namespaces.pop((tenant, str(where)), None)
        elif request.get("op") == "vector.upsert" and where in (None, "default") and isinstance(vectors, list):
            self._vector.shared.leave(
                tenant, [item for item in vectors if isinstance(item, Mapping)], own_data=not self._vector.shares
            )

    def sweep(self, tenant: str | None) -> None:
        """Delete what the suite left in the default namespace of a tenant.

        Another instance may have a store of its own: what it deletes may still be there for the first one.
        """
        first = self._vector.client is self._vector.shared.first
        shared = list(self._vector.shared.left) if self._vector.shares else [tenant]
        for owner in shared:
            left = list(self._vector.shared.left.get(owner, {}))
            if first:
                self._vector.shared.left.pop(owner, None)
            size = self._vector.batch or 100
            for start in range(0, len(left), size):
                with self._vector.prepares():
                    ctx = {"tenant": owner} if owner else {}
                    reply = self._vector.call("delete", {"ids": left[start : start + size]}, ctx)
                if first and reply.is_success and not failures_of(reply.result):
                    self._vector.shared.swept_of(owner, own_data=not self._vector.shares).update(
                        left[start : start + size]
                    )
        self._vector.shared.ready.pop(self._vector.client, None)

    def remove(self) -> None:
        """Delete what was made with the adapter, as far as it can be deleted."""
        self._vector.client.provider.clear()
        for tenant, name in list(self._vector.shared.made_namespaces):
            with self._vector.prepares():
                self._vector.call("delete_namespace", {"namespace": name}, {"tenant": tenant} if tenant else {})
        for tenant in list(self._vector.shared.left):
            self.sweep(tenant)
