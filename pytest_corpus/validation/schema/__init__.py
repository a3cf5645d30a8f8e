"""Schemas of both editions; `pytest_corpus.schema_registry` is what users import."""
