"""Invariants: expressions in a subset of Python's syntax, interpreted within a budget (R81); and prompt templates."""
