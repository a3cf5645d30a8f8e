"""Keys of messages at which a user's own words, numbers and objects stand: shown by kind and size alone."""

OBJECTS = frozenset(
    (
        *("metadata", "properties", "attrs", "details", "params", "parameters", "provider_specific", "extensions"),
        *("filter", "node_filters", "relationship_filters", "records", "row", "summary"),
    )
)
"""Keys below which anything may stand, keys of the user's own included."""

TEXTS = frozenset(("text", "content", "prompt", "message", "system_message", "query", "arguments", "user"))
"""Keys of texts."""

VECTORS = frozenset(("vector", "query_vector", "embedding"))
"""Keys of vectors."""

LISTS = frozenset(("messages", "texts", "stop_sequences", "embeddings", "vectors", "args"))
"""Keys of what holds the others, where a user may have written what belongs deeper."""
