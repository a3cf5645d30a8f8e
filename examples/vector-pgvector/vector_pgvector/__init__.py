"""An adapter of the Corpus Protocol v1.0 for PostgreSQL with the extension pgvector."""

from __future__ import annotations

import os
from typing import Any

from .adapter import Adapter
from .indexes import EXACT, HNSW, IVFFLAT, Index
from .provider import Probe, Provider
from .wire import Call, Metrics

__all__ = ["Adapter", "Provider", "factory", "hnsw", "ivfflat"]


class IndexedAdapter(Adapter):
    """An adapter that says how it searches."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        offered = await super().capabilities(call)
        extensions = dict(self.provider.index.extensions)
        return {**offered, "extensions": extensions} if extensions else offered


def made(index: Index, metrics: Metrics | None, provider: Probe | None) -> Adapter:
    """`DATABASE_URL` names the database."""
    return IndexedAdapter(Provider(os.environ.get("DATABASE_URL", ""), index, provider), metrics)


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """What `pytest --corpus-adapter=vector_pgvector:factory` calls: exact search, without an index.

    In a conformance run `metrics` records what is observed, and `provider` lets the provider fail as planned; in
    production pass your own metrics and no probe.
    """
    return made(EXACT, metrics, provider)


def hnsw(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """The same with an index that is a graph."""
    return made(HNSW, metrics, provider)


def ivfflat(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """The same with an index that is a list for each region, of which a query looks at one."""
    return made(IVFFLAT, metrics, provider)
