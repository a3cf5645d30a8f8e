"""Mistakes that vector/test_query_basic.py finds (VEC-QUERY)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item, Space

from .. import catches
from .legal import EmptyIsNotReady, Paged


class Answering(ReferenceVector):
    """It has a place where the answer to a query is finished."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        return self.finished(call, query, super().search(call, query))

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        """The answer that is sent."""
        return result


class Lenient(ReferenceVector):
    """It has a place where the arguments of a query are put right before they are read."""

    def read_query(self, fields: Fields, namespace: str) -> Query:
        return super().read_query(replace(fields, values=self.put_right(dict(fields.values))), namespace)

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments that are read."""
        return values


@catches("VEC-QUERY-1")
class MatchesHaveNoDistance(ReferenceVector):
    """It gives a score and no distance."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        del match["distance"]
        return match


@catches("VEC-QUERY-1")
class AnswerTellsTheTime(Answering):
    """It adds how long a search took to the answer."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "took_ms": 1}


@catches("VEC-QUERY-1")
class NoMatchesAreNull(Answering):
    """It answers null where a filter leaves no matches."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "matches": result["matches"] or None}


@catches("VEC-QUERY-2")
class OneMoreThanAsked(ReferenceVector):
    """It gives one match more than was asked for."""

    def read_top_k(self, fields: Fields) -> int:
        return super().read_top_k(fields) + 1


@catches("VEC-QUERY-3")
class OneLessThanAsked(ReferenceVector):
    """It gives one match less than was asked for, but for one."""

    def read_top_k(self, fields: Fields) -> int:
        return max(1, super().read_top_k(fields) - 1)


@catches("VEC-QUERY-3")
class NoMoreThanThree(ReferenceVector):
    """It never gives more than three matches."""

    def read_top_k(self, fields: Fields) -> int:
        return min(3, super().read_top_k(fields))


@catches("VEC-QUERY-3")
class UnlikeOnesAreDropped(ReferenceVector):
    """It leaves out what is not similar at all, though more was asked for."""

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        return [hit for hit in super().rank(space, hits) if hit.score > 0 or hit.item.vector == [0]]


@catches("VEC-QUERY-3")
class BestComesTwice(Answering):
    """It merges two shards that both hold the best match."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        matches = result["matches"]
        return {**result, "matches": [*matches[:1], *matches][: len(matches)]}


@catches("VEC-QUERY-4")
class FirstOnesAreRanked(ReferenceVector):
    """It takes as many vectors as were asked for and ranks those."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        self.wanted = query.top_k
        return super().search(call, query)

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        return super().rank(space, hits[: self.wanted])


@catches("VEC-QUERY-4")
class BestIsOverlooked(ReferenceVector):
    """It overlooks the best match where only one is asked for."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, replace(query, top_k=max(2, query.top_k)))
        matches = result["matches"]
        return {**result, "matches": matches[1:2] if query.top_k == 1 and len(matches) > 1 else matches[: query.top_k]}


@catches("VEC-QUERY-5")
class TotalIsWhatIsLeft(Answering):
    """It counts in `total_matches` what it did not give."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "total_matches": result["total_matches"] - len(result["matches"])}


@catches("VEC-QUERY-5")
class TotalIsOneShort(Answering):
    """It does not count the best match."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "total_matches": max(0, result["total_matches"] - 1)}


@catches("VEC-QUERY-6")
class AlwaysTheDefaultByName(Answering):
    """It says `default` whatever namespace it searched."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "namespace": self.default_namespace}


@catches("VEC-QUERY-6")
class NamespaceOfTheBackend(Answering):
    """It answers with the name that the namespace has in its backend."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "namespace": f"index-{query.namespace}"}


@catches("VEC-QUERY-7")
class MetadataOnlyWhenAsked(ReferenceVector):
    """It gives metadata only where `include_metadata` is said."""

    def read_flag(self, fields: Fields, name: str, *, default: bool) -> bool:
        return super().read_flag(fields, name, default=False)


@catches("VEC-QUERY-7")
class MetadataOfTheBest(Answering):
    """It looks up the metadata of the best match alone."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        for match in result["matches"][1:]:
            match["vector"].pop("metadata", None)
        return result


