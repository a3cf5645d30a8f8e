"""Mistakes in dimensions and namespaces, and over many writes (VEC-DIM, VEC-NS, VEC-STATE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector_adapter import ReferenceVector
from pytest_corpus.reference.vector_request import Query
from pytest_corpus.reference.vector_space import Item, Space

from . import catches
from .vector_legal import ItemByItem, Uncached


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
    """It rounds dimensions that are no whole number."""

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


@catches("VEC-NS-1")
class CreatedInVain(ReferenceVector):
    """It answers that it created a namespace, and did not."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        """Nothing is created."""


@catches("VEC-NS-2")
class QueriesSearchEverywhere(Uncached):
    """It searches all namespaces of the same dimensions and metric."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return [
            item
            for spaces in self.tenants.values()
            if space in spaces.values()
            for each in spaces.values()
            if (each.dimensions, each.metric) == (space.dimensions, space.metric)
            for item in super(QueriesSearchEverywhere, self).select(each, query)
        ]


@catches("VEC-NS-3")
class DeletesEverywhere(ReferenceVector):
    """It deletes an id from every namespace of the tenant."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        for name in self.spaces(call):
            if name != namespace and ids:
                super().erase(call, name, ids, conditions)
        return super().erase(call, namespace, ids, conditions)


@catches("VEC-NS-3")
class IdsAreOfOneNamespace(ReferenceVector):
    """It moves an id to the namespace where it was written last."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        for name, space in self.spaces(call).items():
            for item in items if name != namespace else []:
                space.items.pop(item.id, None)
                self.touch(space)
        return super().write(call, namespace, items)


@catches("VEC-NS-4")
class DeletedSpaceKeepsItsVectors(ReferenceVector):
    """It forgets the name of a namespace and keeps its vectors for the next one of that name."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.dropped: dict[tuple[str | None, str], Space] = {}

    def drop(self, call: Call, name: str) -> bool:
        space = self.spaces(call).get(name)
        if space is not None:
            self.dropped[self.owner(call), name] = space
        return super().drop(call, name)

    def create(self, call: Call, name: str, wanted: Space) -> None:
        left = self.dropped.get((self.owner(call), name))
        if left is not None and left.dimensions == wanted.dimensions:
            wanted = replace(wanted, items=left.items)
        super().create(call, name, wanted)


@catches("VEC-NS-4")
class DeletedSpaceIsStillThere(ReferenceVector):
    """It answers that it deleted a namespace, and did not."""

    def drop(self, call: Call, name: str) -> bool:
        return name in self.spaces(call)


@catches("VEC-NS-4")
class CacheOutlivesTheSpace(ReferenceVector):
    """It answers queries on a deleted namespace from its cache."""

    async def query(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        if namespace in self.spaces(call):
            self.last = (call.args.values, await super().query(call))
            return self.last[1]
        if self.last is not None and call.args.values == self.last[0]:
            return self.last[1]
        return await super().query(call)

    last: tuple[Mapping[str, Any], dict[str, Any]] | None = None


@catches("VEC-NS-5")
class DeletesByPrefix(ReferenceVector):
    """It deletes every namespace whose name begins with the given one."""

    def drop(self, call: Call, name: str) -> bool:
        for other in list(self.spaces(call)):
            if other.startswith(name) and other != name:
                super().drop(call, other)
        return super().drop(call, name)


@catches("VEC-NS-5")
class DeletesTheYoungestToo(ReferenceVector):
    """It deletes the namespace that was created last along with the one named."""

    def drop(self, call: Call, name: str) -> bool:
        others = [other for other in self.spaces(call) if other not in (name, self.default_namespace)]
        for other in others[-1:]:
            super().drop(call, other)
        return super().drop(call, name)


@catches("VEC-NS-6")
class UnknownIsEmpty(ReferenceVector):
    """It answers a query on an unknown namespace with no matches."""

    async def query(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        if namespace in self.spaces(call):
            return await super().query(call)
        query = self.read_query(call.args, namespace)
        return {"matches": [], "query_vector": query.vector, "namespace": namespace, "total_matches": 0}


@catches("VEC-NS-6")
class UnknownIsNotReady(ReferenceVector):
    """It asks for patience where a namespace is unknown."""

    def check_query(self, call: Call, query: Query) -> None:
        if call.op == "query" and query.namespace not in self.spaces(call):
            raise AdapterError("IndexNotReady", "The index is not there", retry_after_ms=10)
        super().check_query(call, query)


@catches("VEC-NS-7")
class DimensionsByDefault(ReferenceVector):
    """It creates a namespace of its own dimensions where none are given."""

    def read_dimensions(self, call: Call) -> int:
        return super().read_dimensions(call) if "dimensions" in call.args.values else 3


@catches("VEC-NS-7")
class NamelessSpaceIsTheDefault(ReferenceVector):
    """It deletes the default namespace where none is named."""

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        if "namespace" not in call.args.values:
            call.args = replace(call.args, values={"namespace": self.default_namespace})
        return await super().delete_namespace(call)


@catches("VEC-NS-7")
class DimensionsAsText(ReferenceVector):
    """It takes the text of a number for dimensions."""

    def read_dimensions(self, call: Call) -> int:
        return 3 if isinstance(call.args.values.get("dimensions"), str) else super().read_dimensions(call)


@catches("VEC-NS-7")
class AnyTypeOfMetric(ReferenceVector):
    """It takes the default metric where `distance_metric` is no string."""

    def read_metric(self, call: Call) -> str:
        given = call.args.values.get("distance_metric")
        return super().read_metric(call) if given is None or isinstance(given, str) else self.default_metric


@catches("VEC-NS-8")
class MetricOfTheLastSpace(ReferenceVector):
    """It ranks every namespace of a tenant by the metric of the one created last."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        super().create(call, name, wanted)
        for space in self.spaces(call).values():
            space.metric = wanted.metric
            self.touch(space)


