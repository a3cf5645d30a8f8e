"""Envelopes of version 1 become envelopes of version 2 (SCHEMA 10.2)."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.migration import MigrationError, SchemaMigrator
from pytest_corpus.schema_registry import registry

migrate = SchemaMigrator.migrate_llm_envelope_v1_to_v2


def envelope(args: Any, **more: Any) -> dict[str, Any]:
    return {"op": "llm.complete", "ctx": {"request_id": "r-1"}, "args": args, **more}


@given(prompt=st.text(), others=st.dictionaries(st.sampled_from(["model", "max_tokens", "tools"]), st.integers()))
def test_a_prompt_becomes_a_user_message(prompt: str, others: dict[str, int]) -> None:
    """The prompt is the content of one user message; all else stays, and so does what was given."""
    given_one = envelope({"prompt": prompt, **others}, schema_version="1.0.0")
    before = copy.deepcopy(given_one)
    migrated = migrate(given_one)
    assert given_one == before
    messages = [{"role": "user", "content": prompt}]
    assert migrated == {**before, "args": {**others, "messages": messages}, "schema_version": "2.0.0"}


def test_nothing_is_shared_with_what_was_given() -> None:
    """To change the new envelope does not change the old one, however deep."""
    given_one = envelope({"prompt": "hi", "tools": [{"type": "function"}]})
    migrated = migrate(given_one)
    migrated["args"]["tools"][0]["type"] = "other"
    migrated["ctx"]["request_id"] = "r-2"
    assert given_one == envelope({"prompt": "hi", "tools": [{"type": "function"}]})


def test_the_migrated_arguments_are_a_completion() -> None:
    """The migrated envelope, its version aside, is a valid request."""
    migrated = migrate(envelope({"prompt": "hi", "model": "m"}))
    del migrated["schema_version"]
    registry().assert_valid("llm.complete.request", migrated)


@pytest.mark.parametrize("given_one", [
    envelope({"messages": [{"role": "user", "content": "hi"}]}),
    envelope({"messages": []}, schema_version="1.1.0"),
    {"op": "llm.capabilities", "ctx": {}, "args": {}},
    {"op": "llm.count_tokens", "ctx": {}, "args": {"text": "hi"}},
])  # fmt: skip
def test_without_a_prompt_the_version_alone_changes(given_one: dict[str, Any]) -> None:
    """Messages that are there stay as they are, and operations without a prompt are as in version 1."""
    assert migrate(given_one) == {**given_one, "schema_version": "2.0.0"}


def test_a_bare_prompt_is_enough() -> None:
    """The example of the document needs neither op nor ctx."""
    assert migrate({"args": {"prompt": "hi"}})["args"] == {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(("given_one", "said"), [
    (None, "must be a JSON object, not a NoneType"),
    ([envelope({"prompt": "secret"})], "must be a JSON object, not a list"),
    (envelope([]), "args must be a JSON object"),
    (envelope({"prompt": "secret", "messages": []}), "both prompt and messages"),
    (envelope({"model": "m"}), "neither prompt nor messages"),
    ({}, "neither prompt nor messages"),
    (envelope({"prompt": ["secret"]}), r"args.prompt must be a string, not a list"),
    (migrate(envelope({"prompt": "secret"})), "not of version 1"),
    (envelope({"prompt": "secret"}, schema_version=1), "not of version 1"),
    ({**envelope({"prompt": "secret"}), "op": "vector.query"}, "must be an operation of llm"),
    ({**envelope({"prompt": "secret"}), "op": ["llm.complete"]}, "must be an operation of llm"),
])  # fmt: skip
def test_what_cannot_be_migrated_is_refused(given_one: Any, said: str) -> None:
    """One sentence says why, names no content, and nothing is changed."""
    before = copy.deepcopy(given_one)
    with pytest.raises(MigrationError, match=said) as raised:
        migrate(given_one)
    assert given_one == before
    assert "secret" not in str(raised.value)
