"""An adapter of the Corpus Protocol v1.0 for the models of OpenAI, by their official client."""

from corpus_wire import Metrics
from corpus_wire.llm import Address
from openai import AsyncOpenAI

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]


def factory(metrics: Metrics | None = None, provider: Address | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=llm_openai:factory`.

    In a conformance run `metrics` records the observations, and the client talks to a stand-in for OpenAI. In production pass
    your own metrics and no provider: the client then reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
    """
    if provider is None:
        return Adapter(Provider(AsyncOpenAI(max_retries=0)), metrics)
    return Adapter(Provider(AsyncOpenAI(api_key="unused", base_url=f"{provider.url}/v1", max_retries=0)), metrics)
