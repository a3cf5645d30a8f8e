"""Capabilities and their truth (SPECIFICATION 6.2, 8.4; BEHAVIORAL_CONFORMANCE 5.3; R22, R23)."""

REQUIREMENTS = """
LLM-CAP-1 SHOULD: Capabilities list the models and state the context length.
  from SPECIFICATION 8.4, R22
  hint: state `models` (or `supported_models`) and max_context_length, or a context_window for each model
LLM-CAP-2 SHOULD: The stated sampling ranges lie within the ranges of the protocol.
  from SPECIFICATION 8.4, SPECIFICATION 8.3
  hint: cut the provider's ranges to those of the protocol: temperature within [0, 2], top_p within [0, 1]
LLM-CAP-3 SHOULD: Capabilities state the feature flags and the sampling ranges.
  from SPECIFICATION 8.4, R22
  hint: state `sampling` and each flag of `features`, false for what you do not offer
"""
