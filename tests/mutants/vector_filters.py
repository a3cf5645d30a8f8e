"""Mistakes in filters and deletes (VEC-FILTER, VEC-DELETE)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector_adapter import ReferenceVector
from pytest_corpus.reference.vector_request import Query
from pytest_corpus.reference.vector_space import Condition, Item, Space

from . import catches
from .vector_legal import FiltersDenied


@catches("VEC-FILTER-1")
class FiltersAreIgnored(ReferenceVector):
    """It reads a filter and does not apply it to a query."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return list(space.items.values())


@catches("VEC-FILTER-1")
class OneOfThoseThatPass(ReferenceVector):
    """It finds only the first of the vectors that pass a filter."""

    def select(self, space: Space, query: Query) -> list[Item]:
        found = super().select(space, query)
        return found[:1] if query.conditions else found


@catches("VEC-FILTER-5")
class TextFiltersByPrefix(ReferenceVector):
    """It takes a text for equal that begins alike."""

    def equal(self, left: Any, right: Any) -> bool:
        both = isinstance(left, str) and isinstance(right, str)
        return left.startswith(right) if both else super().equal(left, right)


@catches("VEC-FILTER-5")
class TextFiltersIgnoreCase(ReferenceVector):
    """It takes a text for equal that differs in letter case."""

    def equal(self, left: Any, right: Any) -> bool:
        both = isinstance(left, str) and isinstance(right, str)
        return left.lower() == right.lower() if both else super().equal(left, right)


@catches("VEC-FILTER-2")
class FilteredAfterTheCut(ReferenceVector):
    """It cuts to `top_k` and then applies the filter."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, replace(query, conditions=[]))
        items = self.space(call, query.namespace).items
        if query.conditions:
            result["matches"] = [
                match
                for match in result["matches"]
                if self.passes(items[match["vector"]["id"]].metadata, query.conditions)
            ]
            result["total_matches"] = len(result["matches"])
        return result


@catches("VEC-FILTER-2")
class FilteredAmongThreeTimesAsMany(ReferenceVector):
    """It applies the filter to three times as many vectors as were asked for."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        if not query.conditions:
            return super().search(call, query)
        result = super().search(call, replace(query, conditions=[], top_k=3 * query.top_k))
        items = self.space(call, query.namespace).items
        passing = [m for m in result["matches"] if self.passes(items[m["vector"]["id"]].metadata, query.conditions)]
        return {**result, "matches": passing[: query.top_k], "total_matches": len(passing)}


@catches("VEC-FILTER-3")
class OneTermIsEnough(ReferenceVector):
    """It lets pass what meets one term of a filter."""

    def passes(self, metadata: Mapping[str, Any], conditions: Sequence[Condition]) -> bool:
        return not conditions or any(self.holds(metadata, condition) for condition in conditions)


@catches("VEC-FILTER-3")
class LastTermCounts(ReferenceVector):
    """It applies the last term of a filter alone."""

    def passes(self, metadata: Mapping[str, Any], conditions: Sequence[Condition]) -> bool:
        return super().passes(metadata, conditions[-1:])


