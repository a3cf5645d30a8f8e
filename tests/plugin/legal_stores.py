"""Legal vector stores that real back ends resemble: approximate search, refused zeros, deletes by id only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item, Space


class Documented(ReferenceVector):
    """States further facts under `extensions`."""

    said: ClassVar[dict[str, Any]] = {}

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {**stated, "extensions": {**stated["extensions"], **self.said}}


class FortyAtMost(ReferenceVector):
    """Finds 40 matches at most, as HNSW with `ef_search` 40 does, in namespaces that take 500; says nothing of it."""

    max_batch_size = 500
    max_top_k = 1000

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        return super().rank(space, hits)[:40]


class Hnsw(Documented, FortyAtMost):
    """Applies filters to the 40 candidates of its index, as pgvector does, and says so in a sentence."""

    said: ClassVar[dict[str, Any]] = {
        "acme:index": "HNSW, m = 16, ef_search = 40",
        "acme:notes": "Postfiltering: a filtered query can return fewer than top_k matches.",
    }

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        space = self.space(call, query.namespace)
        candidates = self.rank(space, [self.hit(space, query, item) for item in self.candidates(space, query)])
        met = [hit for hit in candidates if self.passes(hit.item.metadata, query.conditions)][: query.top_k]
        return {**super().search(call, query), "matches": [self.match(query, hit) for hit in met]}

    def candidates(self, space: Space, query: Query) -> list[Item]:
        return list(space.items.values())


class Ivf(Documented):
    """Looks at the cell of the query alone, as IVFFlat with one probe does."""

    said: ClassVar[dict[str, Any]] = {"acme:search": "approximate (IVFFlat, one probe)"}

    def select(self, space: Space, query: Query) -> list[Item]:
        return [item for item in super().select(space, query) if self.cell(item) == self.cell(query)]

    def cell(self, placed: Item | Query) -> int:
        return cell(placed.vector)


class IvfElsewhere(Ivf):
    """Has a border of its cells between the directions of 10 and 11 degrees: alike queries find other vectors."""

    def cell(self, placed: Item | Query) -> int:
        return cell(placed.vector, 34.5)


class IvfPostFiltered(Hnsw):
    """Looks at one cell, takes 40 candidates of it, and filters those."""

    said: ClassVar[dict[str, Any]] = {
        **Hnsw.said,
        "acme:index": {"kind": "ivfflat", "lists": 8, "probes": 1},
    }

    def candidates(self, space: Space, query: Query) -> list[Item]:
        return [item for item in space.items.values() if cell(item.vector) == cell(query.vector)]


def cell(vector: Sequence[float], border: float = 13) -> int:
    """One of eight directions; vectors on a line lie in cells of different lengths."""
    if len(vector) == 1:
        return int(vector[0] * 4)
    return int((math.degrees(math.atan2(vector[1], vector[0])) + 180 + border) // 45)


class DeletesByIdOnly(ReferenceVector):
    """Filters queries, and refuses to delete by a filter."""

    async def delete(self, call: Call) -> dict[str, Any]:
        if call.args.values.get("filter") is not None:
            raise AdapterError("NotSupported", "deletes take ids")
        return await super().delete(call)


class RefusesZeros(ReferenceVector):
    """Takes no vector of zeros, whatever the metric, in writes and queries."""

    def read_vector(self, fields: Fields) -> list[float]:
        vector = super().read_vector(fields)
        if not any(vector):
            raise fields.invalid("vector", "ZERO", "must have a direction")
        return vector


class PostFilteringInASentence(Documented):
    """Applies filters to the best matches of all, as a sentence of its capabilities says."""

    said: ClassVar[dict[str, Any]] = {"acme:notes": ["Postfiltering: fewer than top_k matches may be left."]}

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        space = self.space(call, query.namespace)
        best = self.rank(space, [self.hit(space, query, item) for item in space.items.values()])[: query.top_k]
        met = [hit for hit in best if self.passes(hit.item.metadata, query.conditions)]
        return {**super().search(call, query), "matches": [self.match(query, hit) for hit in met]}


class DeletesNothing(ReferenceVector):
    """Accepts a delete that names nothing, and removes nothing."""

    async def delete(self, call: Call) -> dict[str, Any]:
        ids, conditions = self.read_ids(call), self.read_filter(call.args)
        if not ids and not conditions:
            self.space(call, self.read_namespace(call.args))
            return self.counts(0, [])
        return await super().delete(call)


LEGAL: tuple[type[ReferenceVector], ...] = (
    FortyAtMost,
    Hnsw,
    Ivf,
    IvfElsewhere,
    IvfPostFiltered,
    DeletesByIdOnly,
    RefusesZeros,
    PostFilteringInASentence,
    DeletesNothing,
)
"""Each violates no MUST."""
