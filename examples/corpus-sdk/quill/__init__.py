"""Adapters of all four components on the base classes of `corpus-sdk`.

`factory` makes the bare adapters, which pytest-corpus puts into the SDK's own wire handlers; `handlers` does so itself, as a
server would.
"""

from typing import Any

from corpus_sdk.embedding.embedding_base import WireEmbeddingHandler
from corpus_sdk.graph.graph_base import WireGraphHandler
from corpus_sdk.llm.llm_base import WireLLMHandler
from corpus_sdk.vector.vector_base import WireVectorHandler

from .authoring import Provider
from .embedding_adapter import QuillEmbeddingAdapter
from .graph_adapter import QuillGraphAdapter
from .llm_adapter import QuillAdapter
from .vector_adapter import QuillVectorAdapter

ADAPTERS = {
    "llm": (QuillAdapter, WireLLMHandler),
    "vector": (QuillVectorAdapter, WireVectorHandler),
    "embedding": (QuillEmbeddingAdapter, WireEmbeddingHandler),
    "graph": (QuillGraphAdapter, WireGraphHandler),
}


def factory(metrics: Any = None, provider: Provider | None = None) -> dict[str, Any]:
    """Return a fresh adapter of each component."""
    return {component: adapter(metrics, provider) for component, (adapter, _) in ADAPTERS.items()}


def handlers(metrics: Any = None, provider: Provider | None = None) -> dict[str, Any]:
    """Return a fresh adapter of each component in the SDK's wire handler."""
    return {component: handler(adapter(metrics, provider)) for component, (adapter, handler) in ADAPTERS.items()}
