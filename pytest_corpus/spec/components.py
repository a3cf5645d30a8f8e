"""The table of components; `wire` is a pseudo-component for client libraries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Component:
    """A component of the protocol, with its names and chapters.

    Attributes:
        name: the prefix of operations and the name of folders.
        title: the spelling in BEHAVIORAL_CONFORMANCE 12 and in the names of the SDK's classes.
        prefix: the prefix of the component's requirement ids.
        chapters: the chapters of BEHAVIORAL_CONFORMANCE 5, by their file names, in the order in which they run:
            foundations first. A long chapter continues in files whose names begin with the chapter's name.
    """

    name: str
    title: str
    prefix: str
    chapters: tuple[str, ...]


_TABLE = """
llm LLM LLM
    wire_handler complete_basic streaming_semantics count_tokens_consistency sampling_params_validation
    message_validation capabilities_shape health_report context_siem deadline_enforcement error_mapping_retryable
vector Vector VEC
    wire_handler capabilities_shape namespace_operations upsert_basic query_basic query_basic_arguments
    query_basic_scores dimension_validation filtering_semantics delete_operations batch_size_limits health_report
    context_siem context_siem_tenants deadline_enforcement error_mapping_retryable
embedding Embedding EMB
    wire_handler embed_basic embed_batch_basic normalization_semantics truncation_and_text_length
    count_tokens_behavior capabilities_shape health_report context_siem deadline_enforcement
    error_mapping_retryable cache_and_batch_fallback
graph Graph GRA
    wire_handler capabilities_shape crud_basic crud_basic_edges crud_basic_deletes crud_basic_isolation
    crud_basic_replays query_basic query_basic_traversals streaming_semantics
    dialect_validation batch_operations batch_operations_pages schema_operations
    health_report context_siem deadline_enforcement error_mapping_retryable
"""

ROWS = tuple(
    Component(name, title, prefix, tuple(chapters))
    for name, title, prefix, *chapters in map(str.split, _TABLE.replace("\n    ", " ").strip().splitlines())
)
"""Every component, in the order of reports."""

CLIENT = Component("wire", "Wire", "WIR", ("request_builders",))
"""The pseudo-component for a client library with request builders."""

COMPONENTS = tuple(row.name for row in ROWS)

WIRE = (CLIENT.name,)
"""The `components` of a client library's requirements."""

TITLES = {row.name: row.title for row in (*ROWS, CLIENT)}
"""The title of each component and pseudo-component, by name."""

COMMON_CHAPTERS = (
    *("wire_handler", "streaming", "capabilities", "health", "context"),
    *("observability", "privacy", "deadlines", "faults", "state"),
)
"""The chapters of requirements that components share, in the order of the catalogue."""

TRANSPORT_CHAPTERS = ("http", "http_streams", "messages", "grpc", "calls", "advertising")
"""The chapters of requirements on transports; they are tested for each component, after its own chapters."""
