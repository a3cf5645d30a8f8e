"""An adapter of the Corpus Protocol v1.0 for the models of Cohere, by their official client."""

from collections.abc import AsyncIterator

from cohere import AsyncClientV2
from corpus_wire import Metrics
from corpus_wire.llm import Address

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]


async def factory(metrics: Metrics | None = None, provider: Address | None = None) -> AsyncIterator[Adapter]:
    """Yield the adapter for `pytest --corpus-adapter=llm_cohere:factory`, then close the client.

    In a conformance run `metrics` records the observations, and the client talks to a stand-in for Cohere. In production pass
    your own metrics and no provider: the client then reads `CO_API_KEY` and `CO_API_URL`.
    """
    address = {} if provider is None else {"api_key": "unused", "base_url": provider.url}
    async with AsyncClientV2(**address, max_retries=0) as client:
        yield Adapter(Provider(client), metrics)
