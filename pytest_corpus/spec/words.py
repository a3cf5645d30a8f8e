"""The few words that a value of the protocol may be: codes of success, reasons to finish, states of health."""

SUCCESS_CODES = ("OK", "PARTIAL_SUCCESS", "ACCEPTED")
"""The `code` of a unary success (SPECIFICATION 4.2.1; R9)."""

STREAMING_CODE = "STREAMING"
"""The `code` of every success frame (SPECIFICATION 4.2.3.1; R2)."""

STREAM_OUTCOME = "count_stream_final_outcome"
"""The counter of streams (BEHAVIORAL_CONFORMANCE 6.2)."""

EXTENSION_KEYS = ("streaming_transports", "tag_model_in_metrics", "read_after_write_consistency", "metric_default")
"""The keys without a namespace that the documents themselves show under `extensions` (SPECIFICATION 6.2, R71)."""

FINISH_REASONS = ("stop", "length", "tool_call", "tool_calls", "content_filter")
"""The reasons for the end of a completion."""

HEALTH_STATES = ("ok", "degraded", "down")
"""The `status` of a health report, the good one first (SPECIFICATION 7.6; R35)."""
