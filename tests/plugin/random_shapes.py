"""Truthful adapters with a random part of the capabilities and random limits of the references.

An attribute ``vector_17`` of this module is the factory of the seventeenth shape of vector: the same each time.
"""

import importlib
import random
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.reference.request import Call

REFERENCES = {
    component: f"pytest_corpus.reference.{component}.adapter:Reference{name}"
    for component, name in (("llm", "LLM"), ("vector", "Vector"), ("embedding", "Embedding"), ("graph", "Graph"))
}

LIMITS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "llm": {"context_window": (16, 48, 128, 512, 4096), "tokens_in_chunk": (1, 3, 4, 1000)},
    "vector": {
        "max_dimensions": (1, 2, 5, 64),
        "max_batch_size": (1, 2, 3, 16),
        "max_top_k": (1, 2, 5, 32),
        "max_filter_terms": (1, 2, 4),
    },
    "embedding": {"max_text_length": (8, 33, 512), "max_batch_size": (1, 2, 3, 8)},
    "graph": {
        "max_batch_ops": (1, 2, 5, 24),
        "max_traversal_depth": (1, 2, 6),
        "max_query_length": (1000, 8192),
        "records_in_chunk": (1, 2, 3),
    },
}
"""The limits of each reference that a shape may have otherwise; all of them are enforced and, where asked, stated."""

BOUND = {"supports_index_management": "supports_namespaces", "normalizes_at_source": "normalizes_at_source"}
"""Flags that follow another one, or stay as they are."""


def shape(component: str, seed: int) -> Callable[..., Any]:
    """The factory of one shape: flags that are switched off, flags that are left unsaid, limits, nested or flat."""
    drawn = random.Random(f"{component} {seed}")
    module, _, name = REFERENCES[component].partition(":")
    reference = getattr(importlib.import_module(module), name)
    stated = dict(reference.features)
    off = [flag for flag in stated if flag not in BOUND and stated[flag] is True and drawn.random() < 0.25]
    features = {flag: value and BOUND.get(flag, flag) not in off and flag not in off for flag, value in stated.items()}
    unsaid = {flag for flag in features if features[flag] and drawn.random() < 0.2}
    limits = {limit: drawn.choice(values) for limit, values in LIMITS[component].items()}
    is_nested = drawn.random() < 0.3

    async def capabilities(self: Any, call: Call) -> dict[str, Any]:
        told = await reference.capabilities(self, call)
        told = {key: value for key, value in told.items() if key not in unsaid}
        if not is_nested:
            return told
        flags = {key: value for key, value in told.items() if isinstance(value, bool)}
        return {**{key: value for key, value in told.items() if key not in flags}, "features": flags}

    body = {"features": features, "capabilities": capabilities, **limits, "__doc__": f"{sorted(off)} {limits}"}
    made: Callable[..., Any] = type(f"{component.title()}{seed}", (reference,), body)
    return made


def __getattr__(name: str) -> Callable[..., Any]:
    component, _, seed = name.partition("_")
    if component not in REFERENCES or not seed.isdigit():
        raise AttributeError(name)
    return shape(component, int(seed))
