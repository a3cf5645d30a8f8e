"""The embedded reference client: it builds a request of every operation (SPECIFICATION 4.2.6)."""

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.spec.operations import BY_OP

Request = dict[str, Any]

HELLO = ({"role": "user", "content": "Hello"},)
"""What is said where a caller gives no messages."""


class Requests:
    """Builds one request envelope."""

    def __init__(self, tenant: str | None = None, budget_ms: int = 30_000) -> None:
        self.tenant, self.budget_ms = tenant, budget_ms

    def _request(self, op: str, **args: Any) -> Request:
        """The envelope of one request; arguments that are None are left out."""
        ctx: dict[str, Any] = {"request_id": uuid.uuid4().hex, "tenant": self.tenant}
        if not BY_OP[op].deadline_exempt:
            ctx["deadline_ms"] = int(time.time() * 1000) + self.budget_ms
        if BY_OP[op].mutating:
            ctx["idempotency_key"] = uuid.uuid4().hex
        return {"op": op, "ctx": _given(ctx), "args": _given(args)}


class LLMRequests(Requests):
    """Requests of SPECIFICATION 8.3."""

    def build_llm_capabilities_request(self) -> Request:
        return self._request("llm.capabilities")

    def build_complete_request(self, messages: Sequence[Mapping[str, Any]] = HELLO, **sampling: Any) -> Request:
        return self._request("llm.complete", messages=list(messages), **sampling)

    def build_stream_request(self, messages: Sequence[Mapping[str, Any]] = HELLO, **sampling: Any) -> Request:
        return self._request("llm.stream", messages=list(messages), **sampling)

    def build_llm_count_tokens_request(self, text: str = "Hello", model: str | None = None) -> Request:
        return self._request("llm.count_tokens", text=text, model=model)

    def build_llm_health_request(self) -> Request:
        return self._request("llm.health")


class VectorRequests(Requests):
    """Requests of SPECIFICATION 9.3."""

    def build_vector_capabilities_request(self) -> Request:
        return self._request("vector.capabilities")

    def build_vector_query_request(
        self, vector: Sequence[float] = (0.6, 0.8), top_k: int = 3, namespace: str = "default"
    ) -> Request:
        return self._request("vector.query", vector=list(vector), top_k=top_k, namespace=namespace)

    def build_batch_query_request(self, vectors: Sequence[Sequence[float]] = ((0.6, 0.8),), top_k: int = 3) -> Request:
        queries = [{"vector": list(vector), "top_k": top_k} for vector in vectors]
        return self._request("vector.batch_query", queries=queries)

    def build_upsert_request(self, vectors: Mapping[str, Sequence[float]] | None = None) -> Request:
        given = vectors or {"a": (0.6, 0.8)}
        return self._request("vector.upsert", vectors=[{"id": id_, "vector": list(v)} for id_, v in given.items()])

    def build_delete_request(self, ids: Sequence[str] = ("a",), namespace: str = "default") -> Request:
        return self._request("vector.delete", ids=list(ids), namespace=namespace)

    def build_create_namespace_request(self, namespace: str = "notes", dimensions: int = 2) -> Request:
        return self._request("vector.create_namespace", namespace=namespace, dimensions=dimensions)

    def build_delete_namespace_request(self, namespace: str = "notes") -> Request:
        return self._request("vector.delete_namespace", namespace=namespace)

    def build_vector_health_request(self) -> Request:
        return self._request("vector.health")


class EmbeddingRequests(Requests):
    """Requests of SPECIFICATION 10.3."""

    def build_embedding_capabilities_request(self) -> Request:
        return self._request("embedding.capabilities")

    def build_embed_request(self, text: str = "Hello", model: str = "small") -> Request:
        return self._request("embedding.embed", text=text, model=model)

    def build_embed_batch_request(self, texts: Sequence[str] = ("Hello",), model: str = "small") -> Request:
        return self._request("embedding.embed_batch", texts=list(texts), model=model)

    def build_stream_embed_request(self, text: str = "Hello", model: str = "small") -> Request:
        return self._request("embedding.stream_embed", text=text, model=model)

    def build_embedding_count_tokens_request(self, text: str = "Hello", model: str | None = None) -> Request:
        return self._request("embedding.count_tokens", text=text, model=model)

    def build_get_stats_request(self) -> Request:
        return self._request("embedding.get_stats")

    def build_embedding_health_request(self) -> Request:
        return self._request("embedding.health")


class GraphRequests(Requests):
    """Requests of SPECIFICATION 7.3."""

    def build_graph_capabilities_request(self) -> Request:
        return self._request("graph.capabilities")

    def build_upsert_nodes_request(self, nodes: Sequence[Mapping[str, Any]] = ({"id": "a"},)) -> Request:
        return self._request("graph.upsert_nodes", nodes=[{"labels": [], "properties": {}, **node} for node in nodes])

    def build_upsert_edges_request(self, id_: str = "ab", src: str = "a", dst: str = "b", label: str = "R") -> Request:
        return self._request("graph.upsert_edges", edges=[{"id": id_, "src": src, "dst": dst, "label": label}])

    def build_delete_nodes_request(self, ids: Sequence[str] = ("a",)) -> Request:
        return self._request("graph.delete_nodes", ids=list(ids))

    def build_delete_edges_request(self, ids: Sequence[str] = ("ab",)) -> Request:
        return self._request("graph.delete_edges", ids=list(ids))

    def build_graph_query_request(self, text: str = "MATCH (n) RETURN n", dialect: str = "cypher") -> Request:
        return self._request("graph.query", text=text, dialect=dialect)

    def build_stream_query_request(self, text: str = "MATCH (n) RETURN n", dialect: str = "cypher") -> Request:
        return self._request("graph.stream_query", text=text, dialect=dialect)

    def build_bulk_vertices_request(self, limit: int = 100, cursor: str | None = None) -> Request:
        return self._request("graph.bulk_vertices", limit=limit, cursor=cursor)

    def build_batch_request(self, ops: Sequence[Mapping[str, Any]] = ()) -> Request:
        return self._request("graph.batch", ops=list(ops) or [_delete("a")])

    def build_get_schema_request(self) -> Request:
        return self._request("graph.get_schema")

    def build_graph_health_request(self) -> Request:
        return self._request("graph.health")

    def build_transaction_request(self, operations: Sequence[Mapping[str, Any]] = ()) -> Request:
        return self._request("graph.transaction", operations=list(operations) or [_delete("a")])

    def build_traversal_request(self, start_nodes: Sequence[str] = ("a",), max_depth: int = 1) -> Request:
        return self._request("graph.traversal", start_nodes=list(start_nodes), max_depth=max_depth)


class ReferenceClient(LLMRequests, VectorRequests, EmbeddingRequests, GraphRequests):
    """Builds request envelopes. Every argument has a default, so that each builder shows a whole request.

    `build_health_request` and the other names that components share carry the component.
    """


def _delete(node: str) -> dict[str, Any]:
    """One operation of a batch (R33: by its bare name)."""
    return {"op": "delete_nodes", "args": {"ids": [node]}}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
