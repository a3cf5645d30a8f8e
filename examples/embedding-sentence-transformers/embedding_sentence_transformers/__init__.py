"""An adapter of the Corpus Protocol v1.0 for the model all-MiniLM-L6-v2."""

from __future__ import annotations

from .adapter import Adapter
from .provider import Probe, Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """What `pytest --corpus-adapter=embedding_sentence_transformers:factory` calls.

    In a conformance run `metrics` records what is observed, and `provider` lets the provider fail as planned; in
    production pass your own metrics and no probe.
    """
    return Adapter(Provider(provider), metrics)
