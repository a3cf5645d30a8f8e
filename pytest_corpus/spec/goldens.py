"""The table of golden files, each with the schema that it must match (SCHEMA 7; R40, R41); and example values."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import BY_NAME, SCHEMA_VERSIONS


@dataclass(frozen=True, slots=True)
class Golden:
    """One golden file.

    Attributes:
        file: the path relative to ``golden/``.
        schema: short name of the schema of the document; in an NDJSON file, of each line.
        editions: the editions under which it must be valid.
        also: further schemas that must accept it, in the editions that have them.
        last_line: the schema of the last line of an NDJSON file, if it differs.
    """

    file: str
    schema: str
    editions: tuple[str, ...] = SCHEMA_VERSIONS
    also: tuple[str, ...] = ()
    last_line: str | None = None

    @property
    def component(self) -> str:
        return self.file.partition("/")[0]

    @property
    def is_stream(self) -> bool:
        """True if the file is NDJSON with one frame per line."""
        return self.file.endswith(".ndjson")

    @property
    def op(self) -> str:
        """The operation of the golden; empty if it belongs to several operations."""
        names = (name.rpartition(".") for name in (self.schema, *self.also))
        return next((op for op, _, kind in names if kind in ("request", "success", "frame") and op in BY_OP), "")

    def checks(self, *, last_line: bool = False) -> Iterator[tuple[str, str]]:
        """Yield each (schema, edition) for the document, or for a line of a stream (`last_line`: for the last line)."""
        schemas = (self.last_line,) if last_line and self.last_line else (self.schema, *self.also)
        for schema in schemas:
            for edition in self.editions:
                if edition in BY_NAME[schema].editions:
                    yield schema, edition


_FRAMES = ("1.1.0",)
"""Canonical frames are valid from this edition on (R3)."""


def _exchange_golden(op: str, kind: str, stem: str = "") -> Golden:
    """Return the request or success golden of an operation; `stem` is the file name if it is not the usual one."""
    component, _, name = op.partition(".")
    stem = stem or f"{component}_{name}_{kind}"
    return Golden(f"{component}/{stem}.json", f"{component}.envelope.{kind}", also=(f"{op}.{kind}",))


def _exchange_golden_pair(op: str, stem: str = "") -> tuple[Golden, Golden]:
    return _exchange_golden(op, "request", stem and f"{stem}_request"), _exchange_golden(
        op, "success", stem and f"{stem}_success"
    )


def _exchange_goldens(component: str, names: str) -> Iterator[Golden]:
    for name in names.split():
        yield from _exchange_golden_pair(f"{component}.{name}")


def _error_golden(stem: str) -> Golden:
    component = stem.partition("_")[0]
    return Golden(f"{component}/{stem}.json", f"{component}.envelope.error", also=("common.envelope.error",))


def _single_goldens(component: str, rows: str) -> Iterator[Golden]:
    """Yield goldens with one schema each. A row is `file=schema`, both without the component."""
    for row in rows.split():
        file, _, schema = row.partition("=")
        yield Golden(f"{component}/{component}_{file}.json", f"{component}.{schema}")


def _type_goldens(component: str, names: str) -> Iterator[Golden]:
    return _single_goldens(component, " ".join(f"types_{name}=types.{name}" for name in names.split()))


def _overlay_goldens(component: str) -> Iterator[Golden]:
    """Yield the goldens of overlay frames. Each is also a line of the overlay's NDJSON file."""
    for event in ("data", "end", "error"):
        file, also = f"{component}/{component}_stream_frame_{event}.json", f"{component}.stream.frames.ndjson.schema"
        yield Golden(file, f"{component}.stream.frame.{event}", also=(also,))


def _stream_goldens(op: str) -> tuple[Golden, Golden, Golden]:
    """Return the goldens of canonical frames: a successful stream, its first frame, and a failing stream."""
    component = op.partition(".")[0]
    stem, error = f"{component}/{component}_stream", f"{component}.envelope.error"
    success = Golden(f"{stem}.ndjson", f"{op}.frame", _FRAMES, (f"{component}.envelope.stream.success",))
    failure = replace(success, file=f"{stem}_error.ndjson", last_line=error)
    return success, replace(success, file=f"{stem}_chunk.json"), failure


_LLM = (
    *_exchange_goldens("llm", "capabilities complete count_tokens health"),
    _error_golden("llm_error_envelope"),
    *_single_goldens("llm", "response_format=response_format sampling_params=sampling.params"),
    *_stream_goldens("llm.stream"),
    *_overlay_goldens("llm"),
    *_single_goldens("llm", "tools_schema=tools.schema"),
    *_type_goldens("llm", "chunk completion logprobs message token_usage tool warning"),
)

