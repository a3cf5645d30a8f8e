"""Invariants: expressions in a part of Python's syntax, interpreted within a budget (R81)."""
