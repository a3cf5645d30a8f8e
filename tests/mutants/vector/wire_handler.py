"""Mistakes that vector/test_wire_handler.py finds (COM-CONC, COM-NUM)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query

from .. import catches
from ..common.shared import op_of


@catches("COM-CONC-1")
class QueryKeptInTheAdapter(ReferenceVector):
    """It keeps the query in the adapter object while it waits for the provider."""

    current: Query

    async def answer(self, call: Call, query: Query) -> dict[str, Any]:
        self.current = query
        await asyncio.sleep(0)
        await self.reach(call)
        return self.search(call, self.current)


@catches("COM-NUM-1")
class NanIsStoredAsZero(ReferenceVector):
    """It stores zero where a component of a vector is NaN."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "vector.upsert" and name == "args":
            return super().read_section({**envelope, name: tamed(envelope.get(name))}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-1")
class InfiniteMetadataAreTaken(ReferenceVector):
    """It looks at the numbers of vectors and not at those of metadata."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        args = envelope.get(name)
        if op_of(envelope) != "vector.upsert" or not isinstance(args, Mapping):
            return super().read_section(envelope, name)
        vectors = args.get("vectors")
        if isinstance(vectors, list):
            args = {**args, "vectors": [self.tamed(each) for each in vectors]}
        return super().read_section({**envelope, name: args}, name)

    def tamed(self, item: Any) -> Any:
        """The item with zeros in its metadata where they are not finite."""
        if not isinstance(item, Mapping) or not isinstance(item.get("metadata"), Mapping):
            return item
        return {**item, "metadata": tamed(item["metadata"])}


@catches("COM-NUM-1")
class NanInBatchesIsZero(ReferenceVector):
    """It takes NaN for zero in the queries of a batch."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "vector.batch_query" and name == "args":
            return super().read_section({**envelope, name: tamed(envelope.get(name))}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-2")
class CosineOfZeroIsNan(ReferenceVector):
    """It divides by the length of a vector that has none."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        return super().cosine(left, right) if any(left) and any(right) else (math.nan, math.nan)


def tamed(value: Any) -> Any:
    """The same with zeros where numbers are not finite."""
    if isinstance(value, Mapping):
        return {key: tamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [tamed(each) for each in value]
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value
