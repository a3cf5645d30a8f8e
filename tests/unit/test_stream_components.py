"""Streams of embedding and graph: the same state machine over their own chunks."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import mutated
from stream_frames import CANARY, CHUNKS, EMBEDDED, ERROR, FINAL, frame

from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.stream_validator import ErrorType, validate_frames

EMPTY: dict[str, dict[str, Any]] = {"llm": {"text": ""}, "embedding": {"embeddings": []}, "graph": {"records": []}}


@pytest.mark.parametrize("edition", [None, *EDITIONS])
@pytest.mark.parametrize("component", CHUNKS)
def test_legal_streams_of_every_component_pass(component: str, edition: str | None) -> None:
    """Several frames, one final frame, an empty final chunk, keep-alives and a late error are legal (R4)."""
    data = frame(chunk=CHUNKS[component])
    final = frame(chunk={**CHUNKS[component], "is_final": True})
    keep_alive = frame(chunk={**EMPTY[component], "is_final": False})
    empty_end = frame(chunk={**EMPTY[component], "is_final": True})
    for frames in ([final], [data, final], [keep_alive, data, keep_alive, empty_end], [empty_end], [data, ERROR]):
        result = validate_frames(frames, component, edition)
        assert result.is_valid, result.error_summary
        assert result.terminal == ("error" if frames[-1] is ERROR else "success")


OWN: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("embedding", {"usage": None, "model": None}, ""),
    ("embedding", {"usage": {"prompt_tokens": 3, "total_tokens": 3}}, ""),
    ("embedding", {"embeddings": [{**EMBEDDED, "index": 0, "metadata": None}]}, ""),
    ("embedding", {"embeddings": None}, "chunk.embeddings"),
    ("embedding", {"embeddings": [{**EMBEDDED, "vector": []}]}, "chunk.embeddings.0.vector"),
    ("embedding", {"embeddings": [{**EMBEDDED, "norm": 1}]}, "chunk.embeddings.0.norm"),
    ("embedding", {"usage": 3}, "chunk.usage"),
    ("embedding", {"text": CANARY}, "chunk.text"),
    ("embedding", {"is_final": None}, "chunk.is_final"),
    ("graph", {"summary": None}, ""),
    ("graph", {"summary": {"rows": 1}}, ""),
    ("graph", {"records": {}}, "chunk.records"),
    ("graph", {"records": [{"a": 1}, [1]]}, "chunk.records.1"),
    ("graph", {"rows": []}, "chunk.rows"),
    ("graph", {"is_final": 1}, "chunk.is_final"),
)


@pytest.mark.parametrize(("component", "changed", "path"), OWN, ids=[f"{row[0]}-{n}" for n, row in enumerate(OWN)])
def test_chunks_are_held_to_the_schema_of_their_component(component: str, changed: dict[str, Any], path: str) -> None:
    """Every component has a chunk schema; a pin to the edition before it existed asks the first that has it."""
    frames = [frame(chunk={**CHUNKS[component], **changed}), frame(chunk={**EMPTY[component], "is_final": True})]
    for edition in (None, *EDITIONS):
        errors = validate_frames(frames, component, edition).validation_errors
        assert [(e.error_type, e.path) for e in errors] == ([(ErrorType.CHUNK_SCHEMA, path)] if path else [])


@pytest.mark.parametrize("component", ["embedding", "graph"])
def test_chunks_of_another_component_are_refused(component: str) -> None:
    """A chunk belongs to one component."""
    errors = validate_frames([FINAL], component).validation_errors
    assert [error.error_type for error in errors] == [ErrorType.CHUNK_SCHEMA]


@settings(deadline=None, max_examples=600)
@given(data=st.data())
def test_engine_and_frame_schema_agree_in_every_component(data: st.DataObject) -> None:
    """A single frame passes the engine exactly when it meets the component's frame schema or error envelope."""
    component = data.draw(st.sampled_from(sorted(CHUNKS)))
    chunk = CHUNKS[component]
    seeds = [frame(chunk=chunk), frame(chunk={**chunk, "is_final": True}), ERROR]
    instance = data.draw(st.sampled_from(seeds).flatmap(mutated))
    names = (f"{component}.envelope.stream.success", f"{component}.envelope.error")
    valid = any(registry().is_valid(name, instance) for name in names)
    errors = [error for error in validate_frames([instance], component).validation_errors if error.frame_number]
    assert valid == (errors == [])
