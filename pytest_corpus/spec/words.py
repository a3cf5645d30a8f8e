"""The enumerated values of the protocol, the keys of user content, and the limits of a frame."""

from typing import Final

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


OBJECTS = frozenset(
    (
        *("metadata", "properties", "attrs", "details", "params", "parameters", "provider_specific", "extensions"),
        *("filter", "node_filters", "relationship_filters", "records", "row", "summary"),
    )
)
"""Keys whose values are free content. Users choose the keys inside these values, too."""

TEXTS = frozenset(("text", "content", "prompt", "message", "system_message", "query", "arguments", "user"))
"""Keys whose values are texts of users."""

VECTORS = frozenset(("vector", "query_vector", "embedding"))
"""Keys whose values are vectors."""

LISTS = frozenset(("messages", "texts", "stop_sequences", "embeddings", "vectors", "args"))
"""Keys of containers. By mistake, users may put content there that belongs one level deeper."""


MAX_FRAME_BYTES: Final = 1_048_576
"""The size limit of a frame as UTF-8 JSON (SPECIFICATION 4.2.3.4)."""

BOM: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which must not precede JSON (RFC 8259 8.1)."""
