"""Parts of the rows of all components."""

from typing import Any

from pytest_corpus.spec.schemas import EDITIONS

Row = tuple[str, object, tuple[str, ...]]  # A schema, an instance, and the editions that accept it
CTX = {"request_id": "r-1"}
USAGE = {"prompt_tokens": 2, "total_tokens": 2}
COMPLETION = {"text": "a", "model": "m", "usage": USAGE, "finish_reason": "stop"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ERROR = {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": "down", "ms": 1}
FRAME = {"ok": True, "code": "STREAMING", "ms": 1, "chunk": {"text": "a", "is_final": False}}
SPEC = {"messages": [{"role": "user", "content": "hi"}]}
VECTOR = {"id": "v", "vector": [0.1]}
MATCH = {"vector": VECTOR, "score": 1, "distance": 0}
FOUND = {"matches": [MATCH], "namespace": "n", "total_matches": 1}
ASKED = {"vector": [0.1], "top_k": 1}
DONE = {"processed_count": 1, "failed_count": 0, "failures": []}
MISSED = {"error": "BadRequest", "detail": "no"}
EMBEDDED = {"vector": [0.1], "text": "a", "model": "m", "dimensions": 1}
EMBEDDING = {"embedding": EMBEDDED, "model": "m", "text": "a"}
UNREAD = {"index": 1, "text": "b", "error": "TextTooLong", "message": "no"}
BATCH = {"embeddings": [EMBEDDED], "model": "m", "total_texts": 1}
GENERIC = {"processed_count": 1, "failed_count": 1, "failures": [{"index": 1, "error": "BAD_REQUEST", "detail": "no"}]}
VERTEX = {"id": "a", "labels": ["L"], "properties": {}}
EDGE = {"id": "e", "src": "a", "dst": "b", "label": "L", "properties": {}}
WARNING = {"code": "SLOW", "message": "slow"}


def without(mapping: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}


def success(result: object, **changed: object) -> dict[str, object]:
    return {"ok": True, "code": "OK", "ms": 1, "result": result, **changed}


def request(op: str, args: object, ctx: object = CTX) -> dict[str, object]:
    return {"op": op, "ctx": ctx, "args": args}


BOTH, NEW, NONE = EDITIONS, ("1.1.0",), ()

EXTENDED = {
    "schema_version": "1.1.0",
    "protocol": "llm/v1.0",
    "provider_specific": {"region": "x"},
    "experimental_features": {"feature_flag": True},
}
"""The fields that SCHEMA 10.1 and 10.3 add to any result (R56)."""

SELECTIONS: tuple[tuple[dict[str, object], tuple[str, ...]], ...] = (
    ({"ids": None}, NONE),
    ({"filter": None}, NONE),
    ({"ids": None, "filter": None}, NONE),
    ({"ids": ["a"], "filter": None}, NEW),
    ({"ids": None, "filter": {"a": 1}}, NEW),
    ({"ids": []}, NEW),
)
"""The selections of a delete: null selects nothing (SPECIFICATION 7.3.1, 9.2; R42)."""


def overlays(component: str) -> tuple[Row, ...]:
    """The overlay's error frames, alone and in the union: over the edition's own error envelope (R57)."""
    return tuple(
        (f"{component}.stream.{name}", {"event": "error", "data": {**ERROR, **changed}}, valid)
        for name in ("frame.error", "frames.ndjson.schema")
        for changed, valid in (({}, BOTH), ({"ms": None}, NEW), ({"details": None}, NEW), ({"http_status": 1}, NONE))
    )
