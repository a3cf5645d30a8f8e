"""Vectors survive the adapter that wrote them."""

import asyncio
from pathlib import Path
from typing import Any

from vector_chroma import Adapter, Provider

ITEM = {"id": "a", "vector": [3.0, 4.0], "metadata": {"kind": "note", "tags": [], "none": None}}


def ask(path: Path, *requests: tuple[str, dict[str, Any]]) -> list[Any]:
    """Send requests to a new adapter and return the results."""

    async def session() -> list[Any]:
        adapter = Adapter(Provider(str(path)))
        answers = [await adapter.handle({"op": op, "ctx": {}, "args": args}) for op, args in requests]
        await adapter.aclose()
        return [answer["result"] for answer in answers]

    return asyncio.run(session())


def test_vectors_survive_the_adapter(tmp_path: Path) -> None:
    """Another adapter of the same folder finds the vector and its metadata."""
    ask(
        tmp_path,
        ("vector.create_namespace", {"namespace": "a b/é", "dimensions": 2, "distance_metric": "euclidean"}),
        ("vector.upsert", {"namespace": "a b/é", "vectors": [ITEM]}),
    )
    query = {"namespace": "a b/é", "vector": [3, 4], "top_k": 5, "include_vectors": True, "filter": {"kind": "note"}}
    (found,) = ask(tmp_path, ("vector.query", query))
    assert [match["vector"] for match in found["matches"]] == [{"namespace": "a b/é", **ITEM}]
