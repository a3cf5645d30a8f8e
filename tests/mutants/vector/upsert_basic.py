"""Mistakes that vector/test_upsert_basic.py finds (VEC-STATE, VEC-UPSERT)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Space

from .. import catches


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


@catches("VEC-UPSERT-1")
class UpsertAnswersIds(ReferenceVector):
    """It answers an upsert with the ids that it stored and no counts."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        super().write(call, namespace, items)
        return {"upserted_ids": [item.id for item in items]}


@catches("VEC-UPSERT-1")
class NoFailuresNoList(ReferenceVector):
    """It leaves `failures` out of an upsert's answer where there are none."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        result = super().write(call, namespace, items)
        return {key: value for key, value in result.items() if key != "failures"}


@catches("VEC-UPSERT-2")
class CacheOutlivesUpserts(ReferenceVector):
    """It forgets its cached answers when a vector is deleted and not when one is written."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space = self.space(call, namespace)
        version = space.version
        result = super().write(call, namespace, items)
        space.version = version
        return result


@catches("VEC-UPSERT-2")
class LateComersAreLost(ReferenceVector):
    """It builds the index of a namespace at the first write, and adds no single new vector to it."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space = self.space(call, namespace)
        known = dict(space.items)
        result = super().write(call, namespace, items)
        if known and len(items) == 1 and items[0].id not in known:
            del space.items[items[0].id]
        return result


@catches("VEC-UPSERT-3")
class LastOfABatchIsLost(ReferenceVector):
    """It stores all of a batch but the last one."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        stored = items[:-1] if len(items) > 1 else items
        super().write(call, namespace, stored)
        return self.counts(len(items), [])


@catches("VEC-UPSERT-3")
class RemainderOfPagesIsLost(ReferenceVector):
    """It sends the provider whole pages of four vectors and forgets the rest of a longer batch."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        whole = len(items) - len(items) % 4 if len(items) > 4 else len(items)
        super().write(call, namespace, items[:whole])
        return self.counts(len(items), [])


@catches("VEC-UPSERT-4")
class KnownIdsAreSkipped(ReferenceVector):
    """It inserts and never updates."""

    def store(self, space: Space, item: Item) -> None:
        if item.id not in space.items:
            super().store(space, item)


@catches("VEC-UPSERT-4")
class UpdateKeepsTheVector(ReferenceVector):
    """It updates the metadata of a known id and keeps its vector."""

    def store(self, space: Space, item: Item) -> None:
        known = space.items.get(item.id)
        super().store(space, replace(item, vector=known.vector) if known else item)


@catches("VEC-UPSERT-4")
class OldVectorStaysInTheIndex(ReferenceVector):
    """It adds the vector of a known id to the index beside the old one."""

    def store(self, space: Space, item: Item) -> None:
        known = space.items.get(item.id)
        if known is not None:
            space.items[f"{item.id}#{len(space.items)}"] = known
        super().store(space, item)

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        before = space.items
        space.items = {key: item for key, item in before.items() if not self.is_meant(item, ids, conditions)}
        self.touch(space)
        return len(before) - len(space.items)


@catches("VEC-UPSERT-5")
class UpdateKeepsTheMetadata(ReferenceVector):
    """It updates the vector of a known id and keeps its metadata."""

    def store(self, space: Space, item: Item) -> None:
        known = space.items.get(item.id)
        super().store(space, replace(item, metadata=known.metadata) if known else item)


@catches("VEC-UPSERT-5")
class FilterSeesTheFirstMetadata(ReferenceVector):
    """It indexes metadata for filters when an id is new, and not again."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.indexed: dict[tuple[int, str], Mapping[str, Any]] = {}

    def store(self, space: Space, item: Item) -> None:
        if item.id not in space.items:
            self.indexed[id(space), item.id] = item.metadata
        super().store(space, item)

    def select(self, space: Space, query: Query) -> list[Item]:
        items = space.items.values()
        return [item for item in items if self.passes(self.indexed[id(space), item.id], query.conditions)]


@catches("VEC-UPSERT-6")
class NumbersBecomeText(ReferenceVector):
    """It gives the numbers of `metadata` back as strings."""

    def match(self, query: Query, hit: Any) -> dict[str, Any]:
        match = super().match(query, hit)
        metadata = match["vector"].get("metadata", {})
        for key, value in metadata.items():
            metadata[key] = str(value) if type(value) in (int, float) else value
        return match


