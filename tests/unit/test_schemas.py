"""The schema files: their table and their form. `test_schema_editions` has what changed, `test_schema_lint` rules."""

from pathlib import Path

import pytest
from tables import lines

from pytest_corpus import resources
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BY_NAME, EDITIONS, LATEST, SCHEMAS

ROOT = resources.folder("schemas")
PRINTED = dict(line.split(" ", 1) for line in lines(Path(__file__).with_name("printed_schemas.txt")))


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
    assert [changed.file(edition) for edition in EDITIONS] == [
        "llm/llm.types.chunk.json",
        "llm/llm.types.chunk.v1.1.json",
    ]
    assert {unchanged.file(edition) for edition in EDITIONS} == {"llm/llm.response_format.json"}
    assert new.editions == ("1.1.0",)
    with pytest.raises(LookupError, match=r"edition 1\.0\.0 has no schema llm\.stream\.frame"):
        new.file("1.0.0")


def test_short_names_are_unique() -> None:
    """No two schemas share a short name."""
    assert len(BY_NAME) == len(SCHEMAS)
