"""Exact search in one namespace."""

from typing import Any

from pytest_corpus.reference.request import Call, copy_json
from pytest_corpus.reference.vector.arguments import QueryArguments
from pytest_corpus.reference.vector.namespaces import Namespaces
from pytest_corpus.reference.vector.store import Hit, Item, Space


class Search(Namespaces):
    """Selects, ranks and returns the items that match a query."""

    vectors_always = True
    """True if matches always have their vectors, because edition 1.0.0 requires them."""

    def search(self, call: Call, query: QueryArguments) -> dict[str, Any]:
        """Return the result of a query: filter, then rank, then cut (SPECIFICATION 9.3)."""
        space = self.space(call, query.namespace)
        found = self.select(space, query)
        ranked = self.rank(space, [self.hit(space, query, item) for item in found])
        return {
            "matches": [self.match(query, hit) for hit in ranked[: query.top_k]],
            "query_vector": list(query.vector),
            "namespace": query.namespace,
            "total_matches": len(found),
        }

    def select(self, space: Space, query: QueryArguments) -> list[Item]:
        return [item for item in space.items.values() if self.passes(item.metadata, query.conditions)]

    def hit(self, space: Space, query: QueryArguments, item: Item) -> Hit:
        return Hit(item, *self.measure(space.metric, query.vector, item.vector))

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:  # noqa: ARG002 - has what a variant may rank by
        """Sort hits best first; equal hits by their ids."""
        return sorted(hits, key=lambda hit: (-hit.score, hit.distance, hit.item.id))

    def match(self, query: QueryArguments, hit: Hit) -> dict[str, Any]:
        """Return a `vector.types.vector_match`."""
        vector: dict[str, Any] = {"id": hit.item.id, "namespace": query.namespace}
        if query.include_vectors or self.vectors_always:
            vector["vector"] = list(hit.item.vector)
        if query.include_metadata:
            vector["metadata"] = copy_json(hit.item.metadata)
        return {"vector": vector, "score": hit.score, "distance": hit.distance}
