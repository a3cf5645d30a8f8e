"""Validation of streams. Users import it from `pytest_corpus.stream_validator`."""
