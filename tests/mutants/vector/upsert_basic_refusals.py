"""Mistakes with items that cannot be stored, which vector/test_upsert_basic.py finds (VEC-UPSERT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.store import Item

from .. import catches
from .legal import Failed, ItemByItem, MalformedItemByItem


@catches("VEC-UPSERT-11", control=ItemByItem)
class FailedOnesCountAsStored(ItemByItem):
    """It counts what it was given, failed ones included."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        return {**super().write(call, namespace, items), "processed_count": len(items)}


@catches("VEC-UPSERT-11", control=ItemByItem)
class FailedCountIsForgotten(ItemByItem):
    """It lists the failures and says that none failed."""

    def counts(self, processed: int, failures: list[dict[str, Any]]) -> dict[str, Any]:
        return {**super().counts(processed, failures), "failed_count": 0}


@catches("VEC-UPSERT-8")
class IdsAreMadeUp(ReferenceVector):
    """It makes up an id where an item has none."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        if fields.values.get("id") is None:
            fields = replace(fields, values={**fields.values, "id": f"auto-{next(self.versions)}"})
        return super().read_item(fields, namespace)


@catches("VEC-UPSERT-8")
class ItemsWithoutVectorAreSkipped(ReferenceVector):
    """It skips an item that has no vector and says nothing of it."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        vectors = call.args.values.get("vectors")
        if isinstance(vectors, list):
            kept = [each for each in vectors if not isinstance(each, Mapping) or each.get("vector") is not None]
            call.args = replace(call.args, values={**call.args.values, "vectors": kept})
        return super().read_items(call, namespace)


@catches("VEC-UPSERT-9")
class NumericIdsBecomeText(ReferenceVector):
    """It takes a number for an id."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        if isinstance(fields.values.get("id"), int):
            fields = replace(fields, values={**fields.values, "id": str(fields.values["id"])})
        return super().read_item(fields, namespace)


@catches("VEC-UPSERT-9")
class TextIsANumber(ReferenceVector):
    """It takes whatever float() takes for a component of a vector that it stores."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        vector = fields.values.get("vector")
        if isinstance(vector, list) and any(isinstance(each, str) for each in vector):
            fields = replace(fields, values={**fields.values, "vector": [self.number(each) for each in vector]})
        return super().read_item(fields, namespace)

    def number(self, value: Any) -> float:
        """The number in a text, or 0."""
        try:
            return float(value)
        except ValueError:
            return 0.0


@catches("VEC-UPSERT-9")
class StrangeMetadataIsDropped(ReferenceVector):
    """It stores an item without its metadata where they are not an object."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        return super().read_metadata(fields) if isinstance(fields.values.get("metadata"), Mapping) else {}


@catches("VEC-UPSERT-9")
class StrangeMetadataIsAnOutage(ReferenceVector):
    """It trips over metadata that are not an object, and calls itself unavailable."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        return {str(key): value for key, value in (fields.values.get("metadata") or {}).items()}


@catches("VEC-UPSERT-10")
class NoVectorsNoWork(ReferenceVector):
    """It takes an upsert without `vectors` for an empty one."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        return super().read_items(call, namespace) if "vectors" in call.args.values else []


@catches("VEC-UPSERT-10")
class OneVectorIsABatch(ReferenceVector):
    """It takes an object for a list of one."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        vectors = call.args.values.get("vectors")
        if isinstance(vectors, Mapping):
            call.args = replace(call.args, values={**call.args.values, "vectors": [vectors]})
        return super().read_items(call, namespace)


@catches("VEC-UPSERT-11", control=ItemByItem)
class FailureEndsTheBatch(ItemByItem):
    """It stops at the first item that fails, and says nothing of those after it."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        failures = self.check_items(call, namespace, items)
        reached = items[: failures[0][0] + 1] if failures else items
        return super().write(call, namespace, reached)


@catches("VEC-UPSERT-11")
class RefusedBatchIsHalfStored(ReferenceVector):
    """It refuses a batch at the item that fails, and has stored those before it."""

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Any:
        for item in items:
            super().check_items(call, namespace, [item])
            space = self.space(call, namespace)
            self.store(space, item)
            self.touch(space)
        return []


@catches("VEC-UPSERT-11", control=ItemByItem)
class NeighbourFailsToo(ItemByItem):
    """It loses the item after one that failed, and does not report it."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        result = super().write(call, namespace, items)
        space = self.space(call, namespace)
        for index, _ in self.check_items(call, namespace, items):
            for lost in items[index + 1 : index + 2]:
                space.items.pop(lost.id, None)
        self.touch(space)
        return result


@catches("VEC-UPSERT-12", control=ItemByItem)
class FailuresHaveNoIndex(ItemByItem):
    """It reports failures by their id alone."""

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        failure = super().failed_item(index, item, error)
        del failure["index"]
        return failure


@catches("VEC-UPSERT-12", control=ItemByItem)
class FailuresCountFromOne(ItemByItem):
    """It counts the items of a batch from one."""

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        return super().failed_item(index + 1, item, error)


@catches("VEC-UPSERT-12", control=ItemByItem)
class FailuresNameAnException(ItemByItem):
    """It reports the name of its own exception as the error of an item."""

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        return {**super().failed_item(index, item, error), "error": "ValueError"}


@catches("VEC-UPSERT-11", control=MalformedItemByItem)
class MalformedItemsHideTheOthers(MalformedItemByItem):
    """It forgets the items that do not fit where others cannot even be read."""

    def merged(self, malformed: Failed, result: dict[str, Any]) -> dict[str, Any]:
        return super().merged(malformed, {**result, "failures": []} if malformed else result)
