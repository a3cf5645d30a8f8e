"""Capabilities and their truth (SPECIFICATION 6.2, 8.4; BEHAVIORAL_CONFORMANCE 5.3; R22, R23)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.judgement import look_at_capabilities
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.capabilities import SAMPLING_RANGES
from pytest_corpus.suites.llm.support.capabilities import RANGES
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.shared.claims.capabilities import TestCapabilities, TestStreamingClaim

STATED = (
    "sampling",
    "supports_streaming",
    "supports_roles",
    "supports_system_message",
    "supports_json_output",
    "supports_parallel_tool_calls",
    "supports_deadline",
    "supports_count_tokens",
)
"""The keys in SPECIFICATION 8.4, except models and limits."""


@pytest.mark.requirement("LLM-CAP-1")
def test_models_and_context_length_are_stated(llm: LLM) -> None:
    """Capabilities list at least one model and state a context length."""
    look_at_capabilities(llm.capabilities)
    expect.check(llm.capabilities.models, "a list of models", "no list of models", "result")
    expect.check(llm.capabilities.context_window(llm.model), "a context length", "no context length", "result")


@pytest.mark.requirement("COM-CAP-4")
def test_the_entries_of_models_have_their_types(llm: LLM) -> None:
    """An object in `models` has a `name`, its context window is a number, and its flags are booleans."""
    look_at_capabilities(llm.capabilities)
    expect.applicable(llm.capabilities.model_entries, "`models` contains no objects")
    for number, entry in enumerate(llm.capabilities.model_entries):
        name = entry.get("name")
        expect.check(isinstance(name, str) and name, "a name", describe_word(name), f"result.models.{number}.name")
        for key, value in entry.items():
            if value is None or not (key == "context_window" or key.startswith("supports_")):
                continue
            number_kept = isinstance(value, (int, float)) and not isinstance(value, bool)
            fits = number_kept if key == "context_window" else isinstance(value, bool)
            wanted = "a number" if key == "context_window" else "a boolean"
            expect.check(fits, wanted, found=value, path=f"result.models.{number}.{key}")


@pytest.mark.requirement("LLM-CAP-2")
def test_stated_sampling_ranges_are_the_protocols(llm: LLM) -> None:
    """A stated range is within the protocol's range."""
    look_at_capabilities(llm.capabilities)
    sampling = llm.capabilities.document.get("sampling")
    stated = {name: sampling.get(key) for name, key in SAMPLING_RANGES.items()} if isinstance(sampling, dict) else {}
    expect.applicable(any(stated.values()), "no sampling ranges are stated")
    for name, ends in stated.items():
        if ends is None:
            continue
        fit = isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, (int, float)) for end in ends)
        expect.check(fit, "two numbers", "another value", f"result.sampling.{SAMPLING_RANGES[name]}")
        low, high = RANGES[name]
        expect.check(
            low <= ends[0] <= ends[1] <= high, f"within [{low}, {high}]", "beyond", f"sampling.{SAMPLING_RANGES[name]}"
        )


@pytest.mark.requirement("LLM-CAP-3")
@pytest.mark.parametrize("name", STATED)
def test_features_and_sampling_are_stated(llm: LLM, name: str) -> None:
    """Capabilities state the sampling ranges and each feature flag of the specification."""
    look_at_capabilities(llm.capabilities)
    stated = llm.capabilities.document.get(name) if name == "sampling" else llm.capabilities.raw(name)
    expect.check(stated is not None, "a value", "no value", f"result.{name}")
