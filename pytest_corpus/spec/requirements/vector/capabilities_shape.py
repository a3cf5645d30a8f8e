"""Capabilities and their truth (SPECIFICATION 6.2, 9.4; BEHAVIORAL_CONFORMANCE 5.4; R22, R23)."""

REQUIREMENTS = """
VEC-CAP-1 MUST: Capabilities list at least one of the metrics cosine, euclidean and dot.
  from SPECIFICATION 9.4
  hint: list some of cosine, euclidean and dot, by these names, in `supported_metrics`
VEC-CAP-2 MUST: A namespace can be created and used with every metric that capabilities list, whatever the name of the
    metric.
  from SPECIFICATION 9.4, BEHAVIORAL_CONFORMANCE 5.4, R23
  hint: list only metrics that create_namespace, upsert and query support
VEC-CAP-3 SHOULD: Capabilities publish `max_top_k`.
  from SPECIFICATION 16.2, SPECIFICATION 9.3
  hint: state the max_top_k that queries enforce
VEC-CAP-4 MUST: Stated limits (max_dimensions, max_batch_size, max_top_k, max_filter_terms) are positive whole numbers.
  from SPECIFICATION 4.1, SPECIFICATION 6.2, R22
  hint: omit a limit that you do not have; do not state 0 or -1
VEC-CAP-5 MUST: Labels contain no item id, and no name of an unknown namespace.
  from ERRORS 5, SPECIFICATION 13.1, R21; needs metrics
  hint: do not use ids and namespaces as labels; report their number instead
VEC-CAP-6 SHOULD: The name of a namespace, even of an existing one, does not become a label.
  from SPECIFICATION 13.1, R21; needs metrics, supports_namespaces
  hint: do not add namespaces to extra or counter names, not even existing ones
"""
