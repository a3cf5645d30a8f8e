"""Embedded reference adapters: in memory, deterministic, conformant in every requirement.

`pytest_corpus.reference:llm` and its siblings are factories for ``--corpus-adapter``, each of one component, and
`pytest_corpus.reference:all` is one of all four. `pytest_corpus.reference:client` is one for ``--corpus-client``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# The folders, before the factories of the same names: a folder that is imported later would take the name.
import pytest_corpus.reference.embedding
import pytest_corpus.reference.graph
import pytest_corpus.reference.llm
import pytest_corpus.reference.vector  # noqa: F401

if TYPE_CHECKING:
    from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
    from pytest_corpus.reference.foundation import Provider, ReferenceAdapter
    from pytest_corpus.reference.graph.adapter import ReferenceGraph
    from pytest_corpus.reference.llm.adapter import ReferenceLLM
    from pytest_corpus.reference.request_builders import ReferenceClient
    from pytest_corpus.reference.telemetry import MetricsSink
    from pytest_corpus.reference.vector.adapter import ReferenceVector

__all__ = ["all", "client", "embedding", "graph", "llm", "vector"]


def llm(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceLLM:
    """The reference adapter for LLMs, a wire handler (SPECIFICATION 8)."""
    from pytest_corpus.reference.llm.adapter import ReferenceLLM

    return ReferenceLLM(metrics=metrics, provider=provider)


def vector(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceVector:
    """The reference adapter for vectors, a wire handler (SPECIFICATION 9)."""
    from pytest_corpus.reference.vector.adapter import ReferenceVector

    return ReferenceVector(metrics=metrics, provider=provider)


def embedding(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceEmbedding:
    """The reference adapter for embeddings, a wire handler (SPECIFICATION 10)."""
    from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding

    return ReferenceEmbedding(metrics=metrics, provider=provider)


def graph(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceGraph:
    """The reference adapter for graphs, a wire handler (SPECIFICATION 7)."""
    from pytest_corpus.reference.graph.adapter import ReferenceGraph

    return ReferenceGraph(metrics=metrics, provider=provider)


def all(metrics: MetricsSink | None = None, provider: Provider | None = None) -> dict[str, ReferenceAdapter]:  # noqa: A001
    """The reference adapters of all components, by component."""
    factories = {"llm": llm, "vector": vector, "embedding": embedding, "graph": graph}
    return {component: factory(metrics, provider) for component, factory in factories.items()}


def client() -> ReferenceClient:
    """The reference client, which builds a request of every operation (SCHEMA 8.2)."""
    from pytest_corpus.reference.request_builders import ReferenceClient

    return ReferenceClient()
