"""What the suite wrote into an adapter, so that it can be removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.kit.component import Subject
from pytest_corpus.suites.graph.answers import listed

WRITES = {"upsert_nodes": "nodes", "upsert_edges": "edges"}

MANY = {"batch": "ops", "transaction": "operations"}
"""The operations that carry others, and the argument that holds them."""


@dataclass(slots=True)
class WrittenItems:
    """The ids of nodes and edges that were written, by tenant and namespace."""

    made: dict[tuple[str | None, str | None], dict[str, set[str]]] = field(default_factory=dict)

    def note(self, request: Any) -> None:
        """Remember what a request writes, and where."""
        if not isinstance(request, Mapping) or not isinstance(request.get("ctx"), Mapping):
            return
        tenant = request["ctx"].get("tenant")
        self._note(request.get("op"), request.get("args"), tenant if isinstance(tenant, str) else None)

    def _note(self, op: Any, args: Any, tenant: str | None) -> None:
        name = str(op).removeprefix("graph.")
        if not isinstance(args, Mapping):
            return
        for operation in listed(args, MANY.get(name, "")):
            self._note(operation.get("op"), operation.get("args"), tenant)
        for item in listed(args, WRITES.get(name, "")):
            if isinstance(item.get("id"), str):
                where = item.get("namespace") or args.get("namespace")
                place = tenant, where if isinstance(where, str) else None
                made = self.made.setdefault(place, {"edges": set(), "nodes": set()})
                made[WRITES[name]].add(item["id"])

    def remove(self, graph: Subject, at_once: int) -> None:
        """Delete all of it, so many ids in a request."""
        made, self.made = self.made, {}
        for (tenant, namespace), items in made.items():
            ctx = {} if tenant is None else {"tenant": tenant}
            place = {} if namespace is None else {"namespace": namespace}
            for kind, ids in items.items():
                names = sorted(ids)
                for start in range(0, len(names), at_once):
                    args = {**place, "ids": names[start : start + at_once]}
                    graph.client.send(graph.envelope(f"delete_{kind}", args, ctx), graph.component)
