"""Embedded reference adapters: in memory, deterministic, conformant in every requirement.

`pytest_corpus.reference:llm` and its siblings are factories for ``--corpus-adapter``.
"""

from __future__ import annotations

# Imported before the factory of the same name is defined: a later first import of the submodule would
# bind the module over the factory.
from pytest_corpus.reference.foundation import MetricsSink, Provider
from pytest_corpus.reference.llm import ReferenceLLM

__all__ = ["llm"]


def llm(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceLLM:
    """The reference adapter for LLMs, a wire handler (SPECIFICATION 8)."""
    return ReferenceLLM(metrics=metrics, provider=provider)
