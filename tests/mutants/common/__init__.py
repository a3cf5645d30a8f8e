"""Mistakes in what components share, a module a chapter."""