@catches("VEC-QUERY-7")
class FilteredWithoutMetadata(Answering):
    """It gives no metadata where a filter was given."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        for match in result["matches"] if query.conditions else []:
            match["vector"].pop("metadata", None)
        return result


@catches("VEC-QUERY-8")
class QueryForAVector(ReferenceVector):
    """It gives the vector of the query as that of each match."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        match["vector"]["vector"] = list(query.vector)
        return match


@catches("VEC-QUERY-8")
class VectorsByInsertion(Answering):
    """It fetches the vectors in the order in which they were stored."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        stored = list(self.space(call, query.namespace).items)
        matches = result["matches"]
        vectors = [
            match["vector"]["vector"] for match in sorted(matches, key=lambda m: stored.index(m["vector"]["id"]))
        ]
        for match, vector in zip(matches, vectors, strict=True):
            match["vector"]["vector"] = vector
        return result


@catches("VEC-QUERY-8")
class VectorsNeverGiven(ReferenceVector):
    """It gives no vectors, asked for or not."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        match["vector"]["vector"] = []
        return match


@catches("VEC-QUERY-8")
class VectorsAreRounded(ReferenceVector):
    """It stores one digit after the point."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        match["vector"]["vector"] = [round(component, 1) for component in match["vector"]["vector"]]
        return match


@catches("VEC-QUERY-9")
class ZeroMeansTen(Lenient):
    """It takes a `top_k` of zero for none given, and gives ten."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "top_k": 10} if values.get("top_k") == 0 else values


@catches("VEC-QUERY-9")
class NegativeTopK(Lenient):
    """It takes a negative `top_k` for its opposite."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        top_k = values.get("top_k")
        return {**values, "top_k": abs(top_k)} if isinstance(top_k, int) and top_k < 0 else values


@catches("VEC-QUERY-9")
class TopKIsRounded(Lenient):
    """It rounds a `top_k` that is not a whole number."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        top_k = values.get("top_k")
        return {**values, "top_k": int(top_k)} if isinstance(top_k, float) and 1 < top_k < 99 else values


@catches("VEC-QUERY-9")
class ZeroIsNotReady(ReferenceVector):
    """It answers a `top_k` of zero as an outage of its index."""

    def read_top_k(self, fields: Fields) -> int:
        if fields.values.get("top_k") == 0:
            raise AdapterError("IndexNotReady", "The index gave nothing")
        return super().read_top_k(fields)


@catches("VEC-QUERY-10")
class TenByDefault(Lenient):
    """It gives ten matches where `top_k` is missing."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        return {"top_k": 10, **values}


@catches("VEC-QUERY-10")
class NoVectorNoMatches(ReferenceVector):
    """It answers a query without `vector` with no matches."""

    async def query(self, call: Call) -> dict[str, Any]:
        if "vector" not in call.args.values:
            namespace = self.read_namespace(call.args)
            return {"matches": [], "query_vector": [], "namespace": namespace, "total_matches": 0}
        return await super().query(call)


@catches("VEC-QUERY-11")
class FlagsAreTruthy(ReferenceVector):
    """It takes any value for a flag, as its language does."""

    def read_flag(self, fields: Fields, name: str, *, default: bool) -> bool:
        return bool(fields.values.get(name, default))


@catches("VEC-QUERY-11")
class NamespaceOfAnyType(Lenient):
    """It asks the default namespace where `namespace` is not a string."""

    def read_namespace(self, fields: Fields) -> str:
        named = isinstance(fields.values.get("namespace"), str)
        return super().read_namespace(fields) if named else self.default_namespace


@catches("VEC-QUERY-11")
class TextIsAComponent(Lenient):
    """It takes the text of a number for a component of the vector that it looks for."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        vector = values.get("vector")
        if not isinstance(vector, list):
            return values
        return {**values, "vector": [0.5 if isinstance(each, str) else each for each in vector]}


