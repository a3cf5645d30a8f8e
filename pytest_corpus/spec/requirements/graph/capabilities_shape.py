"""Capabilities and their truth (SPECIFICATION 6.2, 7.3.3; BEHAVIORAL_CONFORMANCE 5.2; R22, R23)."""

REQUIREMENTS = """
GRA-CAP-1 SHOULD: If batches are offered, `extensions` list the operations that a batch takes.
  from SPECIFICATION 7.3.3, R33; needs supports_batch
  hint: list the operations that a batch takes under a key of `extensions`, for example acme:batch_ops
GRA-CAP-2 SHOULD: If batches are offered, capabilities state `max_batch_ops`.
  from SPECIFICATION 16.2, SPECIFICATION 7.2; needs supports_batch
  hint: state the max_batch_ops that batches enforce
"""
