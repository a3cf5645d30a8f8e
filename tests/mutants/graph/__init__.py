"""Mistakes of graph adapters, a module a chapter."""
