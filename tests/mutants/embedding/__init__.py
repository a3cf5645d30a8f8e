"""Mistakes of embedding adapters, a module a chapter."""
