"""Requirements on a client library that builds requests."""
