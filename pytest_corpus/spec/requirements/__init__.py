"""The requirement catalogue: every sentence of the documents that the suite tests.

One `Requirement` a sentence, one module for a few chapters of a component. Ids are stable: a retired id is never used
again.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from pytest_corpus.spec.requirements.model import Level, Requirement

__all__ = ["CATALOGUE_VERSION", "Level", "Requirement", "applicable", "catalogue", "nearest"]

CATALOGUE_VERSION = "1.0"


@cache
def catalogue() -> MappingProxyType[str, Requirement]:
    """Every requirement by id, in the order of the catalogue.

    Raises:
        ValueError: an id is given twice.
    """
    from pytest_corpus.spec.requirements import (
        common_conduct,
        common_faults,
        common_telemetry,
        common_wire,
        embedding,
        embedding_conduct,
        graph,
        graph_queries,
        graph_wholes,
        llm,
        llm_conduct,
        vector,
        vector_state,
        vector_upsert,
        wire,
    )

    modules = (
        common_wire,
        common_conduct,
        common_telemetry,
        common_faults,
        llm,
        llm_conduct,
        vector_upsert,
        vector,
        vector_state,
        embedding,
        embedding_conduct,
        graph,
        graph_queries,
        graph_wholes,
        wire,
    )
    entries = [entry for module in modules for entry in module.REQUIREMENTS]
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
