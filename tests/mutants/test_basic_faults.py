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
    "NothingKept": "VEC-UPSERT-2",
    "NoMatches": "VEC-UPSERT-2",
    "EmptyResults": "VEC-MULTI-1",
    "TenantsShared": "COM-TENANT-1",
    "vector_batch_query_refused": "VEC-MULTI-1",
    "vector_batch_query_empty": "VEC-MULTI-1",
    "vector_delete_namespace_refused": "VEC-NS-1",
    "vector_delete_namespace_empty": "VEC-NS-4",
    "vector_delete_slow": "COM-WIRE-2",
    "vector_create_namespace_slow": "COM-WIRE-2",
    "vector_dead_broken": "VEC-UPSERT-1",
    "vector_health_refused": "COM-HEALTH-1",
    "llm_dead_denied": "LLM-COMPLETE-1",
    "llm_dead_broken": "LLM-COMPLETE-1",
    "llm_complete_broken": "LLM-COMPLETE-1",
    "llm_complete_refused": "LLM-COMPLETE-1",
    "llm_complete_empty": "LLM-COMPLETE-1",
    "llm_complete_slow": "COM-WIRE-2",
    "llm_stream_broken": "COM-CAP-6",
    "llm_stream_refused": "COM-CAP-6",
    "llm_stream_empty": "COM-STREAM-6",
    "llm_stream_slow": "COM-WIRE-2",
    "llm_count_tokens_broken": "COM-CAP-6",
    "llm_count_tokens_refused": "COM-CAP-6",
    "llm_count_tokens_empty": "LLM-TOKENS-1",
    "llm_health_refused": "COM-HEALTH-1",
    "llm_without_tenants": "COM-CTX-3",
    "embedding_dead_denied": "EMB-EMBED-1",
    "embedding_embed_broken": "EMB-EMBED-1",
    "embedding_embed_refused": "EMB-EMBED-1",
    "embedding_embed_empty": "EMB-EMBED-1",
    "embedding_embed_slow": "COM-WIRE-2",
    "embedding_embed_batch_broken": "COM-CAP-6",
    "embedding_embed_batch_refused": "COM-CAP-6",
    "embedding_embed_batch_empty": "EMB-BATCH-1",
    "embedding_embed_batch_slow": "COM-WIRE-2",
    "embedding_stream_embed_broken": "COM-CAP-6",
    "embedding_stream_embed_refused": "COM-CAP-6",
    "embedding_stream_embed_empty": "COM-STREAM-6",
    "embedding_count_tokens_broken": "COM-CAP-6",
    "embedding_count_tokens_refused": "COM-CAP-6",
    "embedding_count_tokens_empty": "EMB-TOKENS-1",
    "embedding_get_stats_broken": "EMB-STATS-1",
    "embedding_get_stats_refused": "EMB-STATS-1",
    "embedding_health_refused": "COM-HEALTH-1",
    "embedding_without_tenants": "COM-CTX-3",
    "graph_dead_broken": "GRA-NODE-1",
    "graph_dead_denied": "GRA-NODE-1",
    "graph_writes_denied": "GRA-NODE-1",
    "graph_upsert_nodes_broken": "GRA-NODE-1",
    "graph_upsert_nodes_refused": "GRA-NODE-1",
    "graph_upsert_nodes_empty": "GRA-NODE-1",
    "graph_upsert_nodes_slow": "COM-WIRE-2",
    "graph_upsert_edges_broken": "GRA-EDGE-1",
    "graph_upsert_edges_refused": "GRA-EDGE-1",
    "graph_upsert_edges_empty": "GRA-EDGE-1",
    "graph_delete_nodes_broken": "GRA-DELETE-1",
    "graph_delete_nodes_refused": "GRA-DELETE-1",
    "graph_delete_nodes_empty": "GRA-DELETE-1",
    "graph_delete_nodes_denied": "GRA-DELETE-1",
    "graph_delete_nodes_slow": "COM-WIRE-2",
    "graph_delete_edges_broken": "GRA-DELETE-2",
    "graph_delete_edges_refused": "GRA-DELETE-2",
    "graph_delete_edges_empty": "GRA-DELETE-2",
    "graph_query_broken": "GRA-QUERY-1",
    "graph_query_refused": "GRA-QUERY-1",
    "graph_query_empty": "GRA-QUERY-1",
    "graph_query_slow": "COM-WIRE-2",
    "graph_stream_query_broken": "COM-CAP-6",
    "graph_stream_query_refused": "COM-CAP-6",
    "graph_stream_query_empty": "COM-STREAM-6",
    "graph_stream_query_slow": "COM-WIRE-2",
    "graph_bulk_vertices_broken": "COM-CAP-6",
    "graph_bulk_vertices_empty": "GRA-BULK-2",
    "graph_batch_broken": "COM-CAP-6",
    "graph_batch_refused": "COM-CAP-6",
    "graph_batch_empty": "GRA-BATCH-2",
    "graph_transaction_broken": "COM-CAP-6",
    "graph_transaction_refused": "COM-CAP-6",
    "graph_transaction_empty": "GRA-TXN-4",
    "graph_traversal_broken": "COM-CAP-6",
    "graph_traversal_refused": "COM-CAP-6",
    "graph_traversal_empty": "GRA-TRAV-1",
    "graph_traversal_slow": "COM-WIRE-2",
    "graph_get_schema_broken": "COM-CAP-6",
    "graph_get_schema_refused": "COM-CAP-6",
    "graph_health_refused": "COM-HEALTH-1",
    "graph_without_tenants": "COM-CTX-3",
    "NoNodesKept": "GRA-NODE-1",
    "NoEdgesKept": "GRA-EDGE-1",
    "GraphKeepsNothing": "GRA-NODE-1",
    "PropertiesDropped": "GRA-NODE-1",
    "PropertiesRefused": "GRA-NODE-1",
    "EdgePropertiesDropped": "GRA-EDGE-2",
    "LabelsChanged": "GRA-NODE-1",
    "LabelsDropped": "GRA-NODE-1",
    "LabelsRefused": "GRA-NODE-1",
    "EdgeLabelsChanged": "GRA-EDGE-1",
    "OnlyUuidsOfNodes": "GRA-NODE-12",
    "NodeIdsBecomeUuids": "GRA-NODE-12",
    "NodeFiltersIgnored": "GRA-DELETE-6",
    "GraphTenantsShared": "COM-TENANT-1",
    "NamespacesIgnored": "GRA-NS-1",
    "NothingReached": "GRA-TRAV-2",
    "NoNodesDeleted": "GRA-DELETE-1",
    "NoRecords": "GRA-QUERY-2",
    "DialectRefused": "GRA-DIALECT-2",
    "DialectsButOneRefused": "GRA-DIALECT-2",
    "ParamsRefused": "GRA-QUERY-1",
}
"""The requirement that comes first, by the adapter of `basic_faults.py`."""


