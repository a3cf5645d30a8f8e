"""Capabilities and their truth (SPECIFICATION 6.2, 9.4; BEHAVIORAL_CONFORMANCE 5.4; R22, R23)."""

REQUIREMENTS = """
VEC-CAP-1 MUST: Capabilities advertise the metrics: cosine, euclidean, dot or some of them.
  from SPECIFICATION 9.4
  hint: list cosine, euclidean, dot or some of them, by these names, in `supported_metrics`
VEC-CAP-2 MUST: A namespace can be created with every metric that capabilities list, whatever its name, and used.
  from SPECIFICATION 9.4, BEHAVIORAL_CONFORMANCE 5.4, R23
  hint: list only metrics that create_namespace takes and upsert and query work with
VEC-CAP-3 SHOULD: Capabilities publish `max_top_k`.
  from SPECIFICATION 16.2, SPECIFICATION 9.3
  hint: state the max_top_k that queries enforce
VEC-CAP-4 MUST: Stated limits (max_dimensions, max_batch_size, max_top_k, max_filter_terms) are positive whole numbers.
  from SPECIFICATION 4.1, SPECIFICATION 6.2, R22
  hint: leave out a limit that you do not have; state neither 0 nor -1 for it
VEC-CAP-5 MUST: Neither an item id nor a namespace that a client made up becomes a label.
  from ERRORS 5, SPECIFICATION 13.1, R21; needs metrics
  hint: keep ids and namespaces out of labels; report how many there were instead
VEC-CAP-6 SHOULD: The name of a namespace, even of one that is there, does not become a label.
  from SPECIFICATION 13.1, R21; needs metrics, supports_namespaces
  hint: keep namespace out of extra and counter names, a namespace that exists too
"""
