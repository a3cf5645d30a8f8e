"""Declares the adapter, so that `pytest` runs the conformance suite."""

import minimal


def pytest_corpus_adapter(config):
    return minimal.factory
