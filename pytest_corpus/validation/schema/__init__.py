"""Schemas of both editions. Users import them from `pytest_corpus.schema_registry`."""
