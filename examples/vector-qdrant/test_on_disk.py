"""The suite once more, with the vectors in a folder: `pytest test_on_disk.py` runs it alone."""

import tempfile
from functools import cache

import pytest_corpus
from corpus_wire import Metrics, Probe
from qdrant_client import AsyncQdrantClient

from vector_qdrant import Adapter, Provider


@cache
def client() -> AsyncQdrantClient:
    """The client of all adapters of the process: a folder can be opened only once."""
    return AsyncQdrantClient(path=tempfile.mkdtemp())


def on_disk(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    return Adapter(Provider(client(), provider), metrics)


test_on_disk = pytest_corpus.suite(on_disk, label="vector_qdrant:on_disk")
