"""The namespaces of a tenant: lookup, checks and changes."""

from collections.abc import Iterator, Sequence

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.arguments import QueryArguments, VectorArguments
from pytest_corpus.reference.vector.store import FilterCondition, Item, Space

Failures = list[tuple[int, AdapterError]]


class Namespaces(VectorArguments):
    """Keeps the namespaces of tenants apart."""

    tenants: dict[str | None, dict[str, Space]]
    versions: Iterator[int]
    item_by_item = False
    """True if an upsert stores the other items when some fail. False here: edition 1.0.0 cannot name items by index."""

    def spaces(self, call: Call) -> dict[str, Space]:
        """Return the namespaces of the tenant; the default namespace always exists."""
        spaces = self.tenants.setdefault(self.owner(call), {})
        spaces.setdefault(self.default_namespace, Space(self.default_metric))
        return spaces

    def owner(self, call: Call) -> str | None:
        """Return the owner of the data that a call uses (SPECIFICATION 14.1)."""
        return call.tenant_hash

    def space(self, call: Call, name: str) -> Space:
        space = self.spaces(call).get(name)
        if space is None:
            raise invalid("args.namespace", "NOT_FOUND", "does not exist", error="NamespaceNotFound", namespace=name)
        return space

    def mark_changed(self, space: Space) -> None:
        """Invalidate the cached answers of a namespace."""
        space.version = next(self.versions)

    def create(self, call: Call, name: str, wanted: Space) -> None:
        existing = self.check_existing(call, name, wanted)
        if existing is None or existing.dimensions is None:
            self.spaces(call)[name] = wanted
            self.mark_changed(wanted)

    def drop(self, call: Call, name: str) -> bool:
        return self.spaces(call).pop(name, None) is not None

    def store(self, space: Space, item: Item) -> None:
        space.dimensions = space.dimensions or len(item.vector)
        space.items[item.id] = item

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[FilterCondition]) -> int:
        space = self.space(call, namespace)
        victims = [item for item in space.items.values() if self.is_selected(item, ids, conditions)]
        for item in victims:
            del space.items[item.id]
        self.mark_changed(space)
        return len(victims)

    def is_selected(self, item: Item, ids: Sequence[str], conditions: Sequence[FilterCondition]) -> bool:
        return (not ids or item.id in ids) and self.passes(item.metadata, conditions)

    def check_existing(self, call: Call, name: str, wanted: Space) -> Space | None:
        """Return the namespace of this name, or None. If it differs from the wanted one, refuse the call."""
        existing = self.spaces(call).get(name)
        if existing is None or existing.dimensions is None:
            return existing
        if (existing.dimensions, existing.metric) != (wanted.dimensions, wanted.metric):
            raise invalid("args.namespace", "EXISTS", "exists with other dimensions or another metric")
        return existing

    def check_query(self, call: Call, query: QueryArguments) -> None:
        """Refuse an unknown namespace, or a vector that does not fit it."""
        space = self.space(call, query.namespace)
        if mismatch := self.mismatch(query.namespace, space.dimensions, query.vector):
            raise mismatch

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Failures:
        """Return the items that cannot be stored. If failures are not reported per item, refuse the whole request."""
        failures: Failures = []
        dimensions = self.space(call, namespace).dimensions
        for index, item in enumerate(items):
            if mismatch := self.mismatch(namespace, dimensions, item.vector):
                failures.append((index, mismatch))
            else:
                dimensions = len(item.vector)
        if failures and not self.item_by_item:
            raise failures[0][1]
        return failures

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        """Return the error for a vector of the wrong length (ERRORS 6.3), or None."""
        provided = len(vector)
        if provided == dimensions or (dimensions is None and provided <= self.max_dimensions):
            return None
        expected = self.max_dimensions if dimensions is None else dimensions
        return AdapterError(
            "DimensionMismatch",
            f"expected {expected} dimensions, got {provided}",
            expected=expected,
            provided=provided,
            namespace=namespace,
        )
