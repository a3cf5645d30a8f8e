"""Mistakes that vector/test_batch_size_limits.py finds (VEC-LIMIT, VEC-MULTI)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item

from .. import catches
from .legal import BatchesDenied


class Batching(ReferenceVector):
    """It has a place where the answers to a batch of queries are finished."""

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        answers = await super().answers(call, queries)
        return {"results": self.gathered(call, queries, answers["results"])}

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers that are sent."""
        return results


@catches("VEC-MULTI-1")
class ResultsUnderOtherName(ReferenceVector):
    """It answers a batch of queries with `answers`."""

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        return {"answers": (await super().answers(call, queries))["results"]}


@catches("VEC-MULTI-1")
class EmptyResultsAreLeftOut(Batching):
    """It leaves out the results without matches."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [result for result in results if result["matches"]]


@catches("VEC-MULTI-1")
class EqualQueriesAreAnsweredOnce(Batching):
    """It answers queries that are the same once."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [result for index, result in enumerate(results) if queries[index] not in queries[:index]]


@catches("VEC-MULTI-2")
class ResultsComeReversed(Batching):
    """It gathers the results from the end."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return results[::-1]


@catches("VEC-MULTI-2")
class SmallResultsComeFirst(Batching):
    """It gives the results as they become ready, the small ones first."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [result for _, result in sorted(zip(queries, results, strict=True), key=lambda pair: pair[0].top_k)]


@catches("VEC-MULTI-3")
class TopKOfTheFirst(Batching):
    """It asks every query of a batch for as many matches as the first."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.search(call, replace(query, top_k=queries[0].top_k)) for query in queries]


@catches("VEC-MULTI-3")
class FilterOfTheFirst(Batching):
    """It filters every query of a batch as the first."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.search(call, replace(query, conditions=queries[0].conditions)) for query in queries]


@catches("VEC-MULTI-3")
class FiltersLostInBatches(Batching):
    """It does not filter in a batch."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.search(call, replace(query, conditions=[])) for query in queries]


@catches("VEC-MULTI-3")
class MetadataLostInBatches(Batching):
    """It gives no metadata in a batch."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.search(call, replace(query, include_metadata=False)) for query in queries]


@catches("VEC-MULTI-3")
class LastQueryIsTheFirst(Batching):
    """It asks the first query again in place of the last one."""

    def gathered(self, call: Call, queries: Sequence[Query], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*results[:-1], *results[:1]] if len(results) > 1 else results


@catches("VEC-MULTI-4")
class BadQueriesAreSkipped(ReferenceVector):
    """It skips the queries of a batch that are bad, and answers the others."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        given = call.args.objects("queries", required=True)
        kept = [fields.values for fields in given if self.is_sound(fields)]
        call.args = replace(call.args, values={**call.args.values, "queries": kept})
        return await super().batch_query(call)

    def is_sound(self, fields: Fields) -> bool:
        """Whether a query can be read."""
        try:
            self.read_query(fields, self.default_namespace)
        except AdapterError as error:
            return "max_top_k" in error.details or error.kind.name != "BadRequest"
        return True


@catches("VEC-MULTI-4")
class NoQueriesNoResults(ReferenceVector):
    """It answers a batch without `queries` with no results."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        return await super().batch_query(call) if "queries" in call.args.values else {"results": []}


@catches("VEC-MULTI-4")
class TopKUncheckedInBatches(ReferenceVector):
    """It takes a `top_k` of zero in a batch."""

    def read_batched(self, fields: Fields, namespace: str) -> Query:
        zero = fields.values.get("top_k") == 0
        return super().read_batched(
            replace(fields, values={**fields.values, "top_k": 1}) if zero else fields, namespace
        )


