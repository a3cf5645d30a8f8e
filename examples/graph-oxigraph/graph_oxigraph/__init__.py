"""An adapter of the Corpus Protocol v1.0 for Oxigraph."""

from __future__ import annotations

import os

from .adapter import Adapter
from .provider import Probe, Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """What `pytest --corpus-adapter=graph_oxigraph:factory` calls; `OXIGRAPH_PATH` names the folder of the store.

    In a conformance run `metrics` records what is observed, and `provider` lets the provider fail as planned; in
    production pass your own metrics and no probe.
    """
    return Adapter(Provider(provider, os.environ.get("OXIGRAPH_PATH")), metrics)
