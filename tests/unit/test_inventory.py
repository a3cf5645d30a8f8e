"""The tests that the suites carry, by profile."""

from pytest_corpus.integration.options.profiles import PROFILES
from pytest_corpus.suites import inventory


def test_only_stress_has_tests_of_its_own() -> None:
    """No other profile than `stress` collects the tests under load."""
    assert [name for name, profile in PROFILES.items() if profile.stress] == ["stress"]
    assert len(inventory.tests("llm", "stress")) > len(inventory.tests("llm", "dev"))
