"""The state that all instances of a vector component share in a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.kit.run_state import Actions, Shared

Item = Mapping[str, Any]

Place = tuple[str | None, str]
"""A namespace: its tenant or None, and its name."""


def speaking(args: Any, *keys: str) -> list[Mapping[str, Any]]:
    """The arguments of a request, and the objects in the lists under these keys, each of which may name a namespace."""
    if not isinstance(args, Mapping):
        return []
    inner = [each for key in keys if isinstance(args.get(key), list) for each in args[key]]
    return [args, *(each for each in inner if isinstance(each, Mapping))]


def context_of(tenant: str | None) -> dict[str, Any]:
    """The context that names a tenant, if there is one."""
    return {"tenant": tenant} if tenant else {}


def tenant_of(request: Mapping[str, Any]) -> str | None:
    """The tenant that a request names, or None."""
    ctx = request.get("ctx")
    tenant = ctx.get("tenant") if isinstance(ctx, Mapping) else None
    return tenant if isinstance(tenant, str) and tenant else None


def named_in(request: Mapping[str, Any]) -> Iterator[str]:
    """The namespaces that a request names."""
    for each in speaking(request.get("args"), "queries"):
        if isinstance(each.get("namespace"), str):
            yield each["namespace"]


WRITING = "writing"
"""Vectors were upserted."""

READING = "reading"
"""A query was sent, to a place that may be empty."""

FILTERING = "filtering"
"""A query or a deletion by a filter was sent."""

RANKING = "ranking"
"""A metric was named for what was written."""

DROPPING = "dropping"
"""A namespace was deleted."""


@dataclass(slots=True)
class VectorActions(Actions):
    """The writes and the reads of a test."""

    def note(self, name: str, args: Mapping[str, Any]) -> None:
        """Note a call of an operation in a sandbox."""
        if name == "upsert":
            self.done.add(WRITING)
        if name in ("query", "batch_query"):
            self.done.add(READING)
        if any("filter" in each for each in (args, *args.get("queries", ()))):
            self.done.add(FILTERING)


class HasPlace(Protocol):
    """A sandbox."""

    dimensions: int
    held: set[str]

    @property
    def place(self) -> Place: ...


@dataclass(slots=True)
class VectorShared(Shared):
    """The knowledge about an adapter, the names of the suite's own namespaces, and what was written to them.

    Attributes:
        namespaces: whether namespaces can be created; None while that is not known.
        filters: whether filters are offered; None while that is not known.
        deletes_by_filter: whether deletes take filters; None while that is not known.
        index_lags: whether a namespace that was filled cannot be queried at once; None while that is not known.
        only_uuids: whether UUIDs are taken as ids and other texts are not; None while that is not known.
        knows_subtypes: whether an unknown namespace has an error class of its own; None while that is not known.
        dimensions: the dimensions of plain vectors; None while they are not known.
        main_namespace: the namespace of plain queries.
        scratch: the namespace of plain writes.
        settled: the vectors of the main namespace.
        to_delete: vectors and namespaces (None) that are made just before they are deleted, by name.
        undeleted: by instance and operation, those of them that are still there, because their deletion was refused.
        page_key: the argument that takes the token of a page; empty while that is not known.
        itemised: by operation, whether a failing provider is the failure of each item.
        made_namespaces: the namespaces that are there, the one that was used last at the end.
        stuck: those that could not be deleted.
        keeps_namespaces: whether the adapter says that it deletes none.
        lasting: those that several tests read, which are kept as long as there is room.
        passing: those of sandboxes that the current test cannot speak of without the sandbox.
        used: those that the current test speaks of.
        sandboxes: the sandboxes that the current test holds.
        refused: the namespace for which there was no room, last.
        room: how many namespaces there is room for, as was seen; None while that is not known.
        scratched: the ids that may be in the namespace of plain writes.
        left: the ids that may be in the default namespace, by tenant.
        swept: the ids that were deleted from it, by tenant.
        first: the instance that most tests speak to.
        ready: by instance, what was made in it for plain requests.
    """

    learnt = (*Shared.learnt, "itemised", "deletes_by_filter", "index_lags", "only_uuids", "knows_subtypes", "page_key")

    namespaces: bool | None = None
    filters: bool | None = None
    deletes_by_filter: bool | None = None
    index_lags: bool | None = None
    only_uuids: bool | None = None
    knows_subtypes: bool | None = None
    dimensions: int | None = None
    main_namespace: str = ""
    scratch: str = ""
    settled: tuple[Item, ...] | None = None
    to_delete: dict[str, Item | None] = field(default_factory=dict)
    undeleted: WeakKeyDictionary[AdapterClient, dict[str, list[str]]] = field(default_factory=WeakKeyDictionary)
    page_key: str = ""
    itemised: dict[str, bool] = field(default_factory=dict)
    made_namespaces: dict[Place, None] = field(default_factory=dict)
    stuck: dict[Place, None] = field(default_factory=dict)
    keeps_namespaces: bool = False
    lasting: set[Place] = field(default_factory=set)
    temporary_namespaces: set[Place] = field(default_factory=set)
    used: set[Place] = field(default_factory=set)
    sandboxes: WeakSet[HasPlace] = field(default_factory=WeakSet)
    refused: Place | None = None
    room: int | None = None
    scratched: dict[str, None] = field(default_factory=dict)
    left: dict[str | None, dict[str, None]] = field(default_factory=dict)
    swept: dict[str | None, set[str]] = field(default_factory=dict)
    actions: VectorActions = field(default_factory=VectorActions)
    first: AdapterClient | None = None
    ready: WeakKeyDictionary[AdapterClient, set[tuple[Any, ...]]] = field(default_factory=WeakKeyDictionary)

    def leave(self, tenant: str | None, names: Sequence[str], *, own_data: bool) -> None:
        """Remember ids of vectors that may be in the default namespace of a tenant, to be deleted in the end.

        Args:
            own_data: whether tenants may have data of their own.
        """
        self.left.setdefault(tenant, {}).update(dict.fromkeys(names))
        self.swept_of(tenant, own_data=own_data).difference_update(names)

    def swept_of(self, tenant: str | None, *, own_data: bool) -> set[str]:
        """The ids in the default namespace of a tenant that were deleted, by the adapter's own report."""
        return self.swept.setdefault(tenant if own_data else None, set())
