"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

REQUIREMENTS = """
GRA-OBS-1 MUST: Labels contain no unknown dialect and no id of a node.
  from SPECIFICATION 13.1, R21; needs metrics
  hint: use only listed dialects as labels, and no ids
GRA-OBS-2 SHOULD: A namespace does not become a label.
  from SPECIFICATION 13.1, R21; needs metrics, supports_namespaces
  hint: keep `namespace` out of `extra`
"""
