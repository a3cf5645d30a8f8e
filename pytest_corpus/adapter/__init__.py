"""Reaching the adapter under test: resolve, open, call, stream, record."""
