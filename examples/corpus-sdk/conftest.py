"""Declares the adapters, so that `pytest` runs the conformance suite of all four components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quill import factory


def pytest_corpus_adapter(config: pytest.Config) -> Callable[..., dict[str, Any]]:
    return factory
