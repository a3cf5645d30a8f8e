"""Of a basic fault the one requirement comes first that says what to mend, and the others are blocked by it."""

import pytest
from thinning import thinned_rows

from mutants.runner import Laboratory

MOST = 5
"""The most MUSTs that may be violated by a basic fault."""

FIRST = {
    "vector_upsert_refused": "VEC-UPSERT-1",
    "vector_upsert_broken": "VEC-UPSERT-1",
    "vector_upsert_empty": "VEC-UPSERT-1",
    "vector_upsert_slow": "COM-WIRE-2",
    "vector_query_broken": "VEC-QUERY-1",
    "vector_query_refused": "VEC-QUERY-1",
    "vector_query_empty": "VEC-QUERY-1",
    "vector_query_slow": "COM-WIRE-2",
    "vector_delete_broken": "VEC-DELETE-1",
    "vector_delete_refused": "VEC-DELETE-1",
    "vector_delete_empty": "VEC-DELETE-1",
    "vector_create_namespace_broken": "VEC-NS-1",
    "vector_create_namespace_refused": "VEC-NS-1",
    "vector_create_namespace_empty": "VEC-NS-1",
    "vector_delete_namespace_broken": "VEC-NS-1",
    "vector_batch_query_broken": "VEC-MULTI-1",
    "vector_writes_denied": "VEC-UPSERT-1",
    "vector_without_tenants": "COM-CTX-3",
    "NoTopKBeyond": "VEC-QUERY-3",
    "OnlyUuids": "VEC-UPSERT-18",
    "IdsBecomeUuids": "VEC-UPSERT-18",
    "FiltersRefused": "VEC-FILTER-1",
    "FiltersIgnored": "VEC-FILTER-1",
    "MetadataRefused": "VEC-UPSERT-6",
    "MetadataDropped": "VEC-QUERY-7",
    "NothingDeleted": "VEC-DELETE-2",
    "llm_dead_denied": "LLM-COMPLETE-1",
    "llm_dead_broken": "LLM-COMPLETE-1",
    "llm_complete_broken": "LLM-COMPLETE-1",
    "llm_complete_refused": "LLM-COMPLETE-1",
    "llm_complete_empty": "LLM-COMPLETE-1",
    "llm_complete_slow": "COM-WIRE-2",
    "llm_stream_broken": "COM-CAP-6",
    "llm_stream_empty": "COM-STREAM-6",
    "llm_count_tokens_broken": "COM-CAP-6",
    "llm_count_tokens_empty": "LLM-TOKENS-1",
    "llm_health_refused": "COM-HEALTH-1",
    "llm_without_tenants": "COM-CTX-3",
    "embedding_dead_denied": "EMB-EMBED-1",
    "embedding_embed_broken": "EMB-EMBED-1",
    "embedding_embed_refused": "EMB-EMBED-1",
    "embedding_embed_empty": "EMB-EMBED-1",
    "embedding_embed_batch_broken": "COM-CAP-6",
    "embedding_embed_batch_empty": "EMB-BATCH-1",
    "embedding_stream_embed_broken": "COM-CAP-6",
    "embedding_count_tokens_empty": "EMB-TOKENS-1",
    "embedding_get_stats_broken": "EMB-STATS-1",
    "embedding_without_tenants": "COM-CTX-3",
}
"""The requirement that comes first, by the adapter of `basic_faults.py`."""


@pytest.mark.parametrize(("fault", "first"), thinned_rows(FIRST.items(), 18))
def test_a_basic_fault_has_one_finding_that_comes_first(fault: str, first: str) -> None:
    """Hardly anything else is violated, and the run is complete: it is no outage."""
    with Laboratory(1) as laboratory:
        report = laboratory.report(f"mutants.basic_faults:{fault}")
    assert report.to_fix[:1] == [first], str(report)
    assert len(report.to_fix) <= MOST, str(report)
    assert (report.verdict, report.gaps, report.errors) == ("nonconformant", [], []), str(report)
