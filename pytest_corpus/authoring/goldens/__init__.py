"""Golden files. Users import them from `pytest_corpus.golden`."""
