"""Transports. The modules have the same interface: each sends a request and returns the answer as bytes."""
