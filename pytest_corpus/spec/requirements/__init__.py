"""The requirement catalogue: every sentence of the documents that the suite tests.

One `Requirement` a sentence, one module a chapter: `llm/streaming_semantics.py` has what
`suites/llm/test_streaming_semantics.py` decides; what components share lies in `common/`. Ids are stable: a retired id
is never used again.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import MappingProxyType

from pytest_corpus.spec.requirements.model import HOOKS, LOGS, Level, Requirement

__all__ = ["CATALOGUE_VERSION", "HOOKS", "LOGS", "Level", "Requirement", "applicable", "catalogue", "nearest"]

CATALOGUE_VERSION = "1.0"

CHAPTERS = {
    "common": (
        "wire_handler",
        "streaming",
        "capabilities",
        "health",
        "context",
        "observability",
        "privacy",
        "deadlines",
        "faults",
        "state",
    ),
    "llm": (
        "complete_basic",
        "streaming_semantics",
        "count_tokens_consistency",
        "sampling_params_validation",
        "message_validation",
        "capabilities_shape",
    ),
    "vector": (
        "capabilities_shape",
        "namespace_operations",
        "upsert_basic",
        "query_basic",
        "dimension_validation",
        "filtering_semantics",
        "delete_operations",
        "batch_size_limits",
    ),
    "embedding": (
        "embed_basic",
        "embed_batch_basic",
        "normalization_semantics",
        "truncation_and_text_length",
        "count_tokens_behavior",
        "capabilities_shape",
        "context_siem",
        "cache_and_batch_fallback",
    ),
    "graph": (
        "capabilities_shape",
        "crud_basic",
        "query_basic",
        "streaming_semantics",
        "dialect_validation",
        "batch_operations",
        "schema_operations",
        "context_siem",
    ),
    "wire": ("request_builders",),
}
"""The modules of the catalogue by their folder, in its order."""


@cache
def catalogue() -> MappingProxyType[str, Requirement]:
    """Every requirement by id, in the order of the catalogue.

    Raises:
        ValueError: an id is given twice.
    """
    modules = [import_module(f"{__name__}.{room}.{name}") for room, names in CHAPTERS.items() for name in names]
    entries: list[Requirement] = [entry for module in modules for entry in module.REQUIREMENTS]
    by_id = {entry.id: entry for entry in entries}
    if len(by_id) != len(entries):
        raise ValueError("the requirement catalogue gives an id twice")
    return MappingProxyType(by_id)


def applicable(component: str) -> tuple[Requirement, ...]:
    """The requirements that speak of a component."""
    return tuple(entry for entry in catalogue().values() if component in entry.components)


def nearest(wrong: str, count: int = 3) -> list[str]:
    """The ids that look most like `wrong`, for messages."""
    from difflib import get_close_matches

    return get_close_matches(wrong.upper(), catalogue(), n=count, cutoff=0.4)