@catches("VEC-QUERY-11")
class TopKAsText(Lenient):
    """It takes the text of a number for `top_k`."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        top_k = values.get("top_k")
        return {**values, "top_k": 3} if isinstance(top_k, str) else values


@catches("VEC-QUERY-11")
class StrangeVectorIsAnOutage(Lenient):
    """It trips over a vector that is not a list, and calls itself unavailable."""

    def put_right(self, values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "vector": [each + 0 for each in values["vector"]]} if "vector" in values else values


@catches("VEC-QUERY-12")
class WholeNumbersAreRefused(ReferenceVector):
    """It wants a point in every component of a vector."""

    def read_vector(self, fields: Fields) -> list[float]:
        vector = super().read_vector(fields)
        if all(isinstance(component, int) for component in vector):
            raise fields.invalid("vector", "WRONG_TYPE", "must hold floats")
        return vector


@catches("VEC-QUERY-12")
class NegativesAreRefused(ReferenceVector):
    """It has no negative components."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        if min(item.vector) < 0:
            raise fields.invalid("vector", "OUT_OF_RANGE", "must not be negative")
        return item


@catches("VEC-QUERY-12")
class ZerosAreRefused(ReferenceVector):
    """It takes a zero for a missing component."""

    def read_vector(self, fields: Fields) -> list[float]:
        vector = super().read_vector(fields)
        if 0 in vector and len(vector) > 1 and any(component < 0 for component in vector):
            raise fields.invalid("vector", "REQUIRED", "must not hold zeros")
        return vector


@catches("VEC-QUERY-13")
class EmptyIsAnOutage(ReferenceVector):
    """It calls itself unavailable where a namespace is empty."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        if not self.space(call, query.namespace).items:
            raise AdapterError("Unavailable", "There is nothing to search")
        return super().search(call, query)


@catches("VEC-QUERY-13")
class EmptyIsABadRequest(ReferenceVector):
    """It refuses a query on an empty namespace."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        if not self.space(call, query.namespace).items:
            raise AdapterError("BadRequest", "There is nothing to search")
        return super().search(call, query)


@catches("VEC-QUERY-14", control=Paged)
class LastPageIsLost(Paged):
    """It gives no token where less than a whole page is left."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, query)
        if result["total_matches"] - query.top_k < query.top_k - self.start_of(call):
            result.pop("next_page_token", None)
        return result


@catches("VEC-QUERY-14", control=Paged)
class PagesInWordsOnly(Paged):
    """It claims pages and gives the first one only."""

    def next_page(self, end: int, total: int) -> dict[str, str]:
        return {}


@catches("VEC-QUERY-14", control=Paged)
class PagesOverlap(Paged):
    """It begins each page with the last match of the one before."""

    def next_page(self, end: int, total: int) -> dict[str, str]:
        return {"next_page_token": str(end - 1)} if end < total else {}


@catches("VEC-QUERY-14", control=Paged)
class PagesNeverEnd(Paged):
    """It gives a token with every page, the last one included."""

    def next_page(self, end: int, total: int) -> dict[str, str]:
        return {"next_page_token": str(end if end < total else 0)}


@catches("VEC-QUERY-15", control=EmptyIsNotReady)
class NotReadyForWhoKnowsHowLong(EmptyIsNotReady):
    """It is not ready and does not say when to retry."""

    retry_after_empty_ms = None


@catches("VEC-QUERY-16")
class MetadataAlways(ReferenceVector):
    """It gives metadata though `include_metadata` is false."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        return super().match(replace(query, include_metadata=True), hit)


@catches("VEC-QUERY-17")
class QueryVectorOfUnitLength(Answering):
    """It answers with the vector that it searched by, and not with the one that it was given."""

    def finished(self, call: Call, query: Query, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "query_vector": [component / 2 for component in query.vector]}


@catches("VEC-QUERY-18")
class MatchesOfTheDefault(ReferenceVector):
    """It says `default` in each match, whatever namespace it searched."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        match["vector"]["namespace"] = self.default_namespace
        return match


@catches("VEC-QUERY-11")
class AnythingNamesANamespace(ReferenceVector):
    """It takes a namespace that is no string for the default one, and repeats it in its answer."""

    async def query(self, call: Call) -> dict[str, Any]:
        given = call.args.values.get("namespace")
        if given is None or isinstance(given, str):
            return await super().query(call)
        call.args = Fields({**call.args.values, "namespace": self.default_namespace}, "args")
        return {**await super().query(call), "namespace": given}
