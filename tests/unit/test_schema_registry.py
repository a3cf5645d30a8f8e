"""Schemas by name and edition (SCHEMA 6.1)."""

import pytest
from sample_envelopes import SUCCESS

from pytest_corpus import schema_registry
from pytest_corpus.schema_registry import SchemaValidationError, UnknownEditionError, UnknownSchemaError, registry
from pytest_corpus.spec.schemas import BASE_URI, EDITIONS, LATEST, SCHEMAS


@pytest.mark.parametrize("name", [
    "llm.envelope.request", "llm.envelope.request.json", "llm/llm.envelope.request.json",
    f"{BASE_URI}llm/llm.envelope.request.json",
])  # fmt: skip
def test_every_way_to_name_a_schema_means_the_same(name: str) -> None:
    """A short name, a file name, a path and an `$id` lead to one validator (SCHEMA 6.1)."""
    wanted = registry().get_validator("llm.envelope.request", "1.0.0")
    assert registry().get_validator(name, "1.0.0") is wanted


@pytest.mark.parametrize(
    "name", ["common.envelope.error", "envelope.error", "envelope.error.json", "common/envelope.error.json"]
)
def test_common_schemas_need_no_prefix(name: str) -> None:
    """A common schema is known with and without ``common.``."""
    assert registry().get_schema(name, "1.0.0")["$id"] == f"{BASE_URI}common/envelope.error.json"


def test_no_edition_means_the_newest() -> None:
    """Without an edition, also an `$id` without a version means the newest file."""
    plain_id = f"{BASE_URI}llm/llm.types.chunk.json"
    assert registry().get_schema(plain_id)["$id"] == f"{BASE_URI}llm/llm.types.chunk.v1.1.json"
    assert registry().get_schema(plain_id, "1.0.0")["$id"] == plain_id


def test_an_unchanged_schema_serves_every_edition() -> None:
    """A schema that no edition changed is one file and one validator for all."""
    first, *others = (registry().get_validator("llm.response_format", edition) for edition in EDITIONS)
    assert all(other is first for other in others)


@pytest.mark.parametrize(
    "name", ["llm.types.chunk.v1.1", "llm.types.chunk.v1.1.json", f"{BASE_URI}llm/llm.types.chunk.v1.1.json"]
)
def test_a_version_in_the_name_pins_the_file(name: str) -> None:
    """A `.v1.1` name means that file; asking another edition of it is an error."""
    assert registry().get_schema(name)["$id"] == registry().get_schema(name, "1.1.0")["$id"]
    assert registry().editions_met(name, {"text": "", "is_final": True}) == ("1.1.0",)
    with pytest.raises(UnknownSchemaError, match=r"edition 1\.0\.0 has no schema"):
        registry().get_schema(name, "1.0.0")


@pytest.mark.parametrize(("wrong", "nearest"), [
    ("llm.envlope.request", "llm.envelope.request"),
    ("llm.type.completion.json", "llm.types.completion"),
    (f"{BASE_URI}llm/llm.types.chunks.json", "llm.types.chunk"),
    ("operation-context", "common.operation_context"),
    ("vector.types.match", "vector.types.vector_match"),
    ("embedding.partial_success_result", "embedding.partial_success.result"),
    ("graph.upsert_node.success", "graph.upsert_nodes.success"),
])  # fmt: skip
def test_an_unknown_name_is_answered_with_the_nearest(wrong: str, nearest: str) -> None:
    """A misspelt name raises an error that suggests the right one."""
    with pytest.raises(UnknownSchemaError) as caught:
        registry().get_validator(wrong)
    assert nearest in caught.value.suggestions
    assert nearest in str(caught.value)
    assert caught.value.name == wrong


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    """If nothing is near, the message suggests nothing."""
    with pytest.raises(UnknownSchemaError) as caught:
        registry().is_valid("zzz", {})
    assert caught.value.suggestions == ()
    assert str(caught.value) == "there is no schema 'zzz'"


def test_a_schema_of_a_later_edition_is_unknown_in_an_earlier() -> None:
    """A schema born in 1.1.0 is refused under 1.0.0 with the editions that have it."""
    with pytest.raises(UnknownSchemaError, match=r"llm\.stream\.frame exists in 1\.1\.0"):
        registry().problems("llm.stream.frame", {}, "1.0.0")


@pytest.mark.parametrize("edition", ["1.0", "2.0.0", "", "latest"])
def test_an_unknown_edition_is_refused(edition: str) -> None:
    """An edition that does not exist is never read as another."""
    with pytest.raises(UnknownEditionError, match=r"there are 1\.0\.0, 1\.1\.0"):
        registry().is_valid("llm.types.chunk", {}, edition)
    with pytest.raises(UnknownEditionError):
        registry().list_schemas(edition)


def test_schemas_are_listed_by_edition() -> None:
    """The list names every schema of an edition with the `$id` of its file there; by default the newest."""
    old, new = registry().list_schemas("1.0.0"), registry().list_schemas()
    assert new == registry().list_schemas(LATEST)
    assert set(old) < set(new)
    assert (len(old), len(new)) == (53, len(SCHEMAS))
    assert old["common.envelope.error"] == f"{BASE_URI}common/envelope.error.json"
    assert new["common.envelope.error"] == f"{BASE_URI}common/envelope.error.v1.1.json"
    assert "llm.stream.frame" not in old


def test_a_document_is_the_callers_own() -> None:
    """Changing a returned document changes nothing for anyone else."""
    registry().get_schema("llm.types.chunk")["required"].clear()
    assert registry().get_schema("llm.types.chunk")["required"] == ["text", "is_final"]


def test_module_functions_use_the_shared_registry() -> None:
    """The functions of the module answer as the shared registry does, which is one object."""
    assert schema_registry.registry() is registry()
    assert schema_registry.get_validator("llm.types.chunk") is registry().get_validator("llm.types.chunk")
    assert schema_registry.get_schema("llm.types.chunk") == registry().get_schema("llm.types.chunk")
    assert schema_registry.list_schemas("1.0.0") == registry().list_schemas("1.0.0")
    assert schema_registry.preload_all_schemas() == sum(len(schema.files) for schema in SCHEMAS)
    schema_registry.validate_json("llm.complete.success", SUCCESS)
    with pytest.raises(SchemaValidationError, match="x"):
        schema_registry.validate_json("llm.complete.success", {}, context="x")
    with pytest.raises(AssertionError, match="x"):
        schema_registry.assert_valid("llm.complete.success", {}, context="x")
