"""The schema files: their table, their form, and what edition 1.1.0 widens. `test_schema_lint` has their rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import documents, from_schema, mutated

from pytest_corpus import resources
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS, LATEST, SCHEMAS, SchemaFile

ROOT = resources.folder("schemas")

PRINTED = {
    "common": {"envelope.request", "envelope.success", "envelope.error", "operation_context"},
    "llm": {
        f"llm.{name}"
        for name in (
            "envelope.request",
            "envelope.success",
            "envelope.error",
            "response_format",
            "sampling.params",
            "tools.schema",
            "stream.frame.data",
            "stream.frame.end",
            "stream.frame.error",
            "stream.frames.ndjson.schema",
            "types.chunk",
            "types.completion",
            "types.logprobs",
            "types.message",
            "types.token_usage",
            "types.tool",
            "types.warning",
            "complete.request",
            "types.completion_spec",
        )
    },
    "vector": {
        f"vector.{name}"
        for name in (
            "envelope.request",
            "envelope.success",
            "envelope.error",
            "types.failure_item",
            "types.filter",
            "types.partial_success_result",
            "types.query_result",
            "types.vector",
            "types.vector_match",
        )
    },
    "embedding": {
        f"embedding.{name}"
        for name in (
            "envelope.request",
            "envelope.success",
            "envelope.error",
            "partial_success.result",
            "types.failure",
            "types.result",
            "types.vector",
            "types.warning",
        )
    },
    "graph": {
        f"graph.{name}"
        for name in (
            "envelope.request",
            "envelope.success",
            "envelope.error",
            "stream.frame.data",
            "stream.frame.end",
            "stream.frame.error",
            "stream.frames.ndjson.schema",
            "types.batch_op",
            "types.entity",
            "types.id",
            "types.partial_success_result",
            "types.row",
            "types.warning",
        )
    },
}
"""Edition 1.0.0: the tree of SCHEMA 2.1 and the two files of SCHEMA 2.2 (R39)."""

BESIDE_THE_TREE = {"llm.complete.request", "llm.types.completion_spec"}
"""The two files of SCHEMA 2.2."""


@pytest.mark.parametrize("component", PRINTED)
def test_edition_1_0_0_is_the_printed_tree(component: str) -> None:
    """Edition 1.0.0 has the files of SCHEMA 2.1 and 2.2 and no other (R39, R40)."""
    stems = {schema.stem for schema in SCHEMAS if schema.component == component and "1.0.0" in schema.editions}
    assert stems == PRINTED[component]


def test_the_tree_has_51_files() -> None:
    """Edition 1.0.0 has the 51 files that the tree of SCHEMA 2.1 prints, not the 47 that its text counts (R40)."""
    assert PRINTED.keys() == {schema.component for schema in SCHEMAS}
    assert len(set().union(*PRINTED.values()) - BESIDE_THE_TREE) == 51


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.json")), ids=lambda path: path.stem)
def test_files_are_written_alike(path: Path) -> None:
    """A schema file has no tab, no trailing blank, an indent of two and one final newline."""
    text = path.read_text()
    odd = [line for line in text.splitlines() if "\t" in line or line != line.rstrip()]
    indents = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert not odd
    assert all(indent % 2 == 0 for indent in indents)
    assert text.endswith("}\n")


@pytest.mark.parametrize("component", sorted({schema.component for schema in SCHEMAS} - {"common"}))
def test_every_operation_has_a_request_and_an_answer(component: str) -> None:
    """Edition 1.1.0 gives every operation of a component a request and a success or frame schema (R42)."""
    wanted = {name for op in operations_of(component) for name in (op.request, op.answer)}
    wanted |= {op.payload for op in operations_of(component) if op.payload}
    assert wanted <= {name for name, schema in BY_NAME.items() if LATEST in schema.editions}


def test_a_row_names_its_files() -> None:
    """A schema uses the file of the newest edition that has one of its own, up to the edition asked for."""
    changed, unchanged, new = (BY_NAME[name] for name in ("llm.types.chunk", "llm.response_format", "llm.stream.frame"))
    assert [changed.file(edition) for edition in EDITIONS] == [
        "llm/llm.types.chunk.json",
        "llm/llm.types.chunk.v1.1.json",
    ]
    assert {unchanged.file(edition) for edition in EDITIONS} == {"llm/llm.response_format.json"}
    assert new.editions == ("1.1.0",)
    with pytest.raises(LookupError, match=r"edition 1\.0\.0 has no schema llm\.stream\.frame"):
        new.file("1.0.0")


def test_short_names_are_unique() -> None:
    """No two schemas share a short name."""
    assert len(BY_NAME) == len(SCHEMAS)


# What edition 1.1.0 widens, and what it keeps.

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
"""What SCHEMA 10.1 and 10.3 put beside the fields of any result (R56)."""

SELECTIONS: tuple[tuple[dict[str, object], tuple[str, ...]], ...] = (
    ({"ids": None}, NONE),
    ({"filter": None}, NONE),
    ({"ids": None, "filter": None}, NONE),
    ({"ids": ["a"], "filter": None}, NEW),
    ({"ids": None, "filter": {"a": 1}}, NEW),
    ({"ids": []}, NEW),
)
"""What a delete may select by: null selects nothing (SPECIFICATION 7.3.1, 9.2; R42)."""


def _overlays(component: str) -> tuple[tuple[str, object, tuple[str, ...]], ...]:
    """The overlay's error frames, alone and in the union: over the edition's own error envelope (R57)."""
    return tuple(
        (f"{component}.stream.{name}", {"event": "error", "data": {**ERROR, **changed}}, valid)
        for name in ("frame.error", "frames.ndjson.schema")
        for changed, valid in (({}, BOTH), ({"ms": None}, NEW), ({"details": None}, NEW), ({"http_status": 1}, NONE))
    )


ACCEPTED: tuple[tuple[str, object, tuple[str, ...]], ...] = (
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
    ("common.envelope.success", success("7"), NONE),
    ("common.envelope.success", success(None), NONE),
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
    ("llm.envelope.request", request("vector.query", {}), NONE),
    ("llm.envelope.success", success({}, protocol="llm/v1.0"), NONE),
    ("llm.envelope.stream.success", {**FRAME, "chunk": {"records": [], "is_final": False}}, NONE),
    ("llm.types.token_usage", USAGE, BOTH),
    ("llm.types.token_usage", {**USAGE, "completion_tokens": None}, NEW),
    ("llm.types.token_usage", {**USAGE, "total_tokens": None}, NONE),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": 2.0}, BOTH),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": 2.5}, NONE),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": True}, NONE),
    ("llm.types.token_usage", {**USAGE, "cached_tokens": 1}, NONE),
    ("llm.types.completion", COMPLETION, BOTH),
    ("llm.types.completion", {**COMPLETION, "finish_reason": "weary"}, BOTH),
    ("llm.types.completion", {**COMPLETION, "finish_reason": None}, NONE),
    ("llm.types.completion", {**COMPLETION, "model_family": "gpt", "tool_calls": [CALL]}, NEW),
    ("llm.types.completion", {**COMPLETION, "model_family": None, "tool_calls": None}, NEW),
    ("llm.types.completion", {**COMPLETION, "tool_calls": [{"id": "c"}]}, NONE),
    ("llm.types.completion", {**COMPLETION, "schema_version": "1.1.0", "protocol": "llm/v1.0"}, NEW),
    ("llm.types.completion", {**COMPLETION, "logprobs": None, "warnings": None}, NEW),
    ("llm.types.completion", {**COMPLETION, "warnings": [{"code": "SLOW", "message": "slow"}]}, NEW),
    ("llm.types.completion", {**COMPLETION, "cost": 1}, NONE),
    ("llm.types.completion", {**COMPLETION, **EXTENDED}, NEW),
    ("llm.types.completion", {**COMPLETION, "provider_specific": []}, NONE),
    ("llm.types.chunk", {"text": "", "is_final": True}, BOTH),
    ("llm.types.chunk", {"text": "", "is_final": True, "model": "m", "usage_so_far": USAGE}, BOTH),
    ("llm.types.chunk", {"text": "", "is_final": True, "model": None, "usage_so_far": None}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "tool_calls": [CALL]}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "tool_calls": None}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "delta": ""}, NONE),
    ("llm.types.chunk", {"text": None, "is_final": True}, NONE),
    ("llm.types.chunk", {"text": ""}, NONE),
    ("llm.types.message", {"role": "tool", "content": "4", "tool_call_id": "c", "name": "f"}, BOTH),
    ("llm.types.message", {"role": "assistant", "content": "", "tool_calls": None}, NEW),
    ("llm.types.message", {"role": "developer", "content": ""}, NONE),
    ("llm.sampling.params", {"top_p": 1, "temperature": 2, "presence_penalty": -2}, BOTH),
    ("llm.sampling.params", {"top_p": 0}, NONE),
    ("llm.sampling.params", {"top_p": 0.001}, BOTH),
    ("llm.sampling.params", {"temperature": 2.01}, NONE),
    ("llm.sampling.params", {"temperature": None}, NEW),
    ("llm.response_format", {"type": "yaml"}, NONE),
    ("llm.complete.request", request("llm.complete", SPEC), BOTH),
    ("llm.complete.request", request("llm.complete", {**SPEC, "vendor_flag": 1}), BOTH),
    ("llm.complete.request", request("llm.complete", {**SPEC, "max_tokens": None}), NEW),
    ("llm.complete.request", request("llm.complete", {**SPEC, "max_tokens": -1}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "temperature": "hot"}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "tool_choice": "sometimes"}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "tool_choice": {"name": "f"}}), BOTH),
    ("llm.complete.request", request("llm.complete", {}), NONE),
    ("llm.stream.request", request("llm.stream", SPEC), NEW),
    ("llm.stream.request", request("llm.complete", SPEC), NONE),
    ("llm.stream.frame", FRAME, NEW),
    ("llm.stream.frame.data", {"event": "data", "data": {"text": "", "is_final": False, "model": None}}, NEW),
    ("llm.stream.frame.data", {"event": "data", "data": {"text": "", "is_final": False, "tool_calls": [CALL]}}, NEW),
    ("llm.stream.frame.data", {"event": "data", "data": {"text": "", "is_final": False, "delta": ""}}, NONE),
    ("llm.stream.frame.end", {"event": "end", "data": {**COMPLETION, "logprobs": None}}, NEW),
    ("llm.stream.frame.end", {"event": "end", "data": {**COMPLETION, "cost": 1}}, NONE),
    *_overlays("llm"),
    ("llm.complete.success", success(COMPLETION), NEW),
    ("llm.complete.success", success({"text": "a"}), NONE),
    ("llm.count_tokens.request", request("llm.count_tokens", {"text": "", "model": None}), NEW),
    ("llm.count_tokens.request", request("llm.count_tokens", {"model": "m"}), NONE),
    ("llm.count_tokens.success", success(0), NEW),
    ("llm.count_tokens.success", success(-1), NONE),
    ("llm.count_tokens.success", success(2.5), NONE),
    ("llm.count_tokens.success", success({"token_count": 3, "model": "m"}), NEW),
    ("llm.count_tokens.success", success({"tokens": ["a", "b"], "count": 2}), NEW),
    ("llm.count_tokens.success", success({"tokens": -3}), NONE),
    ("llm.count_tokens.success", success({"total": 3}), NONE),
    ("llm.count_tokens.success", success([3]), NONE),
    ("llm.capabilities.request", request("llm.capabilities", {"verbose": True}), NEW),
    (
        "llm.capabilities.success",
        success({"server": "s", "version": "1", "protocol": "llm/v1.0", "x": None}),
        NEW,
    ),
    ("llm.capabilities.success", success({"server": "s", "version": "1"}), NONE),
    ("llm.capabilities.success", success({"server": "s", "version": 1, "protocol": "llm/v1.0"}), NONE),
    ("llm.health.request", request("llm.health", {}), NEW),
    ("llm.health.success", success({"anything": 1}), NEW),
    ("llm.health.success", success(1), NONE),
    # Vector.
    ("vector.envelope.request", request("vector.query", {}), BOTH),
    ("vector.envelope.request", request("graph.query", {}), NONE),
    ("vector.envelope.success", success({}, component="vector"), NONE),
    ("vector.envelope.success", success([]), NEW),
    ("vector.envelope.error", ERROR, BOTH),
    ("vector.types.vector", {**VECTOR, "metadata": {"a": [1], "b": None}, "namespace": ""}, BOTH),
    ("vector.types.vector", {**VECTOR, "metadata": {"a": {}}}, NONE),
    ("vector.types.vector", {**VECTOR, "id": ""}, NONE),
    ("vector.types.vector", {**VECTOR, "vector": []}, NEW),
    ("vector.types.vector", {**VECTOR, "vector": None}, NEW),
    ("vector.types.vector", {"id": "v"}, NEW),
    ("vector.types.vector", {**VECTOR, "vector": ["0.1"]}, NONE),
    ("vector.types.vector", {**VECTOR, "metadata": None, "namespace": None, "text": None}, NEW),
    ("vector.types.vector", {**VECTOR, "text": "a"}, NEW),
    ("vector.types.vector", {**VECTOR, "sparse": {}}, NONE),
    ("vector.types.vector_match", MATCH, BOTH),
    ("vector.types.vector_match", {**MATCH, "distance": -0.5}, NEW),
    ("vector.types.vector_match", {**MATCH, "score": -0.5}, BOTH),
    ("vector.types.vector_match", {**MATCH, "distance": None}, NONE),
    ("vector.types.vector_match", without(MATCH, "distance"), NONE),
    ("vector.types.vector_match", without(MATCH, "score"), NONE),
    ("vector.types.query_result", FOUND, BOTH),
    ("vector.types.query_result", {**FOUND, "query_vector": None}, NEW),
    ("vector.types.query_result", {**FOUND, "next_page_token": "p"}, NEW),
    ("vector.types.query_result", {**FOUND, "next_cursor": None, "has_more": False}, NEW),
    ("vector.types.query_result", without(FOUND, "total_matches"), NONE),
    ("vector.types.query_result", {**FOUND, "took": 1}, NONE),
    ("vector.types.query_result", {**FOUND, **EXTENDED}, NEW),
    ("vector.types.query_result", {**FOUND, "provider_specific": []}, NONE),
    ("vector.types.filter", {"a": 1, "b": None, "c": ["x", 2], "d": {"gt": 1, "lte": 2}, "e": {"in": ["x"]}}, BOTH),
    ("vector.types.filter", {"lang": {"$in": ["en"]}, "year": {"$gte": 2000}}, NEW),
    ("vector.types.filter", {"lang": {"like": "e"}}, NONE),
    ("vector.types.filter", {"lang": [True]}, NONE),
    ("vector.types.filter", {"a-b": 1}, NONE),
    ("vector.types.filter", {"a\n": 1}, NONE),
    ("vector.types.filter", {"": 1}, NONE),
    ("vector.types.failure_item", MISSED, BOTH),
    ("vector.types.failure_item", {**MISSED, "id": "v"}, BOTH),
    ("vector.types.failure_item", {"index": 0, "error": "BAD_REQUEST"}, NEW),
    ("vector.types.failure_item", {**MISSED, "id": None, "code": "BAD_REQUEST", "message": "no"}, NEW),
    ("vector.types.failure_item", {"index": 0, "detail": "no"}, NONE),
    ("vector.types.failure_item", {**MISSED, "index": -1}, NONE),
    ("vector.types.failure_item", {**MISSED, "retry_after_ms": 1}, NONE),
    ("vector.types.failure_item", {**MISSED, "item-code": "DOCUMENT_TOO_OLD"}, NEW),
    ("vector.types.partial_success_result", DONE, BOTH),
    ("vector.types.partial_success_result", {**DONE, "failures": [{"index": 0, "error": "BadRequest"}]}, NEW),
    ("vector.types.partial_success_result", {**without(DONE, "processed_count"), "upserted_count": 1}, NEW),
    ("vector.types.partial_success_result", {**without(DONE, "processed_count"), "deleted_count": 1}, NEW),
    ("vector.types.partial_success_result", {**DONE, "results": [{"id": "v"}]}, NEW),
    ("vector.types.partial_success_result", without(DONE, "processed_count"), NONE),
    ("vector.types.partial_success_result", without(DONE, "failed_count"), NONE),
    ("vector.types.partial_success_result", without(DONE, "failures"), NONE),
    ("vector.types.partial_success_result", {**DONE, "processed_count": -1}, NONE),
    ("vector.types.partial_success_result", {**DONE, "inserted": 1}, NONE),
    ("vector.types.partial_success_result", {**DONE, **EXTENDED}, NEW),
    ("vector.types.partial_success_result", {**DONE, "provider_specific": []}, NONE),
    ("vector.capabilities.success", success({"server": "s", "version": "1", "protocol": "vector/v1.0"}), NEW),
    ("vector.capabilities.success", success({"server": "s", "version": "1"}), NONE),
    ("vector.query.request", request("vector.query", ASKED), NEW),
    ("vector.query.request", request("vector.query", {**ASKED, "filter": None, "namespace": None}), NEW),
    ("vector.query.request", request("vector.query", {**ASKED, "filter": {"a": {"b": 1}}}), NONE),
    ("vector.query.request", request("vector.query", {**ASKED, "top_k": 0}), NONE),
    ("vector.query.request", request("vector.query", {**ASKED, "vector": []}), NONE),
    ("vector.query.request", request("vector.query", {"vector": [1]}), NONE),
    ("vector.query.request", request("vector.upsert", ASKED), NONE),
    ("vector.query.success", success(FOUND), NEW),
    ("vector.query.success", success([FOUND]), NONE),
    ("vector.batch_query.request", request("vector.batch_query", {"queries": [ASKED, ASKED]}), NEW),
    ("vector.batch_query.request", request("vector.batch_query", {"queries": [{"vector": [1]}]}), NONE),
    ("vector.batch_query.success", success([FOUND, FOUND]), NEW),
    ("vector.batch_query.success", success([]), NEW),
    ("vector.batch_query.success", success({"results": [FOUND]}), NEW),
    ("vector.batch_query.success", success([{"matches": []}]), NONE),
    ("vector.batch_query.success", success({"matches": []}), NONE),
    ("vector.upsert.request", request("vector.upsert", {"vectors": [{**VECTOR, "metadata": {"a": 1}}]}), NEW),
    ("vector.upsert.request", request("vector.upsert", {"vectors": [{"id": "v"}]}), NONE),
    ("vector.upsert.request", request("vector.upsert", {"vectors": [{**VECTOR, "vector": []}]}), NONE),
    ("vector.upsert.request", request("vector.upsert", {}), NONE),
    ("vector.upsert.success", success({"upserted_count": 1, "failed_count": 0, "failures": []}), NEW),
    ("vector.upsert.success", success({"upserted_count": 1}), NONE),
    ("vector.delete.request", request("vector.delete", {"ids": ["v"]}), NEW),
    ("vector.delete.request", request("vector.delete", {"filter": {"a": 1}}), NEW),
    ("vector.delete.request", request("vector.delete", {"namespace": "n"}), NONE),
    *(("vector.delete.request", request("vector.delete", args), valid) for args, valid in SELECTIONS),
    ("vector.delete.success", success({"deleted_count": 0, "failed_count": 0, "failures": []}), NEW),
    ("vector.create_namespace.request", request("vector.create_namespace", {"namespace": "n", "dimensions": 3}), NEW),
    ("vector.create_namespace.request", request("vector.create_namespace", {"namespace": "n", "dimensions": 0}), NONE),
    ("vector.create_namespace.request", request("vector.create_namespace", {"namespace": "n"}), NONE),
    ("vector.create_namespace.success", success({"success": True, "namespace": "n", "details": {}}), NEW),
    ("vector.create_namespace.success", success({"success": "yes"}), NONE),
    ("vector.delete_namespace.request", request("vector.delete_namespace", {"namespace": "n"}), NEW),
    ("vector.delete_namespace.request", request("vector.delete_namespace", {}), NONE),
    ("vector.delete_namespace.success", success({"success": True, "namespace": "n", "details": None}), NEW),
    ("vector.delete_namespace.success", success([]), NONE),
    ("vector.health.success", success({"ok": False, "status": "down"}), NEW),
    # Embedding.
    ("embedding.envelope.success", success(7), NEW),
    ("embedding.envelope.stream.success", {**FRAME, "chunk": {"embeddings": [], "is_final": True}}, NEW),
    ("embedding.envelope.stream.success", FRAME, NONE),
    ("embedding.types.vector", EMBEDDED, BOTH),
    ("embedding.types.vector", {**EMBEDDED, "index": 0, "metadata": {"a": 1}}, NEW),
    ("embedding.types.vector", {**EMBEDDED, "index": None, "metadata": None, "text": None}, NEW),
    ("embedding.types.vector", without(EMBEDDED, "text"), NONE),
    ("embedding.types.vector", {**EMBEDDED, "vector": []}, NONE),
    ("embedding.types.vector", {**EMBEDDED, "dimensions": 0}, NONE),
    ("embedding.types.vector", {**EMBEDDED, "norm": 1}, NONE),
    ("embedding.types.result", EMBEDDING, BOTH),
    ("embedding.types.result", {**EMBEDDING, "tokens_used": 1, "truncated": False}, BOTH),
    ("embedding.types.result", {**EMBEDDING, "tokens_used": None}, NEW),
    ("embedding.types.result", {**EMBEDDING, "warnings": [WARNING]}, NEW),
    ("embedding.types.result", {**EMBEDDING, **EXTENDED}, NEW),
    ("embedding.types.result", {**EMBEDDING, "provider_specific": []}, NONE),
    ("embedding.types.result", {"embeddings": [EMBEDDED], "model": "m", "text": "a"}, NONE),
    ("embedding.types.failure", UNREAD, BOTH),
    ("embedding.types.failure", {**UNREAD, "code": "TEXT_TOO_LONG"}, NEW),
    ("embedding.types.failure", {**UNREAD, "item-code": None}, NEW),
    ("embedding.types.failure", {"index": 2, "error": "TEXT_TOO_LONG", "detail": "too long"}, NEW),
    ("embedding.types.failure", without(UNREAD, "index"), NONE),
    ("embedding.types.failure", without(UNREAD, "error"), NONE),
    ("embedding.partial_success.result", {**BATCH, "total_tokens": 1, "failed_texts": [UNREAD]}, BOTH),
    ("embedding.partial_success.result", {**BATCH, "total_tokens": None, "failed_texts": None}, NEW),
    ("embedding.partial_success.result", {**BATCH, "failures": [], "processing_time_ms": 1.5}, NEW),
    ("embedding.partial_success.result", {**GENERIC, "embeddings": [EMBEDDED]}, NEW),
    ("embedding.partial_success.result", {**GENERIC, "results": [without(EMBEDDED, "text")]}, NEW),
    ("embedding.partial_success.result", {"results": [EMBEDDED], "model": "m", "total_texts": 1}, NEW),
    ("embedding.partial_success.result", GENERIC, NONE),
    ("embedding.partial_success.result", without(BATCH, "embeddings"), NONE),
    ("embedding.partial_success.result", without(BATCH, "model"), NONE),
    ("embedding.partial_success.result", without(BATCH, "total_texts"), NONE),
    ("embedding.partial_success.result", {**BATCH, "embeddings": [without(EMBEDDED, "text")]}, NONE),
    ("embedding.partial_success.result", {**BATCH, "batch_id": "b"}, NONE),
    ("embedding.partial_success.result", {**BATCH, **EXTENDED}, NEW),
    ("embedding.partial_success.result", {**BATCH, "experimental_features": 1}, NONE),
    ("embedding.types.chunk", {"embeddings": [EMBEDDED], "is_final": False}, NEW),
    ("embedding.types.chunk", {"embeddings": [], "is_final": True, "usage": USAGE, "model": "m"}, NEW),
    ("embedding.types.chunk", {"embeddings": [], "is_final": True, "usage": None, "model": None}, NEW),
    ("embedding.types.chunk", {"embeddings": []}, NONE),
    ("embedding.types.chunk", {"is_final": True}, NONE),
    ("embedding.types.chunk", {"embeddings": [], "is_final": True, "usage": {"total_tokens": -1}}, NONE),
    ("embedding.types.chunk", {"embeddings": [], "is_final": True, "progress": 1}, NONE),
    ("embedding.types.warning", WARNING, BOTH),
    ("embedding.types.warning", {"message": "slow"}, NEW),
    (
        "embedding.capabilities.success",
        success({"server": "s", "version": "1", "protocol": "embedding/v1.0", "supported_models": []}),
        NEW,
    ),
    ("embedding.capabilities.success", success({"server": "s", "protocol": "embedding/v1.0"}), NONE),
    ("embedding.health.success", success({"ok": True, "models": {}}), NEW),
    ("embedding.embed.request", request("embedding.embed", {"text": "a", "model": "m", "truncate": None}), NEW),
    ("embedding.embed.request", request("embedding.embed", {"text": "a"}), NONE),
    ("embedding.embed.success", success(EMBEDDING), NEW),
    ("embedding.embed.success", success(BATCH), NONE),
    ("embedding.embed_batch.request", request("embedding.embed_batch", {"texts": [], "model": "m"}), NEW),
    ("embedding.embed_batch.request", request("embedding.embed_batch", {"texts": [1], "model": "m"}), NONE),
    ("embedding.embed_batch.success", success(BATCH), NEW),
    ("embedding.embed_batch.success", success(EMBEDDING), NONE),
    ("embedding.stream_embed.request", request("embedding.stream_embed", {"text": "a", "model": "m"}), NEW),
    ("embedding.stream_embed.request", request("embedding.embed", {"text": "a", "model": "m"}), NONE),
    ("embedding.stream_embed.frame", {**FRAME, "chunk": {"embeddings": [], "is_final": False}}, NEW),
    ("embedding.count_tokens.request", request("embedding.count_tokens", {"text": "a"}), NEW),
    ("embedding.count_tokens.request", request("embedding.count_tokens", {"texts": ["a"], "model": "m"}), NEW),
    ("embedding.count_tokens.request", request("embedding.count_tokens", {"model": "m"}), NONE),
    ("embedding.count_tokens.success", success(3), NEW),
    ("embedding.count_tokens.success", success({"token_counts": [1, 2], "total_tokens": 3}), NEW),
    ("embedding.count_tokens.success", success({"token_counts": [1, 2]}), NONE),
    ("embedding.count_tokens.success", success(-3), NONE),
    ("embedding.get_stats.success", success({"total_requests": 0, "avg_processing_time_ms": 0.5, "x": 1}), NEW),
    ("embedding.get_stats.success", success({"total_requests": -1}), NONE),
    ("embedding.get_stats.success", success({"total_requests": 0.5}), NONE),
    # Graph.
    ("graph.envelope.stream.success", {**FRAME, "chunk": {"records": [], "is_final": True}}, NEW),
    ("graph.envelope.stream.success", FRAME, NONE),
    ("graph.types.entity", VERTEX, BOTH),
    ("graph.types.entity", EDGE, BOTH),
    ("graph.types.entity", {**VERTEX, "namespace": None, "created_at": 1, "updated_at": None}, NEW),
    ("graph.types.entity", {**EDGE, "namespace": None, "created_at": None, "updated_at": "2025-01-01"}, NEW),
    ("graph.types.entity", {**VERTEX, **EDGE}, NONE),
    ("graph.types.entity", without(VERTEX, "labels"), NONE),
    ("graph.types.entity", {**EDGE, "weight": 1}, NONE),
    ("graph.types.id", {"id": "a"}, BOTH),
    ("graph.types.id", "a", NONE),
    ("graph.types.row", {"a": 1, "": None, "b c": [{}]}, BOTH),
    ("graph.types.row", {"count(\n*)": 1}, NEW),
    ("graph.types.row", [1], NONE),
    ("graph.types.batch_op", {"op": "upsert_nodes", "args": {}}, BOTH),
    ("graph.types.batch_op", {"op": "upsert_nodes"}, NONE),
    ("graph.types.batch_op", {"op": "upsert_nodes", "args": {}, "id": 1}, NONE),
    ("graph.types.partial_success_result", DONE, BOTH),
    ("graph.types.partial_success_result", {**DONE, "failures": [{}], "results": [{}]}, BOTH),
    ("graph.types.partial_success_result", {**DONE, "failures": [{"index": 0, "error": "BadRequest"}]}, BOTH),
    ("graph.types.partial_success_result", {**DONE, "failures": [{"message": "no", "code": "BAD_REQUEST"}]}, NEW),
    ("graph.types.partial_success_result", {**without(DONE, "processed_count"), "upserted_count": 1}, NEW),
    ("graph.types.partial_success_result", {**without(DONE, "processed_count"), "deleted_count": 1}, NEW),
    ("graph.types.partial_success_result", {**DONE, "results": None}, NEW),
    ("graph.types.partial_success_result", {**DONE, "failures": [{"item-code": "NO"}]}, NEW),
    ("graph.types.partial_success_result", without(DONE, "processed_count"), NONE),
    ("graph.types.partial_success_result", {**DONE, "failures": [{"reason": "no"}]}, NONE),
    ("graph.types.partial_success_result", {**DONE, **EXTENDED}, NEW),
    ("graph.types.partial_success_result", {**DONE, "provider_specific": []}, NONE),
    ("graph.types.chunk", {"records": [{"a": 1}], "is_final": False}, NEW),
    ("graph.types.chunk", {"records": [], "is_final": True, "summary": {"rows": 1}}, NEW),
    ("graph.types.chunk", {"records": [], "is_final": True, "summary": None}, NEW),
    ("graph.types.chunk", {"records": [1], "is_final": True}, NONE),
    ("graph.types.chunk", {"records": []}, NONE),
    ("graph.types.chunk", {"records": [], "is_final": True, "rows": 1}, NONE),
    ("graph.types.warning", WARNING, BOTH),
    ("graph.types.warning", {**WARNING, "code": None}, NEW),
    ("graph.stream.frame.data", {"event": "data", "data": {"records": [], "is_final": False}}, BOTH),
    ("graph.stream.frame.end", {"event": "end", "data": {"records": []}}, BOTH),
    ("graph.stream.frame.end", {"event": "end"}, NONE),
    ("graph.stream.frame.error", {"event": "error", "data": ERROR}, BOTH),
    ("graph.stream.frames.ndjson.schema", {"event": "error", "data": ERROR}, BOTH),
    ("graph.stream.frames.ndjson.schema", {"event": "error", "data": {"records": []}}, NONE),
    ("graph.stream.frame.data", {"event": "data", "data": {"records": [], "is_final": True, "summary": None}}, NEW),
    ("graph.stream.frame.data", {"event": "data", "data": {"records": []}}, NONE),
    ("graph.stream.frame.end", {"event": "end", "data": {"records": [], "summary": None, "next_cursor": ""}}, NEW),
    ("graph.stream.frame.end", {"event": "end", "data": {"rows": []}}, NONE),
    *_overlays("graph"),
    ("graph.capabilities.success", success({"server": "s", "version": "1", "protocol": "graph/v1.0"}), NEW),
    ("graph.capabilities.success", success({"server": None, "version": "1", "protocol": "graph/v1.0"}), NONE),
    ("graph.query.request", request("graph.query", {"text": "q", "dialect": None, "params": None}), NEW),
    ("graph.query.request", request("graph.query", {"text": "q", "params": []}), NONE),
    ("graph.query.request", request("graph.query", {"dialect": "cypher"}), NONE),
    ("graph.query.success", success({"records": [{"a": 1}]}), NEW),
    ("graph.query.success", success({"records": [], "summary": {}, "dialect": None, "namespace": None}), NEW),
    ("graph.query.success", success({"records": [], "plan": {}}), NEW),
    ("graph.query.success", success({"rows": []}), NONE),
    ("graph.query.success", success({"records": [1]}), NONE),
    ("graph.query.success", success([]), NONE),
    ("graph.stream_query.request", request("graph.stream_query", {"text": "q"}), NEW),
    ("graph.stream_query.request", request("graph.query", {"text": "q"}), NONE),
    ("graph.stream_query.frame", {**FRAME, "chunk": {"records": [], "is_final": False}}, NEW),
    ("graph.upsert_nodes.request", request("graph.upsert_nodes", {"nodes": [{"id": "a"}, VERTEX]}), NEW),
    ("graph.upsert_nodes.request", request("graph.upsert_nodes", {"nodes": [{"labels": []}]}), NONE),
    ("graph.upsert_nodes.request", request("graph.upsert_nodes", {"nodes": [EDGE]}), NONE),
    ("graph.upsert_nodes.success", success({"upserted_count": 1, "failed_count": 0, "failures": []}), NEW),
    ("graph.upsert_edges.request", request("graph.upsert_edges", {"edges": [without(EDGE, "properties")]}), NEW),
    ("graph.upsert_edges.request", request("graph.upsert_edges", {"edges": [without(EDGE, "dst")]}), NONE),
    ("graph.upsert_edges.success", success(DONE), NEW),
    ("graph.delete_nodes.request", request("graph.delete_nodes", {"ids": ["a"]}), NEW),
    ("graph.delete_nodes.request", request("graph.delete_nodes", {}), NONE),
    *(("graph.delete_nodes.request", request("graph.delete_nodes", args), valid) for args, valid in SELECTIONS),
    *(("graph.delete_edges.request", request("graph.delete_edges", args), valid) for args, valid in SELECTIONS),
    ("graph.delete_nodes.success", success({"deleted_count": 0, "failed_count": 0, "failures": []}), NEW),
    ("graph.delete_edges.request", request("graph.delete_edges", {"filter": {"a": 1}}), NEW),
    ("graph.delete_edges.request", request("graph.delete_edges", {"ids": [1]}), NONE),
    ("graph.delete_edges.success", success({"deleted_count": 0}), NONE),
    ("graph.bulk_vertices.request", request("graph.bulk_vertices", {"limit": 1, "cursor": None}), NEW),
    ("graph.bulk_vertices.request", request("graph.bulk_vertices", {"limit": 0}), NONE),
    ("graph.bulk_vertices.success", success({"nodes": [VERTEX], "next_cursor": None, "has_more": False}), NEW),
    ("graph.bulk_vertices.success", success({"nodes": [], "next_page_token": "p"}), NEW),
    ("graph.bulk_vertices.success", success({"nodes": [EDGE]}), NONE),
    ("graph.bulk_vertices.success", success({"has_more": False}), NONE),
    ("graph.batch.request", request("graph.batch", {"ops": [{"op": "query", "args": {}}]}), NEW),
    ("graph.batch.request", request("graph.batch", {"operations": []}), NONE),
    ("graph.batch.success", success({"results": [{"ok": True, "result": 1}], "success": True}), NEW),
    ("graph.batch.success", success({"results": [{"ok": False, "error": "X", "index": 0}], "success": False}), NEW),
    ("graph.batch.success", success({"results": [{"ok": False, "error": "X"}], "success": False}), NONE),
    ("graph.batch.success", success({"results": [{"ok": False, "index": 0}], "success": False}), NONE),
    ("graph.batch.success", success({"results": [{"result": 1}], "success": True}), NONE),
    ("graph.batch.success", success({"results": []}), NONE),
    ("graph.batch.success", success({"results": [], "success": True, "error": None, "transaction_id": None}), NEW),
    ("graph.batch.success", success({**DONE, "results": [{}]}), NEW),
    ("graph.batch.success", success({**DONE, "results": [], "success": True}), NEW),
    ("graph.batch.success", success({**DONE, "results": [], "succeeded": True}), NONE),
    ("graph.transaction.request", request("graph.transaction", {"operations": [{"op": "query", "args": {}}]}), NEW),
    ("graph.transaction.request", request("graph.transaction", {"ops": []}), NONE),
    ("graph.transaction.success", success({"results": [], "success": False, "error": "BadRequest"}), NEW),
    ("graph.transaction.success", success(DONE), NONE),
    ("graph.get_schema.success", success({"nodes": {"L": {}}, "edges": {}, "metadata": None}), NEW),
    ("graph.get_schema.success", success({"nodes": {}}), NONE),
    ("graph.traversal.request", request("graph.traversal", {"start_nodes": ["a"], "direction": "BOTH"}), NEW),
    ("graph.traversal.request", request("graph.traversal", {"start_nodes": ["a"], "direction": "UP"}), NONE),
    ("graph.traversal.request", request("graph.traversal", {"start_nodes": []}), NONE),
    (
        "graph.traversal.success",
        success({"nodes": [VERTEX], "relationships": [EDGE], "paths": [[VERTEX, EDGE, "b"]], "summary": None}),
        NEW,
    ),
    ("graph.traversal.success", success({"nodes": [], "relationships": []}), NEW),
    ("graph.traversal.success", success({"nodes": [EDGE], "relationships": []}), NONE),
    ("graph.traversal.success", success({"nodes": [], "relationships": [VERTEX]}), NONE),
    ("graph.traversal.success", success({"nodes": [], "relationships": [], "paths": [VERTEX]}), NONE),
    ("graph.health.success", success({"ok": True, "status": "ok", "read_only": False}), NEW),
)


@pytest.mark.parametrize(
    ("name", "instance", "editions"), ACCEPTED, ids=[f"{row[0]}-{n}" for n, row in enumerate(ACCEPTED)]
)
def test_the_editions_that_accept_an_instance(name: str, instance: object, editions: tuple[str, ...]) -> None:
    """Edition 1.1.0 opens what the rulings open, and stays closed elsewhere (R3, R5, R6, R8, R10, R14, R30)."""
    assert registry().editions_met(name, instance) == editions


CHANGED = [schema for schema in SCHEMAS if len(schema.own) > 1]


@pytest.mark.parametrize("schema", CHANGED, ids=lambda schema: schema.name)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_later_edition_only_widens(schema: SchemaFile, data: st.DataObject) -> None:
    """What a schema accepts in one edition, it accepts in every later one (SCHEMA 10.1)."""
    eldest = from_schema(BASE_URI + schema.files[0])
    instance = data.draw(eldest | eldest.flatmap(lambda made: mutated(made, 1)))
    met = registry().editions_met(schema.name, instance)
    assert met in {schema.editions[n:] for n in range(len(schema.editions) + 1)}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_the_generator_reaches_valid_instances(schema: SchemaFile, data: st.DataObject) -> None:
    """The instances made for the property tests are objects of the schema's own keys, not noise."""
    made = data.draw(from_schema(BASE_URI + schema.file()))
    problems = registry().problems(schema.name, made)
    assert {problem.rule for problem in problems} <= {"additionalProperties"}


def test_every_changed_schema_differs() -> None:
    """A `.v1.1` file that says what its elder says would be noise."""
    by_id = documents()
    for schema in CHANGED:
        elder, newer = (dict(by_id[BASE_URI + file]) for file in schema.files)
        assert elder.pop("$id") != newer.pop("$id")
        assert elder != newer, schema.name
