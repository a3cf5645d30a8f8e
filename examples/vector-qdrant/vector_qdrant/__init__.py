"""An adapter of the Corpus Protocol v1.0 for Qdrant."""

import os
from collections.abc import AsyncIterator

from corpus_wire import Metrics, Probe
from qdrant_client import AsyncQdrantClient

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]


async def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> AsyncIterator[Adapter]:
    """Yield the adapter for `pytest --corpus-adapter=vector_qdrant:factory`, then close the client.

    `QDRANT_URL` names a server; without it everything is kept in memory. In a conformance run `metrics` records the
    observations, and `provider` makes the provider fail as planned; in production pass your own metrics and no probe.
    """
    client = AsyncQdrantClient(os.environ.get("QDRANT_URL", ":memory:"), api_key=os.environ.get("QDRANT_API_KEY"))
    yield Adapter(Provider(client, provider), metrics)
    await client.close()