@catches("VEC-FILTER-4")
class NothingMeansEverything(ReferenceVector):
    """It searches without the filter where nothing passes it."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return super().select(space, query) or list(space.items.values())


@catches("VEC-FILTER-4")
class NothingIsAnError(ReferenceVector):
    """It refuses a query whose filter nothing passes."""

    def select(self, space: Space, query: Query) -> list[Item]:
        found = super().select(space, query)
        if query.conditions and not found:
            raise AdapterError("BadRequest", "Nothing passes the filter")
        return found


@catches("VEC-FILTER-5")
class NumbersDoNotFilter(ReferenceVector):
    """It compares as text, and finds no number."""

    def equal(self, left: Any, right: Any) -> bool:
        return isinstance(left, str | bool) and super().equal(left, right)


@catches("VEC-FILTER-5")
class FalseIsNoTerm(ReferenceVector):
    """It skips the terms of a filter whose value is false."""

    def read_term(self, name: str, term: Any) -> list[Condition]:
        return [] if term is False else super().read_term(name, term)


@catches("VEC-FILTER-5")
class ZeroIsNoTerm(ReferenceVector):
    """It skips the terms of a filter whose value is zero."""

    def read_term(self, name: str, term: Any) -> list[Condition]:
        return [] if term == 0 and not isinstance(term, bool) else super().read_term(name, term)


@catches("VEC-FILTER-6")
class MissingKeysPass(ReferenceVector):
    """It lets pass what does not have the key of a filter."""

    def holds(self, metadata: Mapping[str, Any], condition: Condition) -> bool:
        return condition.name not in metadata or super().holds(metadata, condition)


@catches("VEC-FILTER-6")
class NoMetadataPass(ReferenceVector):
    """It lets pass what has no metadata at all."""

    def passes(self, metadata: Mapping[str, Any], conditions: Sequence[Condition]) -> bool:
        return not metadata or super().passes(metadata, conditions)


@catches("VEC-FILTER-7")
class OperatorsAreIgnored(ReferenceVector):
    """It skips the terms of a filter that are operators."""

    def read_condition(self, name: str, sign: str, operand: Any) -> Condition:
        super().read_condition(name, sign, operand)
        return Condition(name, "any", operand)

    def holds(self, metadata: Mapping[str, Any], condition: Condition) -> bool:
        return condition.operator == "any" or super().holds(metadata, condition)


@catches("VEC-FILTER-7")
class LessIncludesTheLimit(ReferenceVector):
    """It takes `lt` for `lte`."""

    comparisons: Mapping[str, Callable[[Any, Any], bool]] = {
        **ReferenceVector.comparisons,
        "lt": ReferenceVector.comparisons["lte"],
    }


@catches("VEC-FILTER-7")
class FirstOfInIsExcluded(ReferenceVector):
    """It lets pass what is not the first value of `in`."""

    def holds(self, metadata: Mapping[str, Any], condition: Condition) -> bool:
        if condition.operator == "in":
            return condition.name in metadata and metadata[condition.name] != condition.operand[0]
        return super().holds(metadata, condition)


@catches("VEC-FILTER-7")
class ListsAreIgnored(ReferenceVector):
    """It skips the terms of a filter that are lists."""

    def read_term(self, name: str, term: Any) -> list[Condition]:
        return [] if isinstance(term, list) else super().read_term(name, term)


@catches("VEC-FILTER-8", control=FiltersDenied)
class DeniedFiltersAreIgnored(FiltersDenied):
    """It offers no filters, and answers as if none were given."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        terms = fields.values.get("filter")
        return [] if isinstance(terms, Mapping) and "vector" in fields.values else super().read_filter(fields)


@catches("VEC-FILTER-8", control=FiltersDenied)
class DeniedFiltersAreAnOutage(FiltersDenied):
    """It offers no filters, and calls itself unavailable where one is given."""

    def require(self, feature: str) -> None:
        if feature == "supports_filters":
            raise AdapterError("Unavailable", "Filters are not there")
        super().require(feature)


@catches("VEC-FILTER-9")
class StrangeFilterIsNone(ReferenceVector):
    """It takes a filter of a query that is no object for none."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        strange = "vector" in fields.values and not isinstance(fields.values.get("filter"), Mapping)
        return [] if strange else super().read_filter(fields)


@catches("VEC-FILTER-9")
class StrangeFilterIsAnOutage(ReferenceVector):
    """It trips over a filter that is no object, and calls itself unavailable."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        if fields.values.get("filter") is not None:
            fields = replace(fields, values={**fields.values, "filter": dict(fields.values["filter"].items())})
        return super().read_filter(fields)


