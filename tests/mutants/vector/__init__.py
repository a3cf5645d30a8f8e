"""Mistakes of vector adapters, a module a chapter."""
