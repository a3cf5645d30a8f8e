"""Type-checked uses of the public interface; nothing here is run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

import pytest_corpus
from pytest_corpus import (
    AdapterClient,
    Answer,
    CompletionRequest,
    Count,
    Exchange,
    Frame,
    MetricsSink,
    Observation,
    ProviderError,
    ProviderProbe,
    RecordingSink,
    SchemaRegistry,
    Suite,
)

version: str = pytest_corpus.__version__


class Adapter:
    """An adapter with both hooks."""

    def __init__(self, metrics: MetricsSink | None = None, provider: ProviderProbe | None = None) -> None:
        self.metrics, self.provider = metrics, provider

    async def handle(self, envelope: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one request."""
        if self.provider is not None:
            await self.provider.reached("llm.complete", items=1)
        if self.metrics is not None:
            self.metrics.observe(component="llm", op="complete", ms=1.5, ok=True, code="OK", extra={})
            self.metrics.counter(component="llm", name="requests_total", value=1, extra={"op": "complete"})
        return {"ok": True, "code": "OK", "ms": 1.5, "result": {}}

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        """Answer one request with a stream."""
        await asyncio.sleep(0)
        yield {"ok": True, "code": "STREAMING", "ms": 0.5, "chunk": {"text": "", "is_final": True}}


def factory(metrics: MetricsSink | None = None, provider: ProviderProbe | None = None) -> Adapter:
    """Make the adapter under test."""
    return Adapter(metrics, provider)


adapter_with_a_recording_sink: Adapter = factory(metrics=RecordingSink())
declared: Suite = pytest_corpus.suite(factory)
named: Suite = pytest_corpus.suite("mypkg.module:factory", label="mine")


def pytest_corpus_adapter(config: pytest.Config) -> Callable[..., Adapter]:
    """Declare the adapter in a conftest.py."""
    return factory


def pytest_corpus_bundle_providers(config: pytest.Config) -> Mapping[str, Callable[[CompletionRequest], Answer]]:
    """Answer behaviour bundles."""

    def echo(request: CompletionRequest) -> Answer:
        if request.remaining_s() < 1 or request.model is None:
            raise ProviderError("Unavailable", "too late", retry_after_ms=500)
        return Answer(request.messages[-1]["content"], prompt_tokens=len(request.prompt), cached=False)

    return {"echo": echo}


def pytest_corpus_bundle_scorers(config: pytest.Config) -> Mapping[str, Callable[..., float]]:
    """Score the answers of behaviour bundles."""
    return {"brevity": lambda raw_output, **_: 1 - len(raw_output) / 500}


def test_own(corpus_adapter: AdapterClient, corpus_metrics: RecordingSink, corpus_provider: ProviderProbe) -> None:
    """Call the adapter under test."""
    corpus_provider.plan("rate_limited", "llm.complete", retry_after_ms=70)
    exchange: Exchange = corpus_adapter.send({"op": "llm.health", "ctx": {}, "args": {}}, "llm")
    frames: list[Frame] = list(exchange.frames)
    observations: list[Observation] = corpus_metrics.observations
    counts: list[Count] = corpus_metrics.counts
    assert (len(frames), len(observations), len(counts), corpus_provider.calls("llm.complete")) == (1, 1, 1, 0)


def test_vendor_client(corpus_provider_server: ProviderProbe) -> None:
    """Point an official client at the provider's address."""
    address: str = corpus_provider_server.url
    assert address.startswith("http://")


def test_message(schema_registry: SchemaRegistry) -> None:
    """Validate a message."""
    assert schema_registry.problems("llm.types.completion", {"text": "a"}, "1.0.0")
    schema_registry.assert_valid("llm.types.completion", {}, context="an empty completion")
