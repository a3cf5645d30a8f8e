"""Declares the adapter, so that `pytest` runs the conformance suite beside the tests of this repository."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm_cohere import Adapter, factory


def pytest_corpus_adapter(config: pytest.Config) -> Callable[..., Adapter]:
    return factory
