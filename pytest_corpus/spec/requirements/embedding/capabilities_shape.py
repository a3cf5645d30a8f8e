"""Capabilities and their truth, and statistics (SPECIFICATION 6.2, 10.5; R22, R23, R29)."""

REQUIREMENTS = """
EMB-CAP-1 SHOULD: Capabilities list the supported models.
  from SPECIFICATION 10.5, R13
  hint: state `supported_models`, the names that `model` may have
EMB-CAP-2 SHOULD: Capabilities state every flag of the component.
  from SPECIFICATION 10.5, R22, R71
  hint: state every flag of EmbeddingCapabilities (SPECIFICATION 10.2), even if it is false
EMB-STATS-1 MUST: `get_stats` answers with an object whose documented counters are numbers that are not negative.
  from SPECIFICATION 4.2.6, SPECIFICATION 4.1, R22
  hint: return an object of plain numbers, and leave out a counter that you do not keep
EMB-STATS-2 SHOULD: The totals of the statistics grow with the work, and never fall.
  from SPECIFICATION 4.2.6, R29; quiet
  hint: count every request and every text of a batch, and do not reset the counters when they are read
EMB-STATS-3 MUST: Statistics reveal no text that was embedded.
  from SPECIFICATION 14.1, SPECIFICATION 15
  hint: statistics cover all tenants: count their texts, but show no text
"""
