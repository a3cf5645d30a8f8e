"""Declares the adapter: `pytest` runs the conformance suite."""

import os

import pytest

from llm_ollama import factory
from stand_in import Ollama


def pytest_configure(config: pytest.Config) -> None:
    """Without `OLLAMA_HOST`, start a stand-in for Ollama's API, and end it with the run."""
    if "OLLAMA_HOST" not in os.environ:  # workers inherit the variable from the process that started them
        server = Ollama()
        os.environ["OLLAMA_HOST"] = server.address
        config.add_cleanup(server.close)


def pytest_corpus_adapter() -> object:
    return factory
