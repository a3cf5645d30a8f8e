"""An adapter of the Corpus Protocol v1.0 for the models of Cohere, by their official client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from cohere import AsyncClientV2

from .adapter import Adapter
from .provider import Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


class Address(Protocol):
    """What a conformance run passes as `provider`: a stand-in for Cohere that listens at `url`."""

    @property
    def url(self) -> str: ...


async def factory(metrics: Metrics | None = None, provider: Address | None = None) -> AsyncIterator[Adapter]:
    """What `pytest --corpus-adapter=llm_cohere:factory` calls; what follows `yield` closes the client.

    In a conformance run `metrics` records what is observed, and the client talks to the stand-in. In production pass your own
    metrics and no provider: the client then reads `CO_API_KEY` and `CO_API_URL`.
    """
    address = {} if provider is None else {"api_key": "unused", "base_url": provider.url}
    async with AsyncClientV2(**address, max_retries=0) as client:
        yield Adapter(Provider(client), metrics)
