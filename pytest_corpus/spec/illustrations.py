"""The operations and errors with which a requirement is illustrated for a reader."""

import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.spec.errors import BY_CODE, TAXONOMY, ErrorClass
from pytest_corpus.spec.operations import BY_OP, Operation

PLAIN: Mapping[str, str] = {
    "llm": "llm.complete",
    "vector": "vector.query",
    "embedding": "embedding.embed",
    "graph": "graph.query",
    "wire": "llm.complete",
}
"""The most typical operation of each component."""

_CHAPTERS = """
COM-CAP capabilities, COM-HEALTH health
LLM-CAP capabilities, LLM-STREAM stream, LLM-TOKENS count_tokens
EMB-CAP capabilities, EMB-BATCH embed_batch, EMB-STATS get_stats, EMB-STREAM stream_embed, EMB-TOKENS count_tokens
VEC-CAP capabilities, VEC-DELETE delete, VEC-DIM upsert, VEC-LIMIT upsert, VEC-MULTI batch_query
VEC-NS create_namespace, VEC-UPSERT upsert
GRA-BATCH batch, GRA-BULK bulk_vertices, GRA-CAP capabilities, GRA-DELETE delete_nodes, GRA-EDGE upsert_edges
GRA-NODE upsert_nodes, GRA-NS upsert_nodes, GRA-SCHEMA get_schema, GRA-STREAM stream_query, GRA-TRAV traversal
GRA-TXN transaction
"""

BY_CHAPTER: Mapping[str, str] = dict(row.split() for row in re.split("[,\n]", _CHAPTERS.strip()))
"""The operation for the requirements of a chapter, if it differs from the component's operation in `PLAIN`."""

STREAMS: Mapping[str, str] = {
    "llm": "llm.stream",
    "vector": "vector.query",
    "embedding": "embedding.stream_embed",
    "graph": "graph.stream_query",
    "wire": "llm.stream",
}
"""The operation for requirements on streams; the vector component has no stream."""

STREAMED = re.compile(r"^COM-STREAM|^\S+ (`handle_stream`|A stream)|^COM-.*\bstreams?\b")
"""Matches the chapter and sentence of a requirement that is about streams."""


def operation_of(chapter: str, text: str, component: str) -> Operation:
    """Return the operation that a sentence names in backticks, or else the operation of its chapter."""
    for name in re.findall(r"`([a-z_]+)`", text):
        if named := BY_OP.get(f"{component}.{name}"):
            return named
    if STREAMED.search(f"{chapter} {text}"):
        return BY_OP[STREAMS[component]]
    bare = BY_CHAPTER.get(chapter)
    return BY_OP[f"{component}.{bare}" if bare else PLAIN[component]]


NAMED: Mapping[str, tuple[str, ...]] = {
    "EMB-TRUNC": ("truncate",),
    "EMB-NORM": ("normalize",),
    "LLM-TOOLS": ("tools", "tool_choice"),
    "LLM-TOKENS": ("max_tokens",),
    "VEC-FILTER": ("filter",),
    "VEC-NS": ("namespace",),
    "GRA-NS": ("namespace",),
    "COM-CTX": ("request_id", "traceparent"),
    "COM-DEADLINE": ("deadline_ms",),
    "COM-TENANT": ("tenant",),
    "COM-IDEM": ("idempotency_key",),
}
"""The optional arguments and context keys that all examples of a chapter contain."""

ERRORS: Mapping[str, str] = {"COM-ERR": "BadRequest", "COM-SUBTYPE": "BadRequest", "COM-FAULT": "ResourceExhausted"}
"""The error class for requirements of a chapter whose sentences name none."""

DETAILS: Mapping[str, Any] = {
    "validation_errors": [{"field": "args.model", "code": "WRONG_TYPE"}],
    "expected": 4,
    "provided": 3,
    "max_batch_size": 100,
    "max_batch_ops": 100,
    "max_context_length": 8192,
    "provided_tokens": 9000,
    "max_text_length": 8192,
    "provided_length": 9000,
    "suggested_batch_reduction": 50,
    "suggested_backoff_ms": 500,
    "throttle_scope": "provider",
    "resource_scope": "rate_limit",
    "http_status": 429,
    "retryable": True,
}
"""An example value for each key that the `details` of an error may contain (ERRORS 6, 7)."""


def error_of(chapter: str, text: str) -> ErrorClass | None:
    """Return the first error class that a sentence names, or the one of its chapter; None if there is none."""
    for word in re.findall(r"\b[A-Z][A-Za-z_]+\b", text):
        if error := TAXONOMY.get(word) or BY_CODE.get(word):
            return error
    refused = "BadRequest" if re.search(r"\brefus", text) else ""
    name = ERRORS.get(chapter, refused)
    return TAXONOMY[name] if name else None


def details_of(text: str, error: ErrorClass) -> dict[str, Any] | None:
    """Return the keys of `details` that a sentence names, with example values; None if it names none."""
    agreeing = {"http_status": error.http[0], "retryable": error.retry == "yes"}
    named = {key: value for key, value in {**DETAILS, **agreeing}.items() if re.search(rf"\b{key}\b", text)}
    return named or None
