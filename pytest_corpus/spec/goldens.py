"""Every golden file, and what it must be valid under (SCHEMA 7; R40, R41)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import BY_NAME, EDITIONS


@dataclass(frozen=True, slots=True)
class Golden:
    """One golden file.

    Attributes:
        file: where it lies, relative to ``golden/``.
        schema: short name of the schema of the document; of an NDJSON file, of each line.
        editions: the editions under which it must be valid.
        also: schemas that it meets too, in those of its editions that have them.
        last_line: the schema of an NDJSON file's last line where that is another.
    """

    file: str
    schema: str
    editions: tuple[str, ...] = EDITIONS
    also: tuple[str, ...] = ()
    last_line: str | None = None

    @property
    def component(self) -> str:
        return self.file.partition("/")[0]

    @property
    def is_stream(self) -> bool:
        """Whether it is NDJSON, one frame a line."""
        return self.file.endswith(".ndjson")

    @property
    def op(self) -> str:
        """The operation whose request, answer or frame it is; empty where it is of no single one."""
        names = (name.rpartition(".") for name in (self.schema, *self.also))
        return next((op for op, _, kind in names if kind in ("request", "success", "frame") and op in BY_OP), "")

    def checks(self, *, last_line: bool = False) -> Iterator[tuple[str, str]]:
        """Every (schema, edition) that the document or a line of it, perhaps the last, must meet."""
        schemas = (self.last_line,) if last_line and self.last_line else (self.schema, *self.also)
        for schema in schemas:
            for edition in self.editions:
                if edition in BY_NAME[schema].editions:
                    yield schema, edition


_FRAMES = ("1.1.0",)
"""Canonical frames are valid from this edition on (R3)."""


def _request(op: str, stem: str = "") -> Golden:
    """The request golden of one operation; `stem` is its file's where that does not follow from the op."""
    component, _, name = op.partition(".")
    return Golden(
        f"{component}/{stem or f'{component}_{name}_request'}.json",
        f"{component}.envelope.request",
        also=(f"{op}.request",),
    )


def _success(op: str, stem: str = "") -> Golden:
    """The success golden of one unary operation, in the same naming."""
    component, _, name = op.partition(".")
    return Golden(
        f"{component}/{stem or f'{component}_{name}_success'}.json",
        f"{component}.envelope.success",
        also=(f"{op}.success",),
    )


def _exchange(op: str, stem: str = "") -> tuple[Golden, Golden]:
    """The request and the success golden of one operation."""
    return (_request(op, f"{stem}_request" if stem else ""), _success(op, f"{stem}_success" if stem else ""))


def _error(stem: str) -> Golden:
    """The golden of one error envelope."""
    component = stem.partition("_")[0]
    return Golden(f"{component}/{stem}.json", f"{component}.envelope.error", also=("common.envelope.error",))


def _type(component: str, name: str) -> Golden:
    """The golden of one type."""
    return Golden(f"{component}/{component}_types_{name}.json", f"{component}.types.{name}")


def _overlay(component: str, event: str) -> Golden:
    """The golden of one overlay frame, which is a line of the overlay's NDJSON too."""
    return Golden(
        f"{component}/{component}_stream_frame_{event}.json",
        f"{component}.stream.frame.{event}",
        also=(f"{component}.stream.frames.ndjson.schema",),
    )


def _streams(op: str) -> tuple[Golden, Golden, Golden]:
    """The goldens of canonical frames: a stream that succeeds, its first frame, and a stream that fails."""
    component = op.partition(".")[0]
    frame, envelope = f"{op}.frame", (f"{component}.envelope.stream.success",)
    return (
        Golden(f"{component}/{component}_stream.ndjson", frame, _FRAMES, envelope),
        Golden(f"{component}/{component}_stream_chunk.json", frame, _FRAMES, envelope),
        Golden(
            f"{component}/{component}_stream_error.ndjson",
            frame,
            _FRAMES,
            envelope,
            last_line=f"{component}.envelope.error",
        ),
    )


_LLM = (
    *_exchange("llm.capabilities"),
    *_exchange("llm.complete"),
    *_exchange("llm.count_tokens"),
    *_exchange("llm.health"),
    _error("llm_error_envelope"),
    Golden("llm/llm_response_format.json", "llm.response_format"),
    Golden("llm/llm_sampling_params.json", "llm.sampling.params"),
    *_streams("llm.stream"),
    _overlay("llm", "data"),
    _overlay("llm", "end"),
    _overlay("llm", "error"),
    Golden("llm/llm_tools_schema.json", "llm.tools.schema"),
    _type("llm", "chunk"),
    _type("llm", "completion"),
    _type("llm", "logprobs"),
    _type("llm", "message"),
    _type("llm", "token_usage"),
    _type("llm", "tool"),
    _type("llm", "warning"),
)

