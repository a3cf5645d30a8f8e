"""Mistakes of llm adapters, a module a chapter."""
