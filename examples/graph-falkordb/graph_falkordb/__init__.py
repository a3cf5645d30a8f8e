"""An adapter of the Corpus Protocol v1.0 for FalkorDB."""

import os

from corpus_wire import Metrics, Probe

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=graph_falkordb:factory`; `FALKORDB_URL` names the server.

    In a conformance run `metrics` records the observations, and `provider` makes the provider fail as planned; in
    production pass your own metrics and no probe.
    """
    return Adapter(Provider(os.environ.get("FALKORDB_URL", "redis://localhost:6379/0"), provider), metrics)