_VECTOR = (
    *_exchange("vector.capabilities"),
    *_exchange("vector.delete"),
    _error("vector_error_dimension_mismatch"),
    *_exchange("vector.health"),
    *_exchange("vector.create_namespace", "vector_namespace_create"),
    *_exchange("vector.delete_namespace", "vector_namespace_delete"),
    Golden("vector/vector_partial_success_result.json", "vector.types.partial_success_result"),
    *_exchange("vector.query"),
    _type("vector", "failure_item"),
    _type("vector", "filter"),
    _type("vector", "query_result"),
    _type("vector", "vector"),
    _type("vector", "vector_match"),
    *_exchange("vector.upsert"),
)

_EMBEDDING = (
    *_exchange("embedding.capabilities"),
    _request("embedding.count_tokens", "embedding_count_tokens_request_batch"),
    _request("embedding.count_tokens", "embedding_count_tokens_request_single"),
    _success("embedding.count_tokens", "embedding_count_tokens_success_batch"),
    _success("embedding.count_tokens", "embedding_count_tokens_success_single"),
    *_exchange("embedding.embed_batch"),
    *_exchange("embedding.embed"),
    _error("embedding_envelope_error"),
    *_exchange("embedding.health"),
    Golden("embedding/embedding_partial_success_result.json", "embedding.partial_success.result"),
    _type("embedding", "failure"),
    _type("embedding", "vector"),
    _type("embedding", "warning"),
)

_GRAPH = (
    _request("graph.delete_nodes", "graph.delete_nodes.by_id.request"),
    _success("graph.delete_nodes", "graph.delete_nodes.by_id.success"),
    _request("graph.upsert_nodes", "graph.upsert_nodes.single.request"),
    _success("graph.upsert_nodes", "graph.upsert_nodes.single.success"),
    Golden("graph/graph_batch_op_create_vertex.json", "graph.types.batch_op"),
    Golden("graph/graph_batch_op_query.json", "graph.types.batch_op"),
    *_exchange("graph.batch"),
    *_exchange("graph.capabilities"),
    *_exchange("graph.upsert_edges", "graph_edge_create"),
    Golden("graph/graph_entity_edge.json", "graph.types.entity"),
    Golden("graph/graph_entity_vertex.json", "graph.types.entity"),
    _error("graph_envelope_error"),
    *_exchange("graph.health"),
    Golden("graph/graph_id_value.json", "graph.types.id"),
    Golden("graph/graph_partial_success_result.json", "graph.types.partial_success_result"),
    *_exchange("graph.query"),
    Golden("graph/graph_row.json", "graph.types.row"),
    *_streams("graph.stream_query"),
    _overlay("graph", "data"),
    _overlay("graph", "end"),
    _overlay("graph", "error"),
    _request("graph.stream_query"),
    Golden("graph/graph_warning.json", "graph.types.warning"),
)

GOLDENS = (*_LLM, *_VECTOR, *_EMBEDDING, *_GRAPH)
"""Every golden, folder by folder."""

BY_FILE = {golden.file: golden for golden in GOLDENS}


def goldens_of(op: str) -> tuple[Golden, ...]:
    """The goldens of one operation: those of the table, or what it would have there if it had any."""
    listed = tuple(golden for golden in GOLDENS if golden.op == op)
    if listed:
        return listed
    if BY_OP[op].streaming:
        name = op.partition(".")[2]
        frames = tuple(replace(golden, file=golden.file.replace("_stream", f"_{name}")) for golden in _streams(op))
        return (_request(op), *frames)
    return _exchange(op)


def request_golden(op: str) -> Golden:
    """The golden of an operation's request, or the one that it would have."""
    return next((golden for golden in goldens_of(op) if f"{op}.request" in golden.also), _request(op))


def answer_golden(op: str) -> Golden:
    """The golden of an operation's success, or of a whole stream of it, or the one that it would have."""
    if BY_OP[op].streaming:
        return next(golden for golden in goldens_of(op) if golden.is_stream and golden.last_line is None)
    return next((golden for golden in goldens_of(op) if f"{op}.success" in golden.also), _success(op))
