"""Declares the adapter, so that `pytest` runs the conformance suite beside the tests of this repository."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable

import pytest

from vector_chroma import Adapter, factory

os.environ["CHROMA_PATH"] = tempfile.mkdtemp()  # each worker of pytest-xdist has a folder of its own


def pytest_corpus_adapter(config: pytest.Config) -> Callable[..., Adapter]:
    return factory