@catches("VEC-FILTER-10")
class FullFilterIsRefused(ReferenceVector):
    """It refuses a filter of exactly as many terms as it states."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        conditions = super().read_filter(fields)
        if len(conditions) == self.max_filter_terms:
            raise self.beyond("args.filter", "max_filter_terms", self.max_filter_terms)
        return conditions


@catches("VEC-FILTER-10")
class LastTermOfAFullFilter(ReferenceVector):
    """It forgets the last of as many terms as it states."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        return super().read_filter(fields)[: self.max_filter_terms - 1]


@catches("VEC-FILTER-11")
class TermsAreOnlyStated(ReferenceVector):
    """It states `max_filter_terms` and takes any number."""

    def beyond(self, path: str, limit: str, largest: int, **details: Any) -> AdapterError:
        if limit == "max_filter_terms":
            raise KeyError(limit)
        return super().beyond(path, limit, largest, **details)

    def read_filter(self, fields: Fields) -> list[Condition]:
        try:
            return super().read_filter(fields)
        except KeyError:
            return [each for name, term in fields.values["filter"].items() for each in self.read_term(name, term)]


@catches("VEC-FILTER-11")
class TermsAreCut(ReferenceVector):
    """It drops the terms of a filter beyond as many as it states."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        terms = fields.values.get("filter")
        if isinstance(terms, Mapping):
            kept = dict(list(terms.items())[: self.max_filter_terms])
            fields = replace(fields, values={**fields.values, "filter": kept})
        return super().read_filter(fields)


@catches("VEC-FILTER-12")
class StrangeOperatorsFindNothing(ReferenceVector):
    """It finds nothing where it does not know an operator."""

    def read_condition(self, name: str, sign: str, operand: Any) -> Condition:
        if sign.removeprefix("$") in (*self.comparisons, "in"):
            return super().read_condition(name, sign, operand)
        return Condition(name, self.equality, {sign: operand})


@catches("VEC-FILTER-13")
class TrueIsOne(ReferenceVector):
    """It compares as its language does, to which true is 1."""

    def equal(self, left: Any, right: Any) -> bool:
        return bool(left == right)


@catches("VEC-FILTER-13")
class OneIsText(ReferenceVector):
    """It compares what values look like."""

    def equal(self, left: Any, right: Any) -> bool:
        return super().equal(left, right) or str(left) == str(right)


@catches("VEC-FILTER-14")
class EmptyFilterIsRefused(ReferenceVector):
    """It refuses an empty filter."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        if fields.values.get("filter") == {}:
            raise self.unreadable()
        return super().read_filter(fields)


@catches("VEC-FILTER-14")
class EmptyFilterFindsNothing(ReferenceVector):
    """It finds nothing where a filter is empty."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        empty = fields.values.get("filter") == {} and "vector" in fields.values
        return [Condition("", "in", [])] if empty else super().read_filter(fields)


@catches("VEC-DELETE-1")
class DeleteAnswersItsCount(ReferenceVector):
    """It answers a delete with the count of what it removed and nothing else."""

    async def delete(self, call: Call) -> dict[str, Any]:
        return {"processed_count": (await super().delete(call))["processed_count"]}


@catches("VEC-DELETE-1")
class DeletedIdsForACount(ReferenceVector):
    """It answers a delete with a list where a count belongs."""

    async def delete(self, call: Call) -> dict[str, Any]:
        return {**await super().delete(call), "processed_count": self.read_ids(call)}


@catches("VEC-DELETE-2")
class CacheOutlivesDeletes(ReferenceVector):
    """It forgets its cached answers when a vector is written and not when one is deleted."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        version = space.version
        removed = super().erase(call, namespace, ids, conditions)
        space.version = version
        return removed


@catches("VEC-DELETE-2")
class DeletesAreCountedOnly(ReferenceVector):
    """It counts what a delete by ids would remove, and removes nothing."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        kept = dict(space.items)
        removed = super().erase(call, namespace, ids, conditions)
        if ids:
            space.items = kept
        return removed


@catches("VEC-DELETE-3")
class FirstIdIsDeleted(ReferenceVector):
    """It deletes the first of the ids."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        return super().is_meant(item, ids[:1], conditions)