@catches("VEC-NS-9")
class LastSpaceIsTheDefault(ReferenceVector):
    """It takes the namespace that was used last where none is given."""

    last = "default"

    def read_namespace(self, fields: Fields) -> str:
        self.last = fields.text("namespace") or self.last
        return self.last


@catches("VEC-NS-9")
class NamespaceIsRequired(ReferenceVector):
    """It wants a namespace in every upsert."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        call.args.required_text("namespace")
        return super().read_items(call, namespace)


@catches("VEC-NS-9")
class DefaultForQueriesAlone(ReferenceVector):
    """It deletes from a namespace of no name where none is given."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("namespace") is None:
            self.read_ids(call)
            return self.counts(0, [])
        return await super().delete(call)


@catches("VEC-NS-10")
class SuccessIsFalse(ReferenceVector):
    """It says `success` false where it created a namespace."""

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        return {**await super().create_namespace(call), "success": False}


@catches("VEC-NS-10")
class NameOfTheBackend(ReferenceVector):
    """It answers a deletion with the name that the namespace had in its backend."""

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        result = await super().delete_namespace(call)
        return {**result, "namespace": f"index-{result['namespace']}"}


@catches("VEC-NS-11")
class UnknownIsAnyBadRequest(ReferenceVector):
    """It refuses a query on an unknown namespace as any bad request."""

    def space(self, call: Call, name: str) -> Space:
        if name not in self.spaces(call):
            raise invalid("args.namespace", "NOT_FOUND", "does not exist")
        return super().space(call, name)


@catches("VEC-NS-12")
class UnknownMetricIsCosine(ReferenceVector):
    """It takes a metric that it does not know for the default one."""

    def read_metric(self, call: Call) -> str:
        metric = call.args.text("distance_metric") or self.default_metric
        return super().read_metric(call) if self.synonyms.get(metric, metric) in self.measures else self.default_metric


@catches("VEC-NS-13")
class CreatingEmpties(ReferenceVector):
    """It empties a namespace that is created anew."""

    def create(self, call: Call, name: str, wanted: Space) -> None:
        self.check_existing(call, name, wanted)
        self.spaces(call)[name] = wanted
        self.touch(wanted)


@catches("VEC-STATE-1")
class EveryThirdUpdateIsLost(ReferenceVector):
    """It loses every third update of an id."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.updated: dict[tuple[int, str], int] = {}

    def store(self, space: Space, item: Item) -> None:
        known = space.items.get(item.id)
        times = self.updated[id(space), item.id] = self.updated.get((id(space), item.id), 0) + 1
        super().store(space, known if known is not None and times % 4 == 0 else item)


@catches("VEC-NS-4")
class VersionsBeginAnew(ReferenceVector):
    """It keys its cache by a version that begins anew with each namespace of a name."""

    def touch(self, space: Space) -> None:
        space.version += 1


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
