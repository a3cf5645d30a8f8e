"""Example values by key, of which realistic golden files are made (SCHEMA 7.1, 9.1).

The values fit each other: one question about a summit, its answer, its vector and its vertex.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

COMMON: Final[Mapping[str, Any]] = json.loads("""{
    "request_id": "req-7f3a-0001", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "tenant": "acme-travel", "deadline_ms": 1893456000000, "ms": 12.5,
    "server": "example-gateway", "version": "2.3.1", "status": "ok", "model": "example-model-1", "is_final": false,
    "prompt_tokens": 21, "completion_tokens": 11, "total_tokens": 32,
    "id": "summit:mont-blanc", "detail": "the item is not well-formed", "processed_count": 1, "failures": [],
    "result": {"ok": true, "status": "ok", "server": "example-gateway", "version": "2.3.1"}
}""")
"""Values by key, for every component."""

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
"""Values by key that one component has instead or besides."""

ERRORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "llm": {"error": "ResourceExhausted", "message": "Request rate is above the limit", "retry_after_ms": 1500},
    "vector": {"error": "DimensionMismatch", "message": "The vector does not have the dimensions of the namespace"},
    "embedding": {"error": "TextTooLong", "message": "The text is longer than the model accepts"},
    "graph": {"error": "QueryParseError", "message": "The query is not valid cypher"},
}
"""A component's example error."""

WARNING: Final[Mapping[str, Any]] = {
    "code": "PARAMETER_IGNORED",
    "message": "The parameter has no effect here and was ignored",
}
"""An example warning."""

PARTS: Final = ("Mont Blanc", " is 4,806 metres", " high.")
"""A completion as it is streamed."""

SELDOM: Final = frozenset(("name", "description", "index", "protocol"))
"""Keys that only stand where they must, or where others say what they are about."""

BRANCHES: Final[Mapping[str, str]] = {
    "graph_entity_edge": "src",
    "request_batch": "texts",
    "success_batch": "total_tokens",
    "graph_batch": "success",
}
"""Of a union the branch that requires this key is meant where a file is named for the word."""

USUAL: Final = frozenset(("processed_count", "embeddings", "total_texts"))
"""Keys whose branch is meant where nothing else is said."""

WENT_WRONG: Final = ("error", "message", "detail")
"""Keys that a success does not have."""
