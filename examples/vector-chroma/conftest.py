"""Declares the adapter: `pytest` runs the conformance suite and the other tests."""

import os
import tempfile

from vector_chroma import factory

os.environ["CHROMA_PATH"] = tempfile.mkdtemp()  # each worker of pytest-xdist has a folder of its own


def pytest_corpus_adapter() -> object:
    return factory
