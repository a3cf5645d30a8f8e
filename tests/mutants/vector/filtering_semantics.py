"""Mistakes that vector/test_filtering_semantics.py finds (VEC-FILTER)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Condition, Item, Space

from .. import catches
from .legal import FiltersDenied, PostFiltered


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


@catches("VEC-FILTER-5", others=5)
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
class OddOperandsAreATypeError(ReferenceVector):
    """It compares with whatever operand a filter has, which makes a text beside a number UNAVAILABLE."""

    def read_condition(self, name: str, sign: str, operand: Any) -> Condition:
        if sign.removeprefix("$") in self.comparisons:
            return Condition(name, sign.removeprefix("$"), operand)
        return super().read_condition(name, sign, operand)


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
    """It takes a filter of a query that is not an object for none."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        strange = "vector" in fields.values and not isinstance(fields.values.get("filter"), Mapping)
        return [] if strange else super().read_filter(fields)


@catches("VEC-FILTER-9")
class StrangeFilterIsAnOutage(ReferenceVector):
    """It trips over a filter that is not an object, and calls itself unavailable."""

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


@catches("VEC-FILTER-2")
class FilteredAmongForty(ReferenceVector):
    """It applies the filter to the 40 candidates of its index, and says nothing of it."""

    candidates = 40

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        space = self.space(call, query.namespace)
        ranked = self.rank(space, [self.hit(space, query, item) for item in space.items.values()])
        met = [hit for hit in ranked[: self.candidates] if self.passes(hit.item.metadata, query.conditions)]
        found = super().search(call, query)
        return (
            {**found, "matches": [self.match(query, hit) for hit in met[: query.top_k]]} if query.conditions else found
        )


@catches("VEC-FILTER-2")
class FilteredAmongHundreds(FilteredAmongForty):
    """It applies the filter to the 300 candidates of its index, and says nothing of it."""

    candidates = 300


@catches("VEC-FILTER-2")
class AllThatPassesTheFilter(ReferenceVector):
    """It gives everything that passes a filter, however few were asked for."""

    def read_query(self, fields: Fields, namespace: str) -> Query:
        query = super().read_query(fields, namespace)
        return replace(query, top_k=self.max_top_k) if query.conditions else query


@catches("VEC-FILTER-15")
class ListsAreNoText(ReferenceVector):
    """It fails as its backend would where a list meets a text."""

    def equal(self, left: Any, right: Any) -> bool:
        if isinstance(left, list) and isinstance(right, str):
            raise TypeError("no text")
        return super().equal(left, right)


@catches("VEC-FILTER-15")
class WordsWithinATextWithNulls(ReferenceVector):
    """It looks for a word anywhere in a text where the key is null elsewhere, for its index is one of texts then."""

    def select(self, space: Space, query: Query) -> list[Item]:
        found = super().select(space, query)
        for condition in query.conditions:
            values = [item.metadata.get(condition.name, "") for item in space.items.values()]
            if None in values and isinstance(condition.operand, str):
                texts = [item for item in space.items.values() if isinstance(item.metadata.get(condition.name), str)]
                return [item for item in texts if condition.operand in item.metadata[condition.name]]
        return found


@catches("VEC-FILTER-2", control=PostFiltered)
class BestIsLostInPostFiltering(PostFiltered):
    """It leaves out the best match where a filter narrows the matches down."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        found = super().search(call, query)
        narrowed = query.conditions and len(found["matches"]) < found["total_matches"]
        return {**found, "matches": found["matches"][1:]} if narrowed else found
