"""What a client library keeps when it builds requests."""
