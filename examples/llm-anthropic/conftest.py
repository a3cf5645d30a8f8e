"""Declares the adapter: `pytest` runs the conformance suite."""

from llm_anthropic import factory


def pytest_corpus_adapter() -> object:
    return factory
