"""An adapter of the Corpus Protocol v1.0 for PostgreSQL with the extension pgvector."""

import os
from functools import partial

from corpus_wire import Metrics, Probe

from .adapter import Adapter
from .indexes import EXACT, HNSW, IVFFLAT, Index
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory", "hnsw", "ivfflat"]


def factory(metrics: Metrics | None = None, provider: Probe | None = None, index: Index = EXACT) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=vector_pgvector:factory`; `DATABASE_URL` names the database.

    In a conformance run `metrics` records the observations, and `provider` makes the provider fail as planned; in
    production pass your own metrics and no probe.
    """
    return Adapter(Provider(os.environ.get("DATABASE_URL", ""), index, provider), metrics)


hnsw = partial(factory, index=HNSW)
ivfflat = partial(factory, index=IVFFLAT)