@catches("VEC-UPSERT-6")
class BooleansBecomeNumbers(ReferenceVector):
    """It gives the booleans of `metadata` back as 0 and 1."""

    def match(self, query: Query, hit: Any) -> dict[str, Any]:
        match = super().match(query, hit)
        metadata = match["vector"].get("metadata", {})
        for key, value in metadata.items():
            metadata[key] = int(value) if isinstance(value, bool) else value
        return match


@catches("VEC-UPSERT-6")
class MetadataInLatinOne(ReferenceVector):
    """It stores the text of `metadata` in an encoding that does not know every script."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        metadata = super().read_metadata(fields)
        return {
            key: value.encode("latin-1", "replace").decode("latin-1") if isinstance(value, str) else value
            for key, value in metadata.items()
        }


@catches("VEC-UPSERT-7")
class UpdatesAreNotCounted(ReferenceVector):
    """It counts the ids that were new."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        before = len(self.space(call, namespace).items)
        super().write(call, namespace, items)
        return self.counts(len(self.space(call, namespace).items) - before, [])


@catches("VEC-UPSERT-7")
class CountIsACall(ReferenceVector):
    """It counts a batch as one."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        super().write(call, namespace, items)
        return self.counts(min(1, len(items)), [])


@catches("VEC-UPSERT-13")
class IdsInLowerCase(ReferenceVector):
    """It keeps its ids in lower case."""

    def store(self, space: Space, item: Item) -> None:
        twin = next((known for known in space.items if known.lower() == item.id.lower()), None)
        if twin is not None:
            del space.items[twin]
        super().store(space, item)


@catches("VEC-UPSERT-13")
class IdsWithoutSpaces(ReferenceVector):
    """It strips the spaces around an id."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        return replace(item, id=item.id.strip() or item.id)


@catches("VEC-UPSERT-13")
class IdsInAscii(ReferenceVector):
    """It leaves out of an id what is not ASCII."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        return replace(item, id=item.id.encode("ascii", "ignore").decode() or item.id)


@catches("VEC-UPSERT-18", others=0)
class OnlyUuidsAreIds(ReferenceVector):
    """It refuses an id that is not a UUID, as its backend does."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        self.check_id(fields, item.id)
        return item

    def read_ids(self, call: Call) -> list[str]:
        ids = super().read_ids(call)
        for name in ids:
            self.check_id(call.args, name)
        return ids

    def check_id(self, fields: Fields, name: str) -> None:
        try:
            uuid.UUID(name)
        except ValueError:
            raise fields.invalid("id", "SYNTAX", "must be a UUID") from None


@catches("VEC-UPSERT-14")
class ItemsOfElsewhereAreLost(ReferenceVector):
    """It skips an item that names another namespace than the upsert."""

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        vectors = call.args.values.get("vectors")
        if isinstance(vectors, list):
            kept = [each for each in vectors if self.is_here(each, namespace)]
            call.args = replace(call.args, values={**call.args.values, "vectors": kept})
        return super().read_items(call, namespace)

    def is_here(self, item: Any, namespace: str) -> bool:
        """Whether an item names the namespace, or none, or is none."""
        return not isinstance(item, Mapping) or item.get("namespace") in (None, namespace)


@catches("VEC-UPSERT-15")
class NullsAreLeftOut(ReferenceVector):
    """It stores no metadata that are null."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        return {key: value for key, value in super().read_metadata(fields).items() if value is not None}


@catches("VEC-UPSERT-15")
class ListsBecomeText(ReferenceVector):
    """It gives the lists of `metadata` back as text."""

    def match(self, query: Query, hit: Any) -> dict[str, Any]:
        match = super().match(query, hit)
        metadata = match["vector"].get("metadata", {})
        for key, value in metadata.items():
            metadata[key] = ", ".join(map(str, value)) if isinstance(value, list) else value
        return match


@catches("VEC-UPSERT-16")
class MetadataAreMerged(ReferenceVector):
    """It adds the new metadata of a known id to the old ones."""

    def store(self, space: Space, item: Item) -> None:
        known = space.items.get(item.id)
        super().store(space, replace(item, metadata={**known.metadata, **item.metadata}) if known else item)


@catches("VEC-UPSERT-17")
class FirstOfTwinsCounts(ReferenceVector):
    """It stores a batch from its end, so that of two items with one id the first one stays."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        return super().write(call, namespace, items[::-1])
