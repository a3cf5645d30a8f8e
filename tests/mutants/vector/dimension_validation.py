"""Mistakes that vector/test_dimension_validation.py finds (VEC-DIM)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Space

from .. import catches
from .legal import ItemByItem


@catches("VEC-DIM-1")
class UpsertMismatchIsVague(ReferenceVector):
    """It refuses a vector of a wrong dimension as any bad request, when it is written."""

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Any:
        try:
            return super().check_items(call, namespace, items)
        except AdapterError as error:
            if error.kind.name == "DimensionMismatch":
                raise AdapterError("BadRequest", str(error)) from None
            raise


@catches("VEC-DIM-1", control=ItemByItem)
class FailedItemIsVague(ItemByItem):
    """It reports an item of a wrong dimension as any bad request."""

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        return {**super().failed_item(index, item, error), "error": "BadRequest"}


@catches("VEC-DIM-1")
class ShortOnesMismatch(ReferenceVector):
    """It refuses vectors that are too long as any bad request, and short ones rightly."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        error = super().mismatch(namespace, dimensions, vector)
        if error and dimensions is not None and len(vector) > dimensions and error.details["namespace"] != "default":
            return AdapterError("BadRequest", str(error)) if self.writing else error
        return error

    writing = False

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Any:
        self.writing = True
        try:
            return super().check_items(call, namespace, items)
        finally:
            self.writing = False


@catches("VEC-DIM-2")
class QueryMismatchIsVague(ReferenceVector):
    """It refuses a query of a wrong dimension as any bad request."""

    def check_query(self, call: Call, query: Query) -> None:
        try:
            super().check_query(call, query)
        except AdapterError as error:
            if error.kind.name == "DimensionMismatch" and call.op == "query":
                raise AdapterError("BadRequest", str(error)) from None
            raise


@catches("VEC-DIM-2")
class LongQueriesAreCut(ReferenceVector):
    """It cuts a query vector that is too long."""

    def check_query(self, call: Call, query: Query) -> None:
        dimensions = self.space(call, query.namespace).dimensions
        if call.op != "query" or dimensions is None or len(query.vector) < dimensions:
            super().check_query(call, query)

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        dimensions = self.space(call, query.namespace).dimensions
        return super().search(call, replace(query, vector=query.vector[:dimensions]))


@catches("VEC-DIM-3")
class FirstOfABatchIsChecked(ReferenceVector):
    """It checks the dimension of the first query of a batch, and cuts and pads the others."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        space = self.spaces(call).get(self.read_namespace(call.args))
        queries = call.args.values.get("queries")
        if space is not None and space.dimensions is not None and isinstance(queries, list):
            fitted = [*queries[:1], *(self.fitted(query, space.dimensions) for query in queries[1:])]
            call.args = replace(call.args, values={**call.args.values, "queries": fitted})
        return await super().batch_query(call)

    def fitted(self, query: Any, dimensions: int) -> Any:
        """A query of these dimensions, where it is one."""
        vector = query.get("vector") if isinstance(query, Mapping) else None
        return {**query, "vector": [*vector, *[0] * dimensions][:dimensions]} if isinstance(vector, list) else query


@catches("VEC-DIM-3")
class BatchMismatchIsVague(ReferenceVector):
    """It refuses a batch with a query of a wrong dimension as any bad request."""

    def check_query(self, call: Call, query: Query) -> None:
        try:
            super().check_query(call, query)
        except AdapterError as error:
            if error.kind.name == "DimensionMismatch" and call.op == "batch_query":
                raise AdapterError("BadRequest", str(error)) from None
            raise


@catches("VEC-DIM-4", control=ItemByItem)
class MismatchIsStoredAllTheSame(ItemByItem):
    """It reports a vector of a wrong dimension, and stores as much of it as fits."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space = self.space(call, namespace)
        for index, _ in self.check_items(call, namespace, items):
            self.store(space, self.fitted(items[index], space.dimensions))
        return super().write(call, namespace, items)

    def fitted(self, item: Item, dimensions: int | None) -> Item:
        """The item, cut or padded."""
        return replace(item, vector=[*item.vector, *[0.0] * (dimensions or 0)][:dimensions])


