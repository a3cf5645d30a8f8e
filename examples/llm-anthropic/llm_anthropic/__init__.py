"""An adapter of the Corpus Protocol v1.0 for the models of Anthropic, by their official client."""

from __future__ import annotations

from typing import Protocol

from anthropic import AsyncAnthropic

from .adapter import Adapter
from .provider import Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


class Address(Protocol):
    """What a conformance run passes as `provider`: a stand-in for Anthropic that listens at `url`."""

    @property
    def url(self) -> str: ...


def factory(metrics: Metrics | None = None, provider: Address | None = None) -> Adapter:
    """What `pytest --corpus-adapter=llm_anthropic:factory` calls.

    In a conformance run `metrics` records what is observed, and the client talks to the stand-in. In production pass your own
    metrics and no provider: the client then reads `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`.
    """
    if provider is None:
        return Adapter(Provider(AsyncAnthropic(max_retries=0)), metrics)
    return Adapter(Provider(AsyncAnthropic(api_key="unused", base_url=provider.url, max_retries=0)), metrics)
