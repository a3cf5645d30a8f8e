"""The 33 reserved operations (SPECIFICATION 4.2.6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pytest_corpus.spec.components import COMPONENTS


def protocol_of(component: str) -> str:
    """The identifier that `capabilities.protocol` carries, e.g. ``llm/v1.0`` (SPECIFICATION 4.2.2)."""
    return f"{component}/v1.0"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name on the wire, the schemas of its request and answer, and what it does.

    `request`, `answer` and `payload` are short schema names in the newest edition: the request envelope,
    the success envelope (of a stream: the frame) and what lies in `result` or `chunk`. `works` is the requirement that
    says that a plain request of it is carried out (where it has none of its own, that what is advertised works),
    `shaped` the one that says what its answer looks like.
    """

    op: str
    streaming: bool = False
    mutating: bool = False
    capability: str | None = None
    deadline_exempt: bool = False
    payload: str | None = None
    works: str = "COM-CAP-6"
    shaped: str = ""

    @property
    def component(self) -> str:
        return self.op.partition(".")[0]

    @property
    def name(self) -> str:
        """The bare operation name, e.g. ``complete``."""
        return self.op.partition(".")[2]

    @property
    def request(self) -> str:
        return f"{self.op}.request"

    @property
    def answer(self) -> str:
        return f"{self.op}.{'frame' if self.streaming else 'success'}"


_capabilities = partial(Operation, deadline_exempt=True, works="COM-CAP-1", shaped="COM-CAP-1")
_health = partial(Operation, works="COM-HEALTH-1", shaped="COM-HEALTH-1")

OPERATIONS = (
    _capabilities("llm.capabilities"),
    Operation("llm.complete", payload="llm.types.completion", works="LLM-COMPLETE-1", shaped="LLM-COMPLETE-1"),
    Operation(
        "llm.stream", streaming=True, capability="supports_streaming", payload="llm.types.chunk", shaped="LLM-STREAM-1"
    ),
    Operation("llm.count_tokens", capability="supports_count_tokens", shaped="LLM-TOKENS-1"),
    _health("llm.health"),
    _capabilities("vector.capabilities"),
    Operation("vector.query", payload="vector.types.query_result", works="VEC-QUERY-1", shaped="VEC-QUERY-1"),
    Operation("vector.batch_query", capability="supports_batch_queries", works="VEC-MULTI-1", shaped="VEC-MULTI-1"),
    Operation(
        "vector.upsert",
        mutating=True,
        payload="vector.types.partial_success_result",
        works="VEC-UPSERT-1",
        shaped="VEC-UPSERT-1",
    ),
    Operation(
        "vector.delete",
        mutating=True,
        payload="vector.types.partial_success_result",
        works="VEC-DELETE-1",
        shaped="VEC-DELETE-1",
    ),
    Operation(
        "vector.create_namespace", mutating=True, capability="supports_namespaces", works="VEC-NS-1", shaped="VEC-NS-10"
    ),
    Operation(
        "vector.delete_namespace", mutating=True, capability="supports_namespaces", works="VEC-NS-1", shaped="VEC-NS-10"
    ),
    _health("vector.health"),
    _capabilities("embedding.capabilities"),
    Operation("embedding.embed", payload="embedding.types.result", works="EMB-EMBED-1", shaped="EMB-EMBED-1"),
    Operation(
        "embedding.embed_batch",
        capability="supports_batch_embedding",
        payload="embedding.partial_success.result",
        shaped="EMB-BATCH-1",
    ),
    Operation(
        "embedding.stream_embed",
        streaming=True,
        capability="supports_streaming",
        payload="embedding.types.chunk",
        shaped="EMB-STREAM-1",
    ),
    Operation("embedding.count_tokens", capability="supports_token_counting", shaped="EMB-TOKENS-1"),
    Operation("embedding.get_stats", deadline_exempt=True, works="EMB-STATS-1", shaped="EMB-STATS-1"),
    _health("embedding.health"),
    _capabilities("graph.capabilities"),
    Operation("graph.upsert_nodes", mutating=True, works="GRA-NODE-1", shaped="GRA-NODE-4"),
    Operation("graph.upsert_edges", mutating=True, works="GRA-EDGE-1", shaped="GRA-EDGE-8"),
    Operation("graph.delete_nodes", mutating=True, works="GRA-DELETE-3", shaped="GRA-DELETE-8"),
    Operation("graph.delete_edges", mutating=True, works="GRA-DELETE-3", shaped="GRA-DELETE-8"),
    Operation("graph.query", works="GRA-QUERY-1", shaped="GRA-QUERY-1"),
    Operation(
        "graph.stream_query",
        streaming=True,
        capability="supports_streaming",
        payload="graph.types.chunk",
        shaped="GRA-STREAM-1",
    ),
    Operation("graph.bulk_vertices", capability="supports_bulk_ops", shaped="GRA-BULK-2"),
    Operation("graph.batch", mutating=True, capability="supports_batch", shaped="GRA-BATCH-2"),
    Operation("graph.get_schema", capability="supports_schema_ops", shaped="GRA-SCHEMA-1"),
    _health("graph.health"),
    Operation("graph.transaction", mutating=True, capability="supports_txn", shaped="GRA-TXN-4"),
    Operation("graph.traversal", capability="supports_traversal", shaped="GRA-TRAV-1"),
)

BY_OP = {operation.op: operation for operation in OPERATIONS}

STREAMING = tuple(name for name in COMPONENTS if any(row.streaming for row in OPERATIONS if row.component == name))
"""The components that have a streaming operation."""


def operations_of(component: str, *, streaming: bool | None = None) -> tuple[Operation, ...]:
    """The operations of one component, all of them or only the streaming or the unary ones."""
    return tuple(
        operation
        for operation in OPERATIONS
        if operation.component == component and streaming in (None, operation.streaming)
    )