@catches("VEC-DELETE-3")
class LastIdIsKept(ReferenceVector):
    """It deletes all of several ids but the last, and counts it."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        if len(ids) < 2:
            return super().erase(call, namespace, ids, conditions)
        last = ids[-1] in self.space(call, namespace).items
        return super().erase(call, namespace, ids[:-1], conditions) + last


@catches("VEC-DELETE-4")
class DeletesByPrefixOfTheId(ReferenceVector):
    """It deletes every vector whose id begins with a given one."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        return super().is_meant(item, ids, conditions) or any(item.id.startswith(each) for each in ids)


@catches("VEC-DELETE-4")
class NeighbourIsDeletedToo(ReferenceVector):
    """It deletes the vector that was stored after the one that was named, too."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        stored = list(space.items)
        removed = super().erase(call, namespace, ids, conditions)
        for name in ids if len(ids) == 1 else []:
            for neighbour in stored[stored.index(name) + 1 :][:1] if name in stored else []:
                space.items.pop(neighbour, None)
        return removed


@catches("VEC-DELETE-5")
class OneIsDeletedByFilter(ReferenceVector):
    """It deletes the first vector that passes a filter."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        if ids:
            return super().erase(call, namespace, ids, conditions)
        items = self.space(call, namespace).items.values()
        found = [item.id for item in items if self.passes(item.metadata, conditions)]
        return super().erase(call, namespace, found[:1], []) if found else 0


@catches("VEC-DELETE-5")
class DeleteByFilterDoesNothing(ReferenceVector):
    """It answers a delete by filter, and removes nothing."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        return bool(ids) and super().is_meant(item, ids, conditions)


@catches("VEC-DELETE-6")
class DeleteByFilterEmpties(ReferenceVector):
    """It empties the namespace where a delete names no ids."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        return not ids or super().is_meant(item, ids, conditions)


@catches("VEC-DELETE-6")
class DeleteByAnyTerm(ReferenceVector):
    """It deletes what meets one term of a filter."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        if ids:
            return super().is_meant(item, ids, conditions)
        return any(self.holds(item.metadata, condition) for condition in conditions)


@catches("VEC-DELETE-6")
class DeleteWithoutTheKey(ReferenceVector):
    """It deletes by a filter what does not have its key, too."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        bare = not ids and any(condition.name not in item.metadata for condition in conditions)
        return bare or super().is_meant(item, ids, conditions)


@catches("VEC-DELETE-7")
class DeletesAreNotCounted(ReferenceVector):
    """It counts nothing when it deletes by ids."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        removed = super().erase(call, namespace, ids, conditions)
        return 0 if ids else removed


@catches("VEC-DELETE-7")
class DeletesCountWhatIsLeft(ReferenceVector):
    """It counts what a delete by ids left."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        removed = super().erase(call, namespace, ids, conditions)
        return removed + len(self.space(call, namespace).items) if removed and ids else removed


@catches("VEC-DELETE-8")
class DeleteOfNothingInParticular(ReferenceVector):
    """It answers a delete that names nothing, and does nothing."""

    async def delete(self, call: Call) -> dict[str, Any]:
        names = call.args.values.keys() & {"ids", "filter"}
        return await super().delete(call) if names else self.counts(0, [])


@catches("VEC-DELETE-8")
class DeleteOfNothingEmpties(ReferenceVector):
    """It empties the namespace where a delete names nothing."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.keys() & {"ids", "filter"}:
            return await super().delete(call)
        return self.counts(self.erase(call, self.read_namespace(call.args), [], []), [])


@catches("VEC-DELETE-9")
class OneIdIsAList(ReferenceVector):
    """It takes a string for a list of one id."""

    def read_ids(self, call: Call) -> list[str]:
        ids = call.args.values.get("ids")
        return [ids] if isinstance(ids, str) else super().read_ids(call)


@catches("VEC-DELETE-9")
class StrangeIdsAreSkipped(ReferenceVector):
    """It skips ids that are no strings."""

    def read_ids(self, call: Call) -> list[str]:
        ids = call.args.values.get("ids")
        if isinstance(ids, list) and any(not isinstance(each, str) for each in ids):
            return [each for each in ids if isinstance(each, str)] or ["none"]
        return super().read_ids(call)


@catches("VEC-DELETE-9")
class StrangeFilterOfADelete(ReferenceVector):
    """It takes a filter of a delete that is no object for one that finds nothing."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        term = fields.values.get("filter")
        strange = term is not None and not isinstance(term, Mapping) and "vector" not in fields.values
        return [Condition("", "in", [])] if strange else super().read_filter(fields)


