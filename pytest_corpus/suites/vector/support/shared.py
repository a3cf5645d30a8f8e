"""The state that all instances of a vector component share in a run."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from pytest_corpus.adapter import turns
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.kit.run_state import Actions, Shared
from pytest_corpus.kit.store.store import Thing

Item = Mapping[str, Any]


def objects_in(args: Any, *keys: str) -> list[Mapping[str, Any]]:
    """Return the objects that may name a namespace: the arguments, and the objects in the lists under these keys."""
    if not isinstance(args, Mapping):
        return []
    inner = [each for key in keys if isinstance(args.get(key), list) for each in args[key]]
    return [args, *(each for each in inner if isinstance(each, Mapping))]


def namespaces_in(request: Any) -> Iterator[str]:
    """Yield the namespaces that a request names."""
    for each in objects_in(request.get("args"), "queries") if isinstance(request, Mapping) else ():
        if isinstance(each.get("namespace"), str):
            yield each["namespace"]


def ids_in(args: Any) -> list[str]:
    """Return the ids of the vectors in an upsert."""
    items = objects_in(args, "vectors")[1:]
    return [item["id"] for item in items if isinstance(item.get("id"), str) and item["id"]]


def namespace_key(tenant: str | None, name: str) -> Thing:
    """Return the key by which the store records a namespace; `tenant` is None without a tenant."""
    return ("vector", tenant, None, "namespace"), name


def exclusive_drop(namespace: str) -> AbstractContextManager[None]:
    """In this block, let only one test delete a namespace of this name, whatever its tenant.

    A concurrent test that needs the namespace waits, and then makes it again.
    """
    return turns.finding_out("dropping", namespace)


WRITING = "writing"
"""Vectors were upserted."""

READING = "reading"
"""A query was sent; its namespace may be empty."""

FILTERING = "filtering"
"""A query or a deletion by a filter was sent."""

RANKING = "ranking"
"""A namespace with a given metric was created."""

DROPPING = "dropping"
"""A namespace was deleted."""


@dataclass(slots=True)
class VectorActions(Actions):
    """The writes and the reads of a test."""

    def note(self, name: str, args: Mapping[str, Any]) -> None:
        """Record a call of an operation in a sandbox."""
        if name == "upsert":
            self.done.add(WRITING)
        if name in ("query", "batch_query"):
            self.done.add(READING)
        if any("filter" in each for each in (args, *args.get("queries", ()))):
            self.done.add(FILTERING)


@dataclass(slots=True)
class VectorShared(Shared):
    """The knowledge about an adapter, the names of the suite's own namespaces, and their written content.

    Attributes:
        namespaces: True if namespaces can be created. This and the next five are None until they are known.
        filters: True if filters are offered.
        deletes_by_filter: True if deletes accept filters.
        index_lags: True if a namespace cannot be queried just after it was filled.
        only_uuids: True if ids must be UUIDs.
        knows_subtypes: True if an unknown namespace is refused with its subtype.
        dimensions: the dimensions of plain vectors; None until they are known.
        matches, vectors: the largest `top_k` and upsert that trials found where no limit is stated; 0 for no limit.
        main_namespace, scratch: the namespaces of plain queries and of plain writes.
        settled: the vectors of the main namespace.
        to_delete: by name, a vector, or None for a namespace. Each is made just before its deletion.
        undeleted: by instance and operation, the names whose delete was refused.
        page_key: the argument that takes the token of a page; empty until it is known.
        itemised: by operation, True if a failing provider is reported for each item.
        keeps_namespaces: True if the adapter does not delete namespaces.
        used: the namespaces that the current test names.
        sandboxes: the sandboxes of the current test.
        refused: the last namespace that was refused because the store was full.
        room: the number of namespaces that fit; known after such a refusal.
        first: the instance that most tests use.
        ready: by instance, the things that the suite made for plain requests, or could not make.
    """

    learnt = (
        *Shared.learnt,
        "itemised",
        "deletes_by_filter",
        "index_lags",
        "only_uuids",
        "knows_subtypes",
        "page_key",
        "matches",
        "vectors",
    )

    namespaces: bool | None = None
    filters: bool | None = None
    deletes_by_filter: bool | None = None
    index_lags: bool | None = None
    only_uuids: bool | None = None
    knows_subtypes: bool | None = None
    dimensions: int | None = None
    matches: int | None = None
    vectors: int | None = None
    main_namespace: str = ""
    scratch: str = ""
    settled: tuple[Item, ...] | None = None
    to_delete: dict[str, Item | None] = field(default_factory=dict)
    undeleted: WeakKeyDictionary[AdapterClient, dict[str, list[str]]] = field(default_factory=WeakKeyDictionary)
    page_key: str = ""
    itemised: dict[str, bool] = field(default_factory=dict)
    keeps_namespaces: bool = False
    used: set[Thing] = field(default_factory=set)
    sandboxes: WeakSet[Any] = field(default_factory=WeakSet)
    refused: Thing | None = None
    room: int | None = None
    actions: VectorActions = field(default_factory=VectorActions)
    first: AdapterClient | None = None
    ready: WeakKeyDictionary[AdapterClient, set[tuple[Any, ...]]] = field(default_factory=WeakKeyDictionary)

    def unlearn(self) -> None:
        """Forget what may be wrong. If namespaces or vectors could not be made, the suite tries to make them again."""
        if self.unmade:
            self.ready.clear()
        super(VectorShared, self).unlearn()
