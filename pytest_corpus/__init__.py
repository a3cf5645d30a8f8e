"""pytest-corpus: the conformance suite of the Corpus Protocol v1.0 as a pytest plugin.

The names in `__all__` are the public interface for adapters, conftest files and tests. Each is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.adapter.client import AdapterClient
    from pytest_corpus.adapter.exchange import Exchange, Frame
    from pytest_corpus.adapter.hooks.metrics import Count, Observation, RecordingSink
    from pytest_corpus.adapter.hooks.provider import ProviderProbe
    from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, ProviderError
    from pytest_corpus.integration.declaring.suite import Suite
    from pytest_corpus.reference.telemetry import MetricsSink
    from pytest_corpus.validation.schema.registry import SchemaRegistry

__version__ = "0.1.0"

__all__ = [
    "AdapterClient",
    "Answer",
    "CompletionRequest",
    "Count",
    "Exchange",
    "Frame",
    "MetricsSink",
    "Observation",
    "ProviderError",
    "ProviderProbe",
    "RecordingSink",
    "SchemaRegistry",
    "Suite",
    "__version__",
    "suite",
]

_MODULES = {
    "AdapterClient": "adapter.client",
    "Answer": "bundles.providers.protocol",
    "CompletionRequest": "bundles.providers.protocol",
    "Count": "adapter.hooks.metrics",
    "Exchange": "adapter.exchange",
    "Frame": "adapter.exchange",
    "MetricsSink": "reference.telemetry",
    "Observation": "adapter.hooks.metrics",
    "ProviderError": "bundles.providers.protocol",
    "ProviderProbe": "adapter.hooks.provider",
    "RecordingSink": "adapter.hooks.metrics",
    "SchemaRegistry": "validation.schema.registry",
    "Suite": "integration.declaring.suite",
}
"""The module of each public name, imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def suite(factory: Callable[..., Any] | str, *, label: str | None = None) -> Suite:
    """Declare the conformance suite of an adapter, in a test module.

    Args:
        factory: the adapter's factory, or its ``module:attribute``.
        label: the adapter's name in reports; by default the name that the suite is assigned to.

    Example:
        ``test_pinecone = pytest_corpus.suite(make_adapter)``
    """
    from pytest_corpus.integration.declaring.suite import Suite

    return Suite(factory, label)
