"""The 33 reserved operations (SPECIFICATION 4.2.6)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_corpus.spec.components import COMPONENTS


def protocol_of(component: str) -> str:
    """The identifier that `capabilities.protocol` carries, e.g. ``llm/v1.0`` (SPECIFICATION 4.2.2)."""
    return f"{component}/v1.0"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name on the wire, the schemas of its request and answer, and what it does.

    `request`, `answer` and `payload` are short schema names in the newest edition: the request envelope,
    the success envelope (of a stream: the frame) and what lies in `result` or `chunk`.
    """

    op: str
    streaming: bool = False
    mutating: bool = False
    capability: str | None = None
    deadline_exempt: bool = False
    payload: str | None = None

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


OPERATIONS = (
    Operation("llm.capabilities", deadline_exempt=True),
    Operation("llm.complete", payload="llm.types.completion"),
    Operation("llm.stream", streaming=True, capability="supports_streaming", payload="llm.types.chunk"),
    Operation("llm.count_tokens", capability="supports_count_tokens"),
    Operation("llm.health"),
    Operation("vector.capabilities", deadline_exempt=True),
    Operation("vector.query", payload="vector.types.query_result"),
    Operation("vector.batch_query", capability="supports_batch_queries"),
    Operation("vector.upsert", mutating=True, payload="vector.types.partial_success_result"),
    Operation("vector.delete", mutating=True, payload="vector.types.partial_success_result"),
    Operation("vector.create_namespace", mutating=True, capability="supports_namespaces"),
    Operation("vector.delete_namespace", mutating=True, capability="supports_namespaces"),
    Operation("vector.health"),
    Operation("embedding.capabilities", deadline_exempt=True),
    Operation("embedding.embed", payload="embedding.types.result"),
    Operation(
        "embedding.embed_batch",
        capability="supports_batch_embedding",
        payload="embedding.partial_success.result",
    ),
    Operation(
        "embedding.stream_embed",
        streaming=True,
        capability="supports_streaming",
        payload="embedding.types.chunk",
    ),
    Operation("embedding.count_tokens", capability="supports_token_counting"),
    Operation("embedding.get_stats", deadline_exempt=True),
    Operation("embedding.health"),
    Operation("graph.capabilities", deadline_exempt=True),
    Operation("graph.upsert_nodes", mutating=True),
    Operation("graph.upsert_edges", mutating=True),
    Operation("graph.delete_nodes", mutating=True),
    Operation("graph.delete_edges", mutating=True),
    Operation("graph.query"),
    Operation("graph.stream_query", streaming=True, capability="supports_streaming", payload="graph.types.chunk"),
    Operation("graph.bulk_vertices", capability="supports_bulk_ops"),
    Operation("graph.batch", mutating=True, capability="supports_batch"),
    Operation("graph.get_schema", capability="supports_schema_ops"),
    Operation("graph.health"),
    Operation("graph.transaction", mutating=True, capability="supports_txn"),
    Operation("graph.traversal", capability="supports_traversal"),
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
