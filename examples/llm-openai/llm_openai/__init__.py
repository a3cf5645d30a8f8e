"""An adapter of the Corpus Protocol v1.0 for the models of OpenAI, by their official client."""

from __future__ import annotations

from typing import Protocol

from openai import AsyncOpenAI

from .adapter import Adapter
from .provider import Provider
from .wire import Metrics

__all__ = ["Adapter", "Provider", "factory"]


class Address(Protocol):
    """What a conformance run passes as `provider`: a stand-in for OpenAI that listens at `url`."""

    @property
    def url(self) -> str: ...


def factory(metrics: Metrics | None = None, provider: Address | None = None) -> Adapter:
    """What `pytest --corpus-adapter=llm_openai:factory` calls.

    In a conformance run `metrics` records what is observed, and the client talks to the stand-in. In production pass your own
    metrics and no provider: the client then reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
    """
    if provider is None:
        return Adapter(Provider(AsyncOpenAI(max_retries=0)), metrics)
    return Adapter(Provider(AsyncOpenAI(api_key="unused", base_url=f"{provider.url}/v1", max_retries=0)), metrics)