_VECTOR = (
    *_exchange_goldens("vector", "capabilities delete"),
    _error_golden("vector_error_dimension_mismatch"),
    *_exchange_goldens("vector", "health"),
    *_exchange_golden_pair("vector.create_namespace", "vector_namespace_create"),
    *_exchange_golden_pair("vector.delete_namespace", "vector_namespace_delete"),
    *_single_goldens("vector", "partial_success_result=types.partial_success_result"),
    *_exchange_goldens("vector", "query"),
    *_type_goldens("vector", "failure_item filter query_result vector vector_match"),
    *_exchange_goldens("vector", "upsert"),
)

_EMBEDDING = (
    *_exchange_goldens("embedding", "capabilities"),
    _exchange_golden("embedding.count_tokens", "request", "embedding_count_tokens_request_batch"),
    _exchange_golden("embedding.count_tokens", "request", "embedding_count_tokens_request_single"),
    _exchange_golden("embedding.count_tokens", "success", "embedding_count_tokens_success_batch"),
    _exchange_golden("embedding.count_tokens", "success", "embedding_count_tokens_success_single"),
    *_exchange_goldens("embedding", "embed_batch embed"),
    _error_golden("embedding_envelope_error"),
    *_exchange_goldens("embedding", "health"),
    *_single_goldens("embedding", "partial_success_result=partial_success.result"),
    *_type_goldens("embedding", "failure vector warning"),
)

_GRAPH = (
    _exchange_golden("graph.delete_nodes", "request", "graph.delete_nodes.by_id.request"),
    _exchange_golden("graph.delete_nodes", "success", "graph.delete_nodes.by_id.success"),
    _exchange_golden("graph.upsert_nodes", "request", "graph.upsert_nodes.single.request"),
    _exchange_golden("graph.upsert_nodes", "success", "graph.upsert_nodes.single.success"),
    *_single_goldens("graph", "batch_op_create_vertex=types.batch_op batch_op_query=types.batch_op"),
    *_exchange_goldens("graph", "batch capabilities"),
    *_exchange_golden_pair("graph.upsert_edges", "graph_edge_create"),
    *_single_goldens("graph", "entity_edge=types.entity entity_vertex=types.entity"),
    _error_golden("graph_envelope_error"),
    *_exchange_goldens("graph", "health"),
    *_single_goldens("graph", "id_value=types.id partial_success_result=types.partial_success_result"),
    *_exchange_goldens("graph", "query"),
    *_single_goldens("graph", "row=types.row"),
    *_stream_goldens("graph.stream_query"),
    *_overlay_goldens("graph"),
    _exchange_golden("graph.stream_query", "request"),
    *_single_goldens("graph", "warning=types.warning"),
)

GOLDENS = (*_LLM, *_VECTOR, *_EMBEDDING, *_GRAPH)
"""Every golden, folder by folder."""

BY_FILE = {golden.file: golden for golden in GOLDENS}


def goldens_of(op: str) -> tuple[Golden, ...]:
    """Return the goldens of an operation. If the table has none, make them by the usual pattern."""
    listed = tuple(golden for golden in GOLDENS if golden.op == op)
    if listed:
        return listed
    if BY_OP[op].streaming:
        name = op.partition(".")[2]
        frames = tuple(
            replace(golden, file=golden.file.replace("_stream", f"_{name}")) for golden in _stream_goldens(op)
        )
        return (_exchange_golden(op, "request"), *frames)
    return _exchange_golden_pair(op)


def request_golden(op: str) -> Golden:
    """Return the golden of an operation's request. If the table has none, make one by the usual pattern."""
    return next(
        (golden for golden in goldens_of(op) if f"{op}.request" in golden.also), _exchange_golden(op, "request")
    )


def answer_golden(op: str) -> Golden:
    """Return the golden of an operation's success or stream. If the table has none, make one by the usual pattern."""
    if BY_OP[op].streaming:
        return next(golden for golden in goldens_of(op) if golden.is_stream and golden.last_line is None)
    return next(
        (golden for golden in goldens_of(op) if f"{op}.success" in golden.also), _exchange_golden(op, "success")
    )


COMMON: Final[Mapping[str, Any]] = json.loads("""{
    "request_id": "req-7f3a-0001", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "tenant": "acme-travel", "deadline_ms": 1893456000000, "ms": 12.5,
    "server": "example-gateway", "version": "2.3.1", "status": "ok", "model": "example-model-1", "is_final": false,
    "prompt_tokens": 21, "completion_tokens": 11, "total_tokens": 32,
    "id": "summit:mont-blanc", "detail": "the item is not well-formed", "processed_count": 1, "failures": [],
    "result": {"ok": true, "status": "ok", "server": "example-gateway", "version": "2.3.1"}
}""")
"""Example values by key, for every component."""

