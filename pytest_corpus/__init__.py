"""pytest-corpus: the conformance suite of the Corpus Protocol v1.0 as a pytest plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.integration.declaring.suite import Suite

__version__ = "0.1.0"

__all__ = ["__version__", "suite"]


def suite(factory: Callable[..., Any] | str, *, label: str | None = None) -> Suite:
    """The whole conformance suite for one adapter, to be assigned in a test module.

    Args:
        factory: the adapter's factory, or its ``module:attribute``.
        label: how reports call the adapter; by default the name that it is assigned to.

    Example:
        ``test_pinecone = pytest_corpus.suite(make_adapter)``
    """
    from pytest_corpus.integration.declaring.suite import Suite

    return Suite(factory, label)
