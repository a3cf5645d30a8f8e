"""Embedded reference adapters: in memory, deterministic, conformant to every requirement.

`pytest_corpus.reference:llm` and its siblings are factories for ``--corpus-adapter``, one per component;
`pytest_corpus.reference:all` serves all four. `pytest_corpus.reference:client` is for ``--corpus-client``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

# Import the folders before the factories of the same names; a later import would replace the factory.
import pytest_corpus.reference.embedding
import pytest_corpus.reference.graph
import pytest_corpus.reference.llm
import pytest_corpus.reference.vector  # noqa: F401
from pytest_corpus.spec.components import ROWS

if TYPE_CHECKING:
    from pytest_corpus.reference.foundation import Provider, ReferenceAdapter
    from pytest_corpus.reference.request_builders import ReferenceClient
    from pytest_corpus.reference.telemetry import MetricsSink

__all__ = ["all", "client", "embedding", "graph", "llm", "vector"]


def _factory(component: str, title: str) -> Callable[..., ReferenceAdapter]:
    """Make the factory of a component's reference adapter."""

    def factory(metrics: MetricsSink | None = None, provider: Provider | None = None) -> ReferenceAdapter:
        made: type[ReferenceAdapter] = getattr(import_module(f"{__name__}.{component}.adapter"), f"Reference{title}")
        return made(metrics=metrics, provider=provider)

    return factory


_FACTORIES = {row.name: _factory(row.name, row.title) for row in ROWS}
llm, vector, embedding, graph = (_FACTORIES[name] for name in ("llm", "vector", "embedding", "graph"))


def all(metrics: MetricsSink | None = None, provider: Provider | None = None) -> dict[str, ReferenceAdapter]:  # noqa: A001
    """Return the reference adapters of all components, by component."""
    return {component: factory(metrics, provider) for component, factory in _FACTORIES.items()}


def client() -> ReferenceClient:
    """The reference client, which builds a request for every operation (SCHEMA 8.2)."""
    from pytest_corpus.reference.request_builders import ReferenceClient

    return ReferenceClient()
