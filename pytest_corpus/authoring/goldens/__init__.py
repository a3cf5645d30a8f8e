"""Golden files; `pytest_corpus.golden` is what users import."""
