"""The changes of edition 1.1.0, and what it keeps."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import documents, from_schema, mutated

from pytest_corpus.authoring.folding import Folder, variants
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.schemas import BASE_URI, EDITIONS, SCHEMAS, SchemaFile

MET = {"both": EDITIONS, "new": ("1.1.0",), "none": ()}


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
@settings(deadline=None, max_examples=60)
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
    folder = Folder(documents().__getitem__)
    for edition in schema.editions:
        made = list(variants(folder, {"$ref": BASE_URI + schema.file(edition)}))
        accepted = [instance for instance in made if registry().is_valid(schema.name, instance, edition)]
        assert len(made) / 2 < len(accepted), edition


def test_every_changed_schema_differs() -> None:
    """A `.v1.1` file that says what its elder says would be noise."""
    by_id = documents()
    for schema in CHANGED:
        elder, newer = (dict(by_id[BASE_URI + file]) for file in schema.files)
        assert elder.pop("$id") != newer.pop("$id")
        assert elder != newer, schema.name
