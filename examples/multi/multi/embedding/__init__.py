"""The `embedding` adapter."""

from __future__ import annotations

from ..wire import Metrics
from .adapter import Adapter
from .provider import Probe, Provider

__all__ = ["factory"]


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """What `pytest --corpus-adapter=multi.embedding:factory` calls."""
    return Adapter(Provider(provider), metrics)
