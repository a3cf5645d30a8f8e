"""Declares the adapter: `pytest` runs the conformance suite and the tests of this repository."""

from COMPONENT_adapter import factory


def pytest_corpus_adapter() -> object:
    """Return the factory of the adapter."""
    return factory
