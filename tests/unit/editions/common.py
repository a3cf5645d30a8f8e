"""The editions that accept an instance: common schemas."""

from __future__ import annotations

from .samples import BOTH, CTX, ERROR, FRAME, NEW, NONE, Row, request, success

ROWS: tuple[Row, ...] = (
    ("common.operation_context", CTX, BOTH),
    ("common.operation_context", {**CTX, "locale": "de"}, NEW),
    ("common.operation_context", dict.fromkeys((*CTX, "tenant", "deadline_ms", "attrs", "traceparent")), NEW),
    ("common.operation_context", {"deadline_ms": 0}, NONE),
    ("common.operation_context", {"deadline_ms": "soon"}, NONE),
    ("common.operation_context", {"tenant": ""}, NONE),
    ("common.operation_context", {"attrs": []}, NONE),
    ("common.envelope.request", request("llm.complete", {}, {"locale": "de"}), NEW),
    ("common.envelope.request", {**request("llm.complete", {}), "version": 1}, NONE),
    ("common.envelope.request", request("LLM.complete", {}), NONE),
    ("common.envelope.success", success({}), BOTH),
    ("common.envelope.success", success({}, ms=None), NEW),
    ("common.envelope.success", success({}, ms=-1), NONE),
    ("common.envelope.success", success({}, code="STREAMING"), NONE),
    ("common.envelope.success", success({}, code="PARTIAL_SUCCESS"), BOTH),
    ("common.envelope.success", success(7), NEW),
    ("common.envelope.success", success([]), NEW),
    ("common.envelope.success", success("7"), NEW),
    ("common.envelope.success", success(None), NEW),
    ("common.envelope.success", success(True), NONE),
    ("common.envelope.success", success({}, took=3), NONE),
    ("common.envelope.error", ERROR, BOTH),
    ("common.envelope.error", {**ERROR, "retry_after_ms": None, "details": {}}, BOTH),
    ("common.envelope.error", {**ERROR, "details": None}, NEW),
    ("common.envelope.error", {**ERROR, "ms": None}, NEW),
    ("common.envelope.error", {**ERROR, "http_status": 503}, NONE),
    ("common.envelope.error", {**ERROR, "retry_after_ms": -1}, NONE),
    ("common.envelope.error", {**ERROR, "code": "Unavailable"}, NONE),
    ("common.envelope.stream.success", FRAME, NEW),
    ("common.envelope.stream.success", {**FRAME, "ms": None}, NEW),
    ("common.envelope.stream.success", {**FRAME, "code": "OK"}, NONE),
    ("common.envelope.stream.success", {**FRAME, "ok": False}, NONE),
    ("common.envelope.stream.success", {**FRAME, "result": {}}, NONE),
    ("common.envelope.stream.success", {key: FRAME[key] for key in ("ok", "code", "ms")}, NONE),
)
