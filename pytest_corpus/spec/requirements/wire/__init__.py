"""Requirements of a client library that builds requests."""
