"""The lint of schema files; `pytest_corpus.schema_lint` is what users import."""
