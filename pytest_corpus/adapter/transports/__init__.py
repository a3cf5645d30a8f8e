"""Transports. Each module sends a request and returns the answer as bytes, with the same Protocol."""
