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