@catches("VEC-DELETE-9")
class DeletedBeforeItIsRefused(ReferenceVector):
    """It deletes the sound ids of a list and then refuses the others."""

    def read_ids(self, call: Call) -> list[str]:
        try:
            return super().read_ids(call)
        except AdapterError:
            ids = call.args.values["ids"]
            sound = [each for each in ids if isinstance(each, str)] if isinstance(ids, list) else [ids]
            if sound:
                self.erase(call, self.read_namespace(call.args), sound, [])
            raise


@catches("VEC-DELETE-10")
class DeletedIdsAreGone(ReferenceVector):
    """It marks an id as deleted, and the mark stays when the id is written again."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.marked: set[tuple[int, str]] = set()

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        self.marked.update((id(space), name) for name in ids)
        return super().erase(call, namespace, ids, conditions)

    def select(self, space: Space, query: Query) -> list[Item]:
        return [item for item in super().select(space, query) if (id(space), item.id) not in self.marked]


@catches("VEC-DELETE-11")
class UnreadableFilterEmpties(ReferenceVector):
    """It takes a filter that it cannot read for none when it deletes."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        return super().erase(call, namespace, ids, [each for each in conditions if each.operator != "any"])

    def read_condition(self, name: str, sign: str, operand: Any) -> Condition:
        try:
            return super().read_condition(name, sign, operand)
        except AdapterError:
            return Condition(name, "any", operand)

    def select(self, space: Space, query: Query) -> list[Item]:
        if any(condition.operator == "any" for condition in query.conditions):
            raise self.unreadable()
        return super().select(space, query)


@catches("VEC-DELETE-11")
class OperatorsAreLostInDeletes(ReferenceVector):
    """It knows operators in queries, and takes them for anything in deletes."""

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        equalities = [condition for condition in conditions if condition.operator == self.equality]
        return super().is_meant(item, ids, equalities)


@catches("VEC-DELETE-11", control=FiltersDenied)
class DeniedFilterDeletes(FiltersDenied):
    """It offers no filters, and empties the namespace where a delete has one."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("filter") and not call.args.values.get("ids"):
            return self.counts(self.erase(call, self.read_namespace(call.args), [], []), [])
        return await super().delete(call)


@catches("VEC-DELETE-12")
class NoIdsAreAllIds(ReferenceVector):
    """It empties the namespace where the list of ids is empty."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("ids") == [] and not call.args.values.get("filter"):
            return self.counts(self.erase(call, self.read_namespace(call.args), [], []), [])
        return await super().delete(call)


@catches("VEC-DELETE-13")
class UnknownIdsAreRefused(ReferenceVector):
    """It refuses to delete an id that is not there."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        if any(each not in self.space(call, namespace).items for each in ids):
            raise AdapterError("BadRequest", "An id does not exist")
        return super().erase(call, namespace, ids, conditions)


@catches("VEC-DELETE-13")
class UnknownIdsAreCounted(ReferenceVector):
    """It counts the ids that it was given, those that are not there included."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        removed = super().erase(call, namespace, ids, conditions)
        return len(ids) if ids else removed


@catches("VEC-DELETE-14")
class DeletesByFilterAreNotCounted(ReferenceVector):
    """It counts nothing when it deletes by a filter."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        removed = super().erase(call, namespace, ids, conditions)
        return removed if ids else 0
