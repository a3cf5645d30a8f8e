"""The conformance tests: one package a component, one module a chapter of BEHAVIORAL_CONFORMANCE 5."""

from __future__ import annotations

CHAPTERS = {
    "llm": (
        "test_wire_handler",
        "test_complete_basic",
        "test_streaming_semantics",
        "test_count_tokens_consistency",
        "test_sampling_params_validation",
        "test_message_validation",
        "test_capabilities_shape",
        "test_health_report",
        "test_context_siem",
        "test_deadline_enforcement",
        "test_error_mapping_retryable",
    ),
    "vector": (
        "test_wire_handler",
        "test_capabilities_shape",
        "test_namespace_operations",
        "test_upsert_basic",
        "test_query_basic",
        "test_dimension_validation",
        "test_filtering_semantics",
        "test_delete_operations",
        "test_batch_size_limits",
        "test_health_report",
        "test_context_siem",
        "test_deadline_enforcement",
        "test_error_mapping_retryable",
    ),
    "embedding": (
        "test_wire_handler",
        "test_embed_basic",
        "test_embed_batch_basic",
        "test_normalization_semantics",
        "test_truncation_and_text_length",
        "test_count_tokens_behavior",
        "test_capabilities_shape",
        "test_health_report",
        "test_context_siem",
        "test_deadline_enforcement",
        "test_error_mapping_retryable",
        "test_cache_and_batch_fallback",
    ),
    "graph": (
        "test_wire_handler",
        "test_capabilities_shape",
        "test_crud_basic",
        "test_query_basic",
        "test_streaming_semantics",
        "test_dialect_validation",
        "test_batch_operations",
        "test_schema_operations",
        "test_health_report",
        "test_context_siem",
        "test_deadline_enforcement",
        "test_error_mapping_retryable",
    ),
}
"""The chapters of each component that has a suite, in the order in which they run: foundations first."""

CLIENT_CHAPTERS = {"wire": ("test_request_builders",)}
"""The chapters of a client library, which stands in the place of a component."""


def chapters_of(component: str) -> tuple[str, ...]:
    """The chapters of a component or of a client library."""
    return {**CHAPTERS, **CLIENT_CHAPTERS}[component]
