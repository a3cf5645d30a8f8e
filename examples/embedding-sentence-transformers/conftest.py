"""Declares the adapter: `pytest` runs the conformance suite."""

from embedding_sentence_transformers import factory


def pytest_corpus_adapter() -> object:
    return factory
