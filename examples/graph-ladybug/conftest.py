"""Declares the adapter: `pytest` runs the conformance suite."""

from graph_ladybug import factory


def pytest_corpus_adapter() -> object:
    return factory