@pytest.mark.parametrize(("fault", "first"), thinned_rows(FIRST.items(), 45, 1))
def test_a_basic_fault_has_one_finding_that_comes_first(fault: str, first: str) -> None:
    """Hardly anything else is violated, and the run is complete: it is no outage."""
    with Laboratory(1) as laboratory:
        report = laboratory.report(f"mutants.basic_faults:{fault}")
    assert report.to_fix[:1] == [first], str(report)
    assert len(report.to_fix) <= MOST, str(report)
    assert (report.verdict, report.gaps, report.errors) == ("nonconformant", [], []), str(report)
    words = [said for found in report.findings.values() for said in found]
    assert not [said for said in words if "blocked by" in said or "not so" in said], words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refusal", "verdict"),
    [
        ("NodeFiltersRefused", "conformant"),
        ("graph_bulk_vertices_refused", "conformant"),
        ("NoNamespaces", "incomplete"),
    ],
)
def test_what_may_be_refused_permanently_violates_nothing(refusal: str, verdict: str) -> None:
    """A graph may refuse filters (GRA-BULK-5), lists of nodes (R123) and namespaces that it does not know (R133)."""
    with Laboratory(1) as laboratory:
        report = laboratory.report(f"mutants.basic_faults:{refusal}")
    assert (report.to_fix, report.verdict, report.errors) == ([], verdict, []), str(report)
