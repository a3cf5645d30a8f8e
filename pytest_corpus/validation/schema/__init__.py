"""The registry of schemas of both editions. Users import it from `pytest_corpus.schema_registry`."""