@catches("VEC-MULTI-5")
class UnknownIsEmptyInBatches(ReferenceVector):
    """It answers a batch on an unknown namespace with no matches."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        if namespace in self.spaces(call):
            return await super().batch_query(call)
        queries = [self.read_batched(fields, namespace) for fields in call.args.objects("queries", required=True)]
        nothing = {"matches": [], "namespace": namespace, "total_matches": 0}
        return {"results": [{**nothing, "query_vector": query.vector} for query in queries]}


@catches("VEC-MULTI-6")
class NamespaceOfABatchIsIgnored(ReferenceVector):
    """It asks the default namespace where a query of a batch names none."""

    def read_batched(self, fields: Fields, namespace: str) -> Query:
        own = fields.text("namespace")
        return self.read_query(fields, self.default_namespace if own is None else own)


@catches("VEC-MULTI-7")
class OwnNamespaceIsIgnored(ReferenceVector):
    """It asks the namespace of the batch, whatever a query names itself."""

    def read_batched(self, fields: Fields, namespace: str) -> Query:
        fields.text("namespace")
        return self.read_query(fields, namespace)


@catches("VEC-LIMIT-4")
class LargestTopKIsRefused(ReferenceVector):
    """It refuses a `top_k` of exactly what it states."""

    def read_top_k(self, fields: Fields) -> int:
        top_k = super().read_top_k(fields)
        if top_k == self.max_top_k:
            raise fields.invalid("top_k", "OUT_OF_RANGE", "must be less than max_top_k")
        return top_k


@catches("VEC-LIMIT-5")
class TopKIsLowered(ReferenceVector):
    """It lowers a `top_k` beyond what it states."""

    def read_top_k(self, fields: Fields) -> int:
        top_k = fields.values.get("top_k")
        return self.max_top_k if isinstance(top_k, int) and top_k > self.max_top_k else super().read_top_k(fields)


@catches("VEC-LIMIT-5")
class TopKUnboundedInBatches(ReferenceVector):
    """It bounds the `top_k` of a query and not that of a query in a batch."""

    def read_batched(self, fields: Fields, namespace: str) -> Query:
        top_k = fields.values.get("top_k")
        if isinstance(top_k, int) and top_k > self.max_top_k:
            fields = replace(fields, values={**fields.values, "top_k": self.max_top_k})
        return super().read_batched(fields, namespace)


@catches("VEC-LIMIT-5")
class LargeTopKIsAnOverload(ReferenceVector):
    """It asks for a retry where `top_k` is too large."""

    def beyond(self, path: str, limit: str, largest: int, **details: Any) -> AdapterError:
        error = super().beyond(path, limit, largest, **details)
        return AdapterError("ResourceExhausted", str(error), **error.details) if limit == "max_top_k" else error


@catches("VEC-LIMIT-1")
class FullBatchIsRefused(ReferenceVector):
    """It refuses a batch of exactly the size that it states."""

    def check_batch_size(self, size: int) -> None:
        super().check_batch_size(size + 1 if size == self.max_batch_size else size)


@catches("VEC-LIMIT-1")
class LastOfAFullBatchIsLost(ReferenceVector):
    """It loses the last vector of a batch of exactly the size that it states."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        stored = items[:-1] if len(items) == self.max_batch_size else items
        super().write(call, namespace, stored)
        return self.counts(len(items), [])


@catches("VEC-LIMIT-2")
class BatchSizeIsOnlyStated(ReferenceVector):
    """It states `max_batch_size` and takes any batch."""

    def check_batch_size(self, size: int) -> None:
        """Nothing is refused."""


@catches("VEC-LIMIT-2")
class OneMoreIsTaken(ReferenceVector):
    """It takes one vector more than it states."""

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_size + 1:
            super().check_batch_size(size)


@catches("VEC-LIMIT-2")
class OverLargeIsAnOverload(ReferenceVector):
    """It asks for a retry where a batch is too large."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            raise AdapterError("ResourceExhausted", str(error), retry_after_ms=10, **error.details) from None


@catches("VEC-LIMIT-3")
class OverLargeIsStoredAndRefused(ReferenceVector):
    """It stores what fits of a batch that is too large, and then refuses it."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        try:
            return super().read_items(call, namespace)
        except AdapterError as error:
            if "max_batch_size" in error.details:
                fitting = call.args.objects("vectors")[: self.max_batch_size]
                self.write(call, namespace, [self.read_item(fields, namespace) for fields in fitting])
            raise


@catches("VEC-LIMIT-2")
class OverLargeIsCut(ReferenceVector):
    """It stores what fits of a batch that is too large, and drops the rest."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        vectors = call.args.values.get("vectors")
        if isinstance(vectors, list):
            call.args = replace(call.args, values={**call.args.values, "vectors": vectors[: self.max_batch_size]})
        return super().read_items(call, namespace)


@catches("VEC-LIMIT-6")
class LimitOfBatchesIsNotTold(ReferenceVector):
    """It refuses a batch that is too large and does not say how many it would take."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            del error.details["max_batch_size"]
            raise


@catches("VEC-LIMIT-7")
class ReductionIsNotTold(ReferenceVector):
    """It suggests no reduction for a batch that is too large."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            del error.details["suggested_batch_reduction"]
            raise


@catches("VEC-LIMIT-7")
class ReductionIsACount(ReferenceVector):
    """It suggests by how many vectors, of the largest batch that there could be, to reduce."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details["suggested_batch_reduction"] = 100 + size
            raise


@catches("VEC-LIMIT-8", control=BatchesDenied)
class DeniedBatchIsCut(BatchesDenied):
    """It offers no batches and stores the first vector of one."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        vectors = call.args.values.get("vectors")
        if isinstance(vectors, list):
            call.args = replace(call.args, values={**call.args.values, "vectors": vectors[:1]})
        return super().read_items(call, namespace)


@catches("VEC-LIMIT-14")
class BatchesWorkAndAreDenied(ReferenceVector):
    """It denies batch operations and stores any batch."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_batch_operations": False}


@catches("VEC-LIMIT-9")
class LimitOfMatchesIsNotTold(ReferenceVector):
    """It refuses a `top_k` that is too large and does not say how many matches it would give."""

    def read_top_k(self, fields: Fields) -> int:
        try:
            return super().read_top_k(fields)
        except AdapterError as error:
            error.details.pop("max_top_k", None)
            raise
