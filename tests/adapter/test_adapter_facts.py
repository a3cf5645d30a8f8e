"""Facts of capabilities, whatever spells them."""

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.adapter.facts import Capabilities


@pytest.mark.parametrize("document", [{"supports_streaming": False}, {"features": {"supports_streaming": False}}])
def test_a_flag_flat_or_nested(document: Mapping[str, Any]) -> None:
    """A flag is read at the top and inside `features`."""
    assert Capabilities("llm", document).flag("supports_streaming") is False


@pytest.mark.parametrize("value", [None, "yes", 1, [], {}])
def test_a_flag_that_is_no_boolean_is_unknown(value: Any) -> None:
    """Null and other types are not a claim."""
    assert Capabilities("llm", {"supports_streaming": value}).flag("supports_streaming") is None


def test_null_at_the_top_hides_nothing() -> None:
    """A null is as good as an absent key: the nested value counts."""
    document = {"max_context_length": None, "limits": {"max_context_length": 64}}
    assert Capabilities("llm", document).limit("max_context_length") == 64


@pytest.mark.parametrize(
    ("value", "expected"),
    [(64, 64), (64.0, 64), (64.5, None), (0, None), (-1, None), (True, None), ("64", None), (float("nan"), None)],
)
def test_a_limit(value: Any, expected: int | None) -> None:
    """A limit is a whole positive number, in either notation."""
    assert Capabilities("llm", {"limits": {"max_context_length": value}}).limit("max_context_length") == expected


@pytest.mark.parametrize(("document", "expected"), [
    ({"models": [{"name": "a"}, {"name": "b"}]}, ("a", "b")),
    ({"supported_models": ["a", "b"]}, ("a", "b")),
    ({"features": {"supported_models": ["a"]}}, ("a",)),
    ({"models": ["a", {"name": "b"}, 7, {"family": "x"}]}, ("a", "b")),
    ({"models": [{"name": "a"}], "supported_models": ["a"]}, ("a",)),
    ({}, ()),
    ({"models": None}, ()),
    ({"models": {"a": {}}}, ()),
])  # fmt: skip
def test_models(document: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    """Models are read in every documented spelling, each once."""
    assert sorted(Capabilities("llm", document).models) == sorted(expected)


def test_context_window() -> None:
    """A model's own window comes before the general limit."""
    document = {"models": [{"name": "a", "context_window": 8}, {"name": "b"}], "max_context_length": 64}
    facts = Capabilities("llm", document)
    assert [facts.context_window(model) for model in ("a", "b", None)] == [8, 64, 64]
    assert Capabilities("llm", {}).context_window("a") is None


def test_spellings_of_other_components() -> None:
    """Spellings that the rulings read as one are read as one."""
    assert Capabilities("graph", {"supports_transaction": True}).flag("supports_txn") is True
    assert Capabilities("graph", {"supported_query_dialects": ["cypher"]}).names("dialects") == ("cypher",)
    assert Capabilities("vector", {"limits": {"max_batch": 9}}).limit("max_batch_size") == 9


def test_unknown_fact() -> None:
    """Asking for a fact that no document knows is a mistake of ours."""
    with pytest.raises(KeyError, match="supports_everything"):
        Capabilities("llm", {}).flag("supports_everything")


@pytest.mark.parametrize(("document", "expected"), [
    ({"supports_caching": True}, True),
    ({"cache": {"ttl": 5}}, True),
    ({"supports_caching": False}, False),
    ({}, False),
])  # fmt: skip
def test_caches(document: Mapping[str, Any], expected: bool) -> None:
    """A cache is claimed by the flag or by a capability of its own."""
    assert Capabilities("llm", document).caches is expected
