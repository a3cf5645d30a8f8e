"""The 33 reserved operations (SPECIFICATION 4.2.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_corpus.spec.components import COMPONENTS


def protocol_of(component: str) -> str:
    """Return the identifier in `capabilities.protocol`, e.g. ``llm/v1.0`` (SPECIFICATION 4.2.2)."""
    return f"{component}/v1.0"


@dataclass(frozen=True)
class Operation:
    """One operation of the protocol.

    Attributes:
        op: the name on the wire, e.g. ``llm.complete``.
        does: one sentence for a reader.
        capability: the flag that may deny the operation; None if the operation must be offered.
        optional: True if no signature in SPECIFICATION 7 to 10 names it, so that it need not be offered.
        payload: the schema of the content of `result` or `chunk`.
        works: the id of the requirement by which a plain request must succeed.
        shaped: the id of the requirement on the shape of the answer.
        lists: the key of the list in the result that tests need.
        filled: True if a plain request never gets an empty list.
    """

    op: str
    does: str
    streaming: bool = False
    mutating: bool = False
    capability: str | None = None
    optional: bool = False
    deadline_exempt: bool = False
    payload: str | None = None
    works: str = "COM-CAP-6"
    shaped: str = ""
    lists: str = ""
    filled: bool = False

    @cached_property
    def component(self) -> str:
        return self.op.partition(".")[0]

    @cached_property
    def name(self) -> str:
        """The bare operation name, e.g. ``complete``."""
        return self.op.partition(".")[2]

    @property
    def request(self) -> str:
        return f"{self.op}.request"

    @property
    def answer(self) -> str:
        return f"{self.op}.{'frame' if self.streaming else 'success'}"


def _read_table(table: str) -> Iterator[Operation]:
    """Yield the operations of a table with two lines each: `op: does`, then attributes, whose default value is True."""
    lines = iter(table.strip().splitlines())
    for head in lines:
        op, _, does = head.partition(": ")
        facts: dict[str, Any] = {}
        for fact in next(lines).strip().split("; "):
            name, _, value = fact.partition(" ")
            facts[name] = value or True
        yield Operation(op, does, **facts)


OPERATIONS = tuple(
    _read_table("""
llm.capabilities: Says what the adapter offers, and its limits.
  deadline_exempt; works COM-CAP-1; shaped COM-CAP-1
llm.complete: Completes a conversation and returns the whole text at once.
  payload llm.types.completion; works LLM-COMPLETE-1; shaped LLM-COMPLETE-1
llm.stream: Completes a conversation and sends the text in chunks, the last of them marked as final.
  streaming; capability supports_streaming; payload llm.types.chunk; shaped LLM-STREAM-1
llm.count_tokens: Counts the tokens of a text as the model does.
  capability supports_count_tokens; shaped LLM-TOKENS-1
llm.health: Says how the adapter and its provider are.
  works COM-HEALTH-1; shaped COM-HEALTH-1
vector.capabilities: Says what the adapter offers, and its limits.
  deadline_exempt; works COM-CAP-1; shaped COM-CAP-1
vector.query: Finds the stored vectors that are most similar to a vector.
  payload vector.types.query_result; works VEC-QUERY-1; shaped VEC-QUERY-1; lists matches
vector.batch_query: Answers several queries in one call, in their order.
  capability supports_batch_queries; works VEC-MULTI-1; shaped VEC-MULTI-1; lists results; filled
vector.upsert: Writes vectors; one with the id of a stored vector takes its place.
  mutating; payload vector.types.partial_success_result; works VEC-UPSERT-1; shaped VEC-UPSERT-1
vector.delete: Deletes vectors by their ids, or those that a filter selects.
  mutating; payload vector.types.partial_success_result; works VEC-DELETE-1; shaped VEC-DELETE-1
vector.create_namespace: Creates a namespace with a dimension and a distance metric.
  mutating; capability supports_namespaces; works VEC-NS-1; shaped VEC-NS-10
vector.delete_namespace: Deletes a namespace and all vectors in it.
  mutating; capability supports_namespaces; works VEC-NS-1; shaped VEC-NS-10
vector.health: Says how the adapter and its provider are.
  works COM-HEALTH-1; shaped COM-HEALTH-1
embedding.capabilities: Says what the adapter offers, and its limits.
  deadline_exempt; works COM-CAP-1; shaped COM-CAP-1
embedding.embed: Turns one text into a vector.
  payload embedding.types.result; works EMB-EMBED-1; shaped EMB-EMBED-1
embedding.embed_batch: Turns several texts into vectors; a text that fails does not fail the others.
  capability supports_batch_embedding; payload embedding.partial_success.result; shaped EMB-BATCH-1
embedding.stream_embed: Turns one text into a vector and sends it as a stream.
  streaming; capability supports_streaming; payload embedding.types.chunk; shaped EMB-STREAM-1
embedding.count_tokens: Counts the tokens of a text, or of several, as the model does.
  capability supports_token_counting; shaped EMB-TOKENS-1
embedding.get_stats: Reports the counters of the adapter.
  optional; deadline_exempt; works EMB-STATS-1; shaped EMB-STATS-1
embedding.health: Says how the adapter and its provider are.
  works COM-HEALTH-1; shaped COM-HEALTH-1
graph.capabilities: Says what the adapter offers, and its limits.
  deadline_exempt; works COM-CAP-1; shaped COM-CAP-1
graph.upsert_nodes: Writes nodes; one with the id of a stored node takes its place.
  mutating; works GRA-NODE-1; shaped GRA-NODE-4
graph.upsert_edges: Writes edges; one with the id of a stored edge takes its place.
  mutating; works GRA-EDGE-1; shaped GRA-EDGE-8
graph.delete_nodes: Deletes nodes by their ids, or those that a filter selects.
  mutating; works GRA-DELETE-3; shaped GRA-DELETE-8
graph.delete_edges: Deletes edges by their ids, or those that a filter selects.
  mutating; works GRA-DELETE-3; shaped GRA-DELETE-8
graph.query: Runs a query in one of the adapter's languages and returns all records.
  works GRA-QUERY-1; shaped GRA-QUERY-1; lists records
graph.stream_query: Runs a query and sends its records in chunks.
  streaming; capability supports_streaming; payload graph.types.chunk; shaped GRA-STREAM-1
graph.bulk_vertices: Lists nodes page by page.
  capability supports_bulk_ops; shaped GRA-BULK-2; lists nodes
graph.batch: Carries out several operations in their order and reports on each.
  mutating; capability supports_batch; shaped GRA-BATCH-2; lists results
graph.get_schema: Describes the kinds of nodes and edges that the graph holds.
  capability supports_schema_ops; shaped GRA-SCHEMA-1
graph.health: Says how the adapter and its provider are.
  works COM-HEALTH-1; shaped COM-HEALTH-1
graph.transaction: Carries out several operations so that either all of them take effect or none.
  mutating; capability supports_txn; shaped GRA-TXN-4; lists results
graph.traversal: Follows edges from some nodes and returns what it meets.
  capability supports_traversal; shaped GRA-TRAV-1; lists nodes
""")
)

BY_OP = {operation.op: operation for operation in OPERATIONS}

STREAMING = tuple(name for name in COMPONENTS if any(row.streaming for row in OPERATIONS if row.component == name))
"""The components that have a streaming operation."""


def operations_of(component: str, *, streaming: bool | None = None) -> tuple[Operation, ...]:
    """Return the operations of a component; optionally only the streaming or only the unary ones."""
    return tuple(
        operation
        for operation in OPERATIONS
        if operation.component == component and streaming in (None, operation.streaming)
    )
