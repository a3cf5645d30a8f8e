"""The operation that illustrates a requirement for a reader."""

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
"""The operation that everybody thinks of first, by component."""

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
"""The operation of a chapter, if it is not the plain one of the component."""

STREAMS: Mapping[str, str] = {
    "llm": "llm.stream",
    "vector": "vector.query",
    "embedding": "embedding.stream_embed",
    "graph": "graph.stream_query",
    "wire": "llm.stream",
}
"""The streaming operation of a component; a vector store has none."""

STREAMED = re.compile(r"^COM-STREAM|^\S+ (`handle_stream`|A stream)|^COM-.*\bstreams?\b")
"""The chapter and the words of a requirement that is about streams."""


def operation_of(chapter: str, text: str, component: str) -> Operation:
    """The operation that a sentence names in backticks, or else the operation of its chapter."""
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
"""The optional arguments and context keys that a chapter speaks of, whatever its sentences name."""

ERRORS: Mapping[str, str] = {"COM-ERR": "BadRequest", "COM-SUBTYPE": "BadRequest", "COM-FAULT": "ResourceExhausted"}
"""The class of error of a chapter, for sentences that name none."""

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
"""A value of each key that `details` of an error may hold (ERRORS 6, 7)."""


def error_of(chapter: str, text: str) -> ErrorClass | None:
    """The first error class that a sentence names, or None."""
    for word in re.findall(r"\b[A-Z][A-Za-z_]+\b", text):
        if error := TAXONOMY.get(word) or BY_CODE.get(word):
            return error
    refused = "BadRequest" if re.search(r"\brefus", text) else ""
    name = ERRORS.get(chapter, refused)
    return TAXONOMY[name] if name else None


def details_of(text: str, error: ErrorClass) -> dict[str, Any] | None:
    """The keys of `details` that a sentence names, each with a value; None if it names none."""
    agreeing = {"http_status": error.http[0], "retryable": error.retry == "yes"}
    named = {key: value for key, value in {**DETAILS, **agreeing}.items() if re.search(rf"\b{key}\b", text)}
    return named or None
