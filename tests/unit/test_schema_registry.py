"""Schemas by name and edition (SCHEMA 6.1): their table, their form, and the changes of edition 1.1.0."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import documents, from_schema, mutated
from sample_envelopes import SUCCESS
from tables import read_rows

from pytest_corpus import resources, schema_registry
from pytest_corpus.authoring.schema_rules import RuleCollector, generate_variants
from pytest_corpus.schema_registry import SchemaValidationError, UnknownEditionError, UnknownSchemaError, registry
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, LATEST, SCHEMA_VERSIONS, SCHEMAS, SchemaFile


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
    first, *others = (registry().get_validator("llm.response_format", edition) for edition in SCHEMA_VERSIONS)
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


ROOT = resources.folder("schemas")
PRINTED = dict(line.split(" ", 1) for line in read_rows(Path(__file__).with_name("printed_schemas.txt")))


@pytest.mark.parametrize("component", PRINTED)
def test_edition_1_0_0_is_the_printed_tree(component: str) -> None:
    """Edition 1.0.0 has the files of SCHEMA 2.1 and 2.2 and no other (R39, R40)."""
    stems = {schema.stem for schema in SCHEMAS if schema.component == component and "1.0.0" in schema.editions}
    prefix = "" if component == "common" else f"{component}."
    assert stems == {prefix + name for name in PRINTED[component].split()}


def test_the_tree_has_51_files() -> None:
    """Edition 1.0.0 has the 51 files that the tree of SCHEMA 2.1 prints, not the 47 that its text counts (R40)."""
    assert PRINTED.keys() == {schema.component for schema in SCHEMAS}
    assert sum(len(names.split()) for names in PRINTED.values()) == 51 + len(
        ("complete.request", "types.completion_spec")
    )


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.json")), ids=lambda path: path.stem)
def test_files_are_written_alike(path: Path) -> None:
    """A schema file has no tab, no trailing blank, an indent of two and one final newline."""
    text = path.read_text()
    odd = [line for line in text.splitlines() if "\t" in line or line != line.rstrip()]
    indents = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert not odd
    assert all(indent % 2 == 0 for indent in indents)
    assert text.endswith("}\n")


@pytest.mark.parametrize("component", sorted({schema.component for schema in SCHEMAS} - {"common"}))
def test_every_operation_has_a_request_and_an_answer(component: str) -> None:
    """Edition 1.1.0 gives every operation of a component a request and a success or frame schema (R42)."""
    wanted = {name for op in operations_of(component) for name in (op.request, op.answer)}
    wanted |= {op.payload for op in operations_of(component) if op.payload}
    assert wanted <= {name for name, schema in BY_NAME.items() if LATEST in schema.editions}


def test_a_row_names_its_files() -> None:
    """A schema uses the file of the newest edition that has one of its own, up to the edition asked for."""
    changed, unchanged, new = (BY_NAME[name] for name in ("llm.types.chunk", "llm.response_format", "llm.stream.frame"))
    assert [changed.file(edition) for edition in SCHEMA_VERSIONS] == [
        "llm/llm.types.chunk.json",
        "llm/llm.types.chunk.v1.1.json",
    ]
    assert {unchanged.file(edition) for edition in SCHEMA_VERSIONS} == {"llm/llm.response_format.json"}
    assert new.editions == ("1.1.0",)
    with pytest.raises(LookupError, match=r"edition 1\.0\.0 has no schema llm\.stream\.frame"):
        new.file("1.0.0")


def test_short_names_are_unique() -> None:
    """No two schemas share a short name."""
    assert len(BY_NAME) == len(SCHEMAS)


MET = {"both": SCHEMA_VERSIONS, "new": ("1.1.0",), "none": ()}


def rows() -> Iterator[Any]:
    """A schema, an instance and the editions that accept it, from the tables in `editions/`."""
    for path in sorted((Path(__file__).parent / "editions").glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.startswith("#"):
                name, met, instance = line.split(" ", 2)
                yield pytest.param(name, json.loads(instance), MET[met], id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "instance", "editions"), list(rows()))
def test_the_editions_that_accept_an_instance(name: str, instance: object, editions: tuple[str, ...]) -> None:
    """Edition 1.1.0 opens what the rulings open, and stays closed elsewhere (R3, R5, R6, R8, R10, R14, R30)."""
    assert registry().editions_met(name, instance) == editions


CHANGED = [schema for schema in SCHEMAS if len(schema.own) > 1]


@pytest.mark.parametrize("schema", CHANGED, ids=lambda schema: schema.name)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_later_edition_only_widens(schema: SchemaFile, data: st.DataObject) -> None:
    """A schema accepts in every later edition what it accepts in one (SCHEMA 10.1)."""
    eldest = from_schema(BASE_URI + schema.files[0])
    instance = data.draw(eldest | eldest.flatmap(lambda made: mutated(made, 1)))
    met = registry().editions_met(schema.name, instance)
    assert met in {schema.editions[n:] for n in range(len(schema.editions) + 1)}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_the_generator_reaches_valid_instances(schema: SchemaFile) -> None:
    """Instances that the schema accepts are made of it in each edition, mostly such."""
    collector = RuleCollector(documents().__getitem__)
    for edition in schema.editions:
        made = list(generate_variants(collector, {"$ref": BASE_URI + schema.file(edition)}))
        accepted = [instance for instance in made if registry().is_valid(schema.name, instance, edition)]
        assert len(made) / 2 < len(accepted), edition


def test_every_changed_schema_differs() -> None:
    """A `.v1.1` file that says what its elder says would be noise."""
    by_id = documents()
    for schema in CHANGED:
        elder, newer = (dict(by_id[BASE_URI + file]) for file in schema.files)
        assert elder.pop("$id") != newer.pop("$id")
        assert elder != newer, schema.name
