"""Declares the adapter: `pytest` runs the conformance suite."""

from vector_qdrant import factory


def pytest_corpus_adapter() -> object:
    return factory
