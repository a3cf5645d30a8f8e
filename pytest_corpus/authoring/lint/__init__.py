"""The lint of schema files. Users import it from `pytest_corpus.schema_lint`."""
