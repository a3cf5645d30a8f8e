"""An adapter of the Corpus Protocol v1.0 for Qdrant."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

from qdrant_client import AsyncQdrantClient

from .adapter import Adapter
from .provider import Probe, Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


async def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> AsyncIterator[Adapter]:
    """What `pytest --corpus-adapter=vector_qdrant:factory` calls; what follows `yield` closes the client.

    `QDRANT_URL` names a server; without it everything is kept in memory. In a conformance run `metrics` records what
    is observed, and `provider` lets the provider fail as planned; in production pass your own metrics and no probe.
    """
    client = AsyncQdrantClient(os.environ.get("QDRANT_URL", ":memory:"), api_key=os.environ.get("QDRANT_API_KEY"))
    yield Adapter(Provider(client, provider), metrics)
    await client.close()
