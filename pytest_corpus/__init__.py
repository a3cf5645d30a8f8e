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

__version__ = "1.0.0"

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

_NAMES = {
    "adapter.client": ("AdapterClient",),
    "adapter.exchange": ("Exchange", "Frame"),
    "adapter.hooks.metrics": ("Count", "Observation", "RecordingSink"),
    "adapter.hooks.provider": ("ProviderProbe",),
    "bundles.providers.protocol": ("Answer", "CompletionRequest", "ProviderError"),
    "integration.declaring.suite": ("Suite",),
    "reference.telemetry": ("MetricsSink",),
    "validation.schema.registry": ("SchemaRegistry",),
}
"""The public names of each module, which is imported on first use of one."""


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