@catches("VEC-DIM-4", control=ItemByItem)
class MismatchRemovesTheOldOne(ItemByItem):
    """It removes what is stored under an id before it sees that the new vector does not fit."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space = self.space(call, namespace)
        for index, _ in self.check_items(call, namespace, items):
            space.items.pop(items[index].id, None)
        return super().write(call, namespace, items)


@catches("VEC-DIM-5", control=ItemByItem)
class AllAfterAMismatchFail(ItemByItem):
    """It reports every item after the first one of a wrong dimension as failed too."""

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Any:
        failures = super().check_items(call, namespace, items)
        return [(index, failures[0][1]) for index in range(failures[0][0], len(items))] if failures else []


@catches("VEC-DIM-5", control=ItemByItem)
class LastMismatchIsUnreported(ItemByItem):
    """It reports only the first item of a wrong dimension."""

    def counts(self, processed: int, failures: list[dict[str, Any]]) -> dict[str, Any]:
        return super().counts(processed, failures[:1])


@catches("VEC-DIM-6")
class LargestDimensionIsRefused(ReferenceVector):
    """It refuses a namespace of exactly the dimensions that it states."""

    def read_dimensions(self, call: Call) -> int:
        dimensions = super().read_dimensions(call)
        if dimensions == self.max_dimensions:
            raise self.beyond("args.dimensions", "max_dimensions", self.max_dimensions)
        return dimensions


@catches("VEC-DIM-6")
class LargestVectorsAreRefused(ReferenceVector):
    """It refuses vectors of exactly the dimensions that it states."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        if len(item.vector) == self.max_dimensions:
            raise self.beyond("args.vectors", "max_dimensions", self.max_dimensions)
        return item


@catches("VEC-DIM-7")
class DimensionsAreOnlyStated(ReferenceVector):
    """It states `max_dimensions` and creates larger namespaces."""

    def read_dimensions(self, call: Call) -> int:
        return self.read_size(call.args, "dimensions", "max_dimensions", 100_000)


@catches("VEC-DIM-8")
class ZeroDimensionsAreOpen(ReferenceVector):
    """It takes zero dimensions for dimensions that are still to come."""

    def read_dimensions(self, call: Call) -> int:
        if call.args.values.get("dimensions") == 0:
            return 2
        return super().read_dimensions(call)


@catches("VEC-DIM-8")
class DimensionsAreRounded(ReferenceVector):
    """It rounds dimensions that are not a whole number."""

    def read_dimensions(self, call: Call) -> int:
        dimensions = call.args.values.get("dimensions")
        return (
            int(dimensions) if isinstance(dimensions, float) and 1 <= dimensions < 99 else super().read_dimensions(call)
        )


@catches("VEC-DIM-8")
class NegativeDimensionsAreMirrored(ReferenceVector):
    """It takes negative dimensions for their opposite."""

    def read_dimensions(self, call: Call) -> int:
        dimensions = call.args.values.get("dimensions")
        return -dimensions if isinstance(dimensions, int) and dimensions < 0 else super().read_dimensions(call)


@catches("VEC-DIM-9")
class DimensionsOfTheLastSpace(ReferenceVector):
    """It keeps one number of dimensions for a tenant: that of the namespace created last."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        super().create(call, name, wanted)
        for space in self.spaces(call).values():
            space.dimensions = wanted.dimensions


@catches("VEC-DIM-10")
class EmptyVectorIsZero(ReferenceVector):
    """It takes a vector without components for zero."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        if fields.values.get("vector") == []:
            fields = replace(fields, values={**fields.values, "vector": [0.0, 0.0, 0.0]})
        return super().read_item(fields, namespace)

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Any:
        dimensions = self.space(call, namespace).dimensions
        known = [item for item in items if item.vector != [0.0, 0.0, 0.0] or dimensions == 3]
        return super().check_items(call, namespace, known)


@catches("VEC-DIM-10")
class EmptyQueryFindsAnything(ReferenceVector):
    """It answers a query with an empty vector with no matches."""

    async def query(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("vector") == []:
            namespace = self.read_namespace(call.args)
            return {"matches": [], "query_vector": [], "namespace": namespace, "total_matches": 0}
        return await super().query(call)


@catches("VEC-DIM-11")
class MismatchHasNoNumbers(ReferenceVector):
    """It does not say which dimension it expected."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        error = super().mismatch(namespace, dimensions, vector)
        return AdapterError("DimensionMismatch", "wrong dimensions") if error else None


@catches("VEC-DIM-11")
class MismatchNumbersAreSwapped(ReferenceVector):
    """It swaps the dimension that it expected and the one that it was given."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        error = super().mismatch(namespace, dimensions, vector)
        if error:
            details = error.details
            details["expected"], details["provided"] = details["provided"], details["expected"]
        return error


@catches("VEC-DIM-9")
class DimensionsOutliveTheNamespace(ReferenceVector):
    """It remembers the dimensions that a namespace of the name had first."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.first: dict[tuple[str | None, str], int | None] = {}

    def create(self, call: Call, name: str, wanted: Space) -> None:
        super().create(call, name, wanted)
        space = self.space(call, name)
        space.dimensions = self.first.setdefault((self.owner(call), name), space.dimensions)


@catches("VEC-DIM-1")
class DefaultTakesAnyLength(ReferenceVector):
    """It checks the length of vectors but in the default namespace."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        return None if namespace == self.default_namespace else super().mismatch(namespace, dimensions, vector)


@catches("VEC-DIM-12")
class MismatchOfSomeNamespace(ReferenceVector):
    """It does not say which namespace has other dimensions."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        error = super().mismatch(namespace, dimensions, vector)
        if error:
            del error.details["namespace"]
        return error