_OF_COMPONENT: Final = """{
"llm": {
    "server": "example-llm-gateway", "supported_models": ["example-model-1"],
    "role": "user", "content": "How high is Mont Blanc?", "max_tokens": 64,
    "temperature": 0.2, "top_p": 0.9, "frequency_penalty": 0.0, "presence_penalty": 0.5,
    "finish_reason": "stop", "text": "Mont Blanc is 4,806 metres high.", "tokens": 11,
    "name": "lookup_elevation", "arguments": "{\\"summit\\": \\"Mont Blanc\\"}",
    "description": "Elevation of a named summit in metres",
    "parameters": {
        "type": "object", "properties": {"summit": {"type": "string"}}, "required": ["summit"],
        "additionalProperties": false
    },
    "token": "Mont", "logprob": -0.0123,
    "usage": {"prompt_tokens": 21, "completion_tokens": 11, "total_tokens": 32},
    "usage_so_far": {"prompt_tokens": 21, "completion_tokens": 11, "total_tokens": 32}
},
"vector": {
    "server": "example-vector-gateway", "supported_metrics": ["cosine", "euclidean", "dot"],
    "vector": [0.6, 0.8, 0.0, 0.0], "query_vector": [0.6, 0.8, 0.0, 0.0],
    "metadata": {"range": "alps", "country": "FR", "elevation": 4806},
    "namespace": "summits", "filter": {"range": "alps", "elevation": {"gte": 4000}}, "top_k": 2,
    "include_metadata": true, "include_vectors": true, "dimensions": 4, "distance_metric": "cosine",
    "score": 1.0, "distance": 0.0, "total_matches": 1, "success": true, "ids": ["summit:mont-blanc"]
},
"embedding": {
    "server": "example-embedding-gateway", "model": "example-embed-1", "supported_models": ["example-embed-1"],
    "vector": [0.6, 0.8, 0.0, 0.0], "dimensions": 4,
    "text": "How high is Mont Blanc?", "texts": ["How high is Mont Blanc?"],
    "truncate": true, "normalize": true, "truncated": false,
    "tokens": 7, "tokens_used": 7, "total_tokens": 7, "total_texts": 2
},
"graph": {
    "server": "example-graph-gateway", "namespace": "atlas",
    "labels": ["Summit"], "properties": {"name": "Mont Blanc", "elevation": 4806},
    "src": "summit:mont-blanc", "dst": "range:alps", "label": "PART_OF", "ids": ["summit:mont-blanc"],
    "text": "MATCH (s:Summit) RETURN s.name AS name, s.elevation AS elevation", "dialect": "cypher",
    "params": {"range": "range:alps"}, "records": [{"name": "Mont Blanc", "elevation": 4806}],
    "summary": {"rows": 1}, "index": 1, "row": {"name": "Mont Blanc", "elevation": 4806},
    "batch_op": BATCH_OP, "ops": [BATCH_OP], "operations": [BATCH_OP],
    "start_nodes": ["summit:mont-blanc"], "max_depth": 1, "direction": "OUTGOING"
}
}"""

OF_COMPONENT: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    _OF_COMPONENT.replace(
        "BATCH_OP", '{"op": "delete_nodes", "args": {"ids": ["summit:mont-blanc"], "namespace": "atlas"}}'
    )
)
"""Example values by key for each component, which replace or extend `COMMON`."""

ERRORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "llm": {"error": "ResourceExhausted", "message": "Request rate is above the limit", "retry_after_ms": 1500},
    "vector": {"error": "DimensionMismatch", "message": "The vector does not have the dimensions of the namespace"},
    "embedding": {"error": "TextTooLong", "message": "The text is longer than the model accepts"},
    "graph": {"error": "QueryParseError", "message": "The query is not valid cypher"},
}
"""An example error for each component."""

WARNING: Final[Mapping[str, Any]] = {
    "code": "PARAMETER_IGNORED",
    "message": "The parameter has no effect here and was ignored",
}
"""An example warning."""

PARTS: Final = ("Mont Blanc", " is 4,806 metres", " high.")
"""The chunks of an example completion."""

SELDOM: Final = frozenset(("name", "description", "index", "protocol"))
"""Optional keys. Goldens contain one of these keys only if the schema requires it or another key depends on it."""

BRANCHES: Final[Mapping[str, str]] = {
    "graph_entity_edge": "src",
    "request_batch": "texts",
    "success_batch": "total_tokens",
    "graph_batch": "success",
}
"""A key for each part of a file name. If a name has the part, its golden uses the branch of a union with this key."""

USUAL: Final = frozenset(("processed_count", "embeddings", "total_texts"))
"""If the file name selects no branch of a union, the golden uses the branch with one of these keys."""

ERROR_KEYS: Final = ("error", "message", "detail")
"""Keys that only errors have."""
