"""Adapters of all four components on the base classes of `corpus-sdk`.

`factory` makes the bare adapters, which pytest-corpus puts into the SDK's own wire handlers; `handlers` does that itself,
and is what a server would serve. Both take the hooks of pytest-corpus by name.
"""

from __future__ import annotations

from typing import Any

from . import embedding_adapter, graph_adapter, llm_adapter, vector_adapter
from .authoring import Provider

MODULES = {"llm": llm_adapter, "vector": vector_adapter, "embedding": embedding_adapter, "graph": graph_adapter}


def factory(metrics: Any = None, provider: Provider | None = None) -> dict[str, Any]:
    """A fresh adapter of each component."""
    return {component: module.adapter(metrics, provider) for component, module in MODULES.items()}


def handlers(metrics: Any = None, provider: Provider | None = None) -> dict[str, Any]:
    """A fresh adapter of each component behind the SDK's wire handler."""
    return {component: module.wire(metrics, provider) for component, module in MODULES.items()}
