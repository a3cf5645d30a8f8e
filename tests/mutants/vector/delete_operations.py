"""Mistakes that vector/test_delete_operations.py finds (VEC-DELETE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Condition, Item, Space

from .. import catches
from .legal import FiltersDenied


@catches("VEC-DELETE-1")
class DeleteAnswersItsCount(ReferenceVector):
    """It answers a delete with the count of what it removed and nothing else."""

    async def delete(self, call: Call) -> dict[str, Any]:
        return {"processed_count": (await super().delete(call))["processed_count"]}


@catches("VEC-DELETE-1", others=4)
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


@catches("VEC-DELETE-15")
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
    """It skips ids that are not strings."""

    def read_ids(self, call: Call) -> list[str]:
        ids = call.args.values.get("ids")
        if isinstance(ids, list) and any(not isinstance(each, str) for each in ids):
            return [each for each in ids if isinstance(each, str)] or ["none"]
        return super().read_ids(call)


@catches("VEC-DELETE-9")
class StrangeFilterOfADelete(ReferenceVector):
    """It takes a filter of a delete that is not an object for one that finds nothing."""

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


@catches("VEC-DELETE-2")
class DeletedVectorsComeBack(ReferenceVector):
    """It brings back the vector that was deleted last with the next delete."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.last: dict[str, dict[str, Item]] = {}

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Condition]) -> int:
        items = self.space(call, namespace).items
        before = dict(items)
        removed = super().erase(call, namespace, ids, conditions)
        gone = {name: item for name, item in before.items() if name not in items}
        if gone:
            items.update(self.last.get(namespace, {}))
            self.last[namespace] = gone
        return removed


@catches("VEC-DELETE-7")
class UnknownIdsHideKnownOnes(ReferenceVector):
    """It counts nothing where one of the ids is unknown."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        removed = super().erase(call, namespace, ids, conditions)
        return removed if removed >= len(ids) else 0


@catches("VEC-DELETE-15")
class NullsAreNoIds(ReferenceVector):
    """It answers a delete whose `ids` is null, and does nothing."""

    async def delete(self, call: Call) -> dict[str, Any]:
        values = call.args.values
        nothing = "ids" in values and values["ids"] is None and values.get("filter") is None
        return self.counts(0, []) if nothing else await super().delete(call)


@catches("VEC-DELETE-8")
class NullsAreAllIds(ReferenceVector):
    """It empties the namespace where both `ids` and `filter` are null."""

    async def delete(self, call: Call) -> dict[str, Any]:
        values = call.args.values
        if values.keys() >= {"ids", "filter"} and values["ids"] is None and values["filter"] is None:
            return self.counts(self.erase(call, self.read_namespace(call.args), [], []), [])
        return await super().delete(call)
