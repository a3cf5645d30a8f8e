"""Declares the adapter: `pytest` runs the conformance suite."""

from embedding_hashing import factory


def pytest_corpus_adapter() -> object:
    return factory
