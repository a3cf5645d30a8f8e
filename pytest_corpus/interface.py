"""The public interface of `pytest_corpus`: names for adapters, conftest files and tests, imported on first use."""

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
"""The public names by the module that defines them; a module is imported when one of its names is used first."""


def find_public_name(name: str) -> Any:
    """Return the object with this name in `pytest_corpus`. Raises AttributeError if there is none."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"pytest_corpus.{module}"), name)
    if name == "suite":
        return suite
    if name == "__all__":
        return [*__all__, "__version__"]
    raise AttributeError(f"module 'pytest_corpus' has no attribute {name!r}")


def suite(factory: Callable[..., Any] | str, *, label: str | None = None) -> Suite:
    """Declare the conformance suite of an adapter, in a test module.

    Args:
        factory: the adapter's factory, or its ``module:attribute``.
        label: the adapter's name in reports; by default the name of the variable that holds the result.

    Example:
        ``test_pinecone = pytest_corpus.suite(make_adapter)``
    """
    from pytest_corpus.integration.declaring.suite import Suite

    return Suite(factory, label)
