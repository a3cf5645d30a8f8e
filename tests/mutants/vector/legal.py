"""Legal adapters of another shape than the reference, from which mutants are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item, Space


class ItemByItem(ReferenceVector):
    """It stores what it can of a batch and reports what failed."""

    item_by_item = True


class PostFiltered(ReferenceVector):
    """It applies a filter to the best matches of all, and says so."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {**facts, "extensions": {**facts["extensions"], "acme:post_filtering": True}}

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        space = self.space(call, query.namespace)
        best = self.rank(space, [self.hit(space, query, item) for item in space.items.values()])[: query.top_k]
        met = [hit for hit in best if self.passes(hit.item.metadata, query.conditions)]
        found = super().search(call, query)
        return {**found, "matches": [self.match(query, hit) for hit in met]}


Failed = list[dict[str, Any]]


class MalformedItemByItem(ItemByItem):
    """It reports items that cannot be read, too, and stores the others."""

    async def upsert(self, call: Call) -> dict[str, Any]:
        namespace = self.read_namespace(call.args)
        given = call.args.objects("vectors", required=True)
        self.check_batch_size(len(given))
        items: dict[int, Item] = {}
        malformed: Failed = []
        for index, fields in enumerate(given):
            try:
                items[index] = self.read_item(fields, namespace)
            except AdapterError as error:
                malformed.append({"index": index, "error": error.kind.name, "detail": str(error)})
        await self.reach(call, items=len(items))
        result = self.write(call, namespace, [*items.values()])
        failures = [{**failure, "index": [*items][failure["index"]]} for failure in result["failures"]]
        return self.merged(malformed, {**result, "failures": failures})

    def merged(self, malformed: Failed, result: dict[str, Any]) -> dict[str, Any]:
        """The result of the items that could be read, with the others among its failures."""
        return self.counts(result["processed_count"], [*malformed, *result["failures"]])


class Approximate(ReferenceVector):
    """It looks at one of two cells, as an inverted file with one probe does, and says so; they meet where little is."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_caching": False}

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {**facts, "extensions": {**facts["extensions"], "acme:index": "IVFFlat, approximate, one probe"}}

    def select(self, space: Space, query: Query) -> list[Item]:
        cell = self.cell(query.vector)
        return [item for item in super().select(space, query) if self.cell(item.vector) == cell]

    def cell(self, vector: Sequence[float]) -> bool:
        """The cell of a vector."""
        return vector[0] < 0


class Uncached(ReferenceVector):
    """It searches anew for every query."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_caching": False}


class FiltersDenied(ReferenceVector):
    """It offers no filters."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_filters": False}


class BatchesDenied(ReferenceVector):
    """It takes one vector at a time."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_batch_operations": False}

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {key: value for key, value in facts.items() if key != "max_batch_size"}

    def check_batch_size(self, size: int) -> None:
        if size > 1:
            self.require("supports_batch_operations")


class BatchQueriesDenied(ReferenceVector):
    """It takes one query at a time."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_batch_queries": False}


class EmptyIsNotReady(ReferenceVector):
    """It asks for patience where a namespace is empty."""

    retry_after_empty_ms: float | None = 200

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        if not self.space(call, query.namespace).items:
            raise AdapterError("IndexNotReady", "The index is empty", retry_after_ms=self.retry_after_empty_ms)
        return super().search(call, query)


class Paged(ReferenceVector):
    """It gives the matches in pages of `top_k`, with a token for the next one."""

    features: Mapping[str, bool] = {**ReferenceVector.features, "supports_pagination": True}

    def read_query(self, fields: Fields, namespace: str) -> Query:
        query = super().read_query(fields, namespace)
        start = self.read_start(fields)
        return replace(query, top_k=start + query.top_k)

    def read_start(self, fields: Fields) -> int:
        """How many matches the pages before this one held."""
        token = fields.text("page_token") or fields.text("next_page_token") or fields.text("cursor") or "0"
        if not token.isdecimal():
            raise fields.invalid("page_token", "SYNTAX", "is not a token of ours")
        return int(token)

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, query)
        start = self.start_of(call)
        result["matches"] = result["matches"][start:]
        return {**result, **self.next_page(query.top_k, result["total_matches"])}

    def start_of(self, call: Call) -> int:
        return self.read_start(call.args)

    def next_page(self, end: int, total: int) -> dict[str, str]:
        """The token of the page that begins at `end`, where there is one."""
        return {"next_page_token": str(end)} if end < total else {}


class Ranked(ReferenceVector):
    """It ranks by the one number that it states as score."""

    def rank(self, space: Any, hits: list[Hit]) -> list[Hit]:
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.id))


def product(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of the products of the components."""
    return sum(a * b for a, b in zip(left, right, strict=True))
