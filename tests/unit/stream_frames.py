"""Frames of streams, and what the validator says of them."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.stream_validator import StreamReport, validate_frames

CANARY = "canary-5b1e77d0"
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
DATA: dict[str, Any] = {
    "ok": True,
    "code": "STREAMING",
    "ms": 12.5,
    "chunk": {"text": CANARY, "is_final": False, "model": "m", "usage_so_far": USAGE},
}
FINAL = {**DATA, "chunk": {"text": "", "is_final": True}}
KEEP_ALIVE = {**DATA, "chunk": {"text": "", "is_final": False}}
ERROR: dict[str, Any] = {
    "ok": False,
    "code": "UNAVAILABLE",
    "error": "Unavailable",
    "message": "down",
    "retry_after_ms": None,
    "details": {},
    "ms": 20,
}


def frame(**changed: object) -> dict[str, object]:
    return {**DATA, **changed}


def chunk(**changed: object) -> dict[str, object]:
    return {**DATA, "chunk": {**DATA["chunk"], **changed}}


def without(mapping: Mapping[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in mapping.items() if key not in keys}


def report(*frames: object, **options: Any) -> StreamReport:
    return validate_frames(frames, component="llm", **options)


def found(*frames: object, **options: Any) -> list[tuple[int, str, str]]:
    """Every error as (frame number, type, path)."""
    errors = report(*frames, **options).validation_errors
    return [(error.frame_number, error.error_type, error.path) for error in errors]


def kinds(report: StreamReport) -> list[tuple[int, str]]:
    """Every error as (frame number, type)."""
    return [(error.frame_number, error.error_type) for error in report.validation_errors]


EMBEDDED = {"vector": [0.6, 0.8], "text": CANARY, "model": "m", "dimensions": 2}
CHUNKS: dict[str, dict[str, Any]] = {
    "llm": {"text": CANARY, "is_final": False},
    "embedding": {"embeddings": [EMBEDDED], "is_final": False, "model": "m"},
    "graph": {"records": [{"name": CANARY}], "is_final": False},
}
