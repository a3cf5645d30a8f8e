"""An adapter of the Corpus Protocol v1.0 for the models of Anthropic, by their official client."""

from anthropic import AsyncAnthropic
from corpus_wire import Metrics
from corpus_wire.llm import Address

from .adapter import Adapter
from .provider import Provider

__all__ = ["Adapter", "Provider", "factory"]


def factory(metrics: Metrics | None = None, provider: Address | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=llm_anthropic:factory`.

    In a conformance run `metrics` records the observations, and the client talks to a stand-in for Anthropic. In production pass
    your own metrics and no provider: the client then reads `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`.
    """
    if provider is None:
        return Adapter(Provider(AsyncAnthropic(max_retries=0)), metrics)
    return Adapter(Provider(AsyncAnthropic(api_key="unused", base_url=provider.url, max_retries=0)), metrics)
