"""Embedded reference adapters: in memory, deterministic, conformant in every requirement.

`pytest_corpus.reference:llm` and its siblings are factories for ``--corpus-adapter``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_corpus.reference.foundation import Provider
    from pytest_corpus.reference.graph_adapter import ReferenceGraph
    from pytest_corpus.reference.llm_adapter import ReferenceLLM
    from pytest_corpus.reference.telemetry import MetricsSink

__all__ = ["graph", "llm"]


def llm(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceLLM:
    """The reference adapter for LLMs, a wire handler (SPECIFICATION 8)."""
    from pytest_corpus.reference.llm_adapter import ReferenceLLM

    return ReferenceLLM(metrics=metrics, provider=provider)


def graph(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceGraph:
    """The reference adapter for graphs, a wire handler (SPECIFICATION 7)."""
    from pytest_corpus.reference.graph_adapter import ReferenceGraph

    return ReferenceGraph(metrics=metrics, provider=provider)
