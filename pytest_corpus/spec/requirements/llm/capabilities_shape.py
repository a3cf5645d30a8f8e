"""Capabilities and their truth (SPECIFICATION 6.2, 8.4; BEHAVIORAL_CONFORMANCE 5.3; R22, R23)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("llm",))

REQUIREMENTS = (
    R(
        "LLM-CAP-1",
        "SHOULD",
        "Capabilities list the models and state the context length.",
        ("SPECIFICATION 8.4", "R22"),
        hint="state `models` (or `supported_models`) and max_context_length, or a context_window for each model",
    ),
    R(
        "LLM-CAP-2",
        "SHOULD",
        "The stated sampling ranges lie within the protocol's.",
        ("SPECIFICATION 8.4", "SPECIFICATION 8.3"),
        hint="cut the provider's ranges to the protocol's: temperature within [0, 2], top_p within [0, 1]",
    ),
)
