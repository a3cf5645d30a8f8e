"""Mistakes of approximate searches that vector/test_query_basic.py and others find (R113)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item, Space

from .. import catches
from .legal import Approximate


@catches("VEC-QUERY-3", control=Approximate)
class SomeAreNeverFound(Approximate):
    """It has no place in its index for vectors of some directions."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return [item for item in super().select(space, query) if not (0 < item.vector[0] < 0.2)]


@catches("VEC-QUERY-3", others=4)
class TwoRowsForOneId(ReferenceVector):
    """It merges a batch into a table: two items of one new id are two rows from then on."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.rows: dict[tuple[int, str], list[Item]] = {}

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space = self.space(call, namespace)
        for name in {item.id for item in items}:
            self.rows[id(space), name] = [item for item in items if item.id == name][:-1]
        return super().write(call, namespace, items)

    def select(self, space: Space, query: Query) -> list[Item]:
        found = super().select(space, query)
        return [*found, *(row for item in found for row in self.rows.get((id(space), item.id), []))]


@catches("VEC-QUERY-19", control=Approximate)
class CellsAreSmall(Approximate):
    """It looks at one of very many cells."""

    def cell(self, vector: Sequence[float]) -> Any:
        return int(math.degrees(math.atan2(vector[1], vector[0])) // 20) if len(vector) > 1 else 0


@catches("VEC-SCORE-1", control=Approximate)
class ApproximatelyInOrder(Approximate):
    """It gives the best match of a cell first, and the others from the worst to the best."""

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        ranked = super().rank(space, hits)
        return [*ranked[:1], *ranked[:0:-1]] if space.metric == "cosine" else ranked


@catches("VEC-SCORE-4", control=Approximate)
class ApproximateScores(Approximate):
    """It scores a better match of a cell lower."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        found = super().search(call, query)
        last = min((match["score"] for match in found["matches"]), default=0)
        return {**found, "matches": [{**match, "score": -match["score"] + last} for match in found["matches"]]}


@catches("VEC-NS-2", control=Approximate, others=0)
class CellsAreShared(Approximate):
    """It keeps the vectors of all namespaces in the same cells."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return [
            item
            for spaces in self.tenants.values()
            if space in spaces.values()
            for each in spaces.values()
            if (each.dimensions, each.metric) == (space.dimensions, space.metric)
            for item in super(CellsAreShared, self).select(each, query)
        ]


@catches("COM-TENANT-1", control=Approximate)
class CellsOfAllTenants(Approximate):
    """It finds what another tenant wrote to a namespace of the same name."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        space = self.space(call, query.namespace)
        others = (spaces.get(query.namespace) for spaces in self.tenants.values())
        items = {item.id: item for each in others if each for item in each.items.values()} | space.items
        merged = Space(space.metric, space.dimensions, items)
        ranked = self.rank(merged, [self.hit(merged, query, item) for item in self.select(merged, query)])
        matches = [self.match(query, hit) for hit in ranked[: query.top_k]]
        return {**super().search(call, query), "matches": matches, "total_matches": len(ranked)}


@catches("VEC-DELETE-2", control=Approximate)
class DeletedOnesStayInTheirCells(Approximate):
    """It keeps the last vector that was deleted in the index."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.gone: dict[int, list[Item]] = {}

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Any]) -> int:
        space = self.space(call, namespace)
        self.gone[id(space)] = [item for item in space.items.values() if self.is_meant(item, ids, conditions)]
        return super().erase(call, namespace, ids, conditions)

    def select(self, space: Space, query: Query) -> list[Item]:
        cell = self.cell(query.vector)
        gone = [item for item in self.gone.get(id(space), []) if self.cell(item.vector) == cell]
        return [*super().select(space, query), *(item for item in gone if item.id not in space.items)]


@catches("VEC-FILTER-1", control=Approximate)
class CellsAreNotFiltered(Approximate):
    """It gives matches of a cell that the filter refuses."""

    def select(self, space: Space, query: Query) -> list[Item]:
        return [item for item in space.items.values() if self.cell(item.vector) == self.cell(query.vector)]
