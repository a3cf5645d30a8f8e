"""The golden files: valid where the table says so, true to the rules of the wire, at one with each other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import documents, from_schema, mutated

from pytest_corpus import resources
from pytest_corpus._explain import Explainer
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.errors import TAXONOMY, code_of
from pytest_corpus.spec.goldens import GOLDENS, Golden
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS, SCHEMAS
from pytest_corpus.stream_validator import STREAMING, validate_frames

ROOT = resources.folder("golden")
COUNTS = {"llm": 25}
"""Files a component in the tree of SCHEMA 7.2."""

STREAMS = [golden for golden in GOLDENS if golden.is_stream]
LIMIT = 10 * 1024 * 1024
"""The most that a golden file may measure (SCHEMA 7.3)."""


def load(file: str, root: Path = ROOT) -> list[Any]:
    """The document of a file, or the frames of an NDJSON file."""
    text = (root / file).read_text(encoding="utf-8")
    return [json.loads(part) for part in (text.splitlines() if file.endswith(".ndjson") else [text])]


def llm(name: str) -> Any:
    return load(f"llm/llm_{name}.json")[0]


def drift(root: Path) -> list[str]:
    """Files without a row, rows without a file."""
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    listed = {golden.file for golden in GOLDENS}
    return [f"{file} is orphaned" for file in files - listed] + [f"{file} is missing" for file in listed - files]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(item)


def checked(golden: Golden) -> Iterator[tuple[Any, list[tuple[str, str]]]]:
    """Every document of a golden, with each (schema, edition) that it must meet."""
    *before, last = load(golden.file)
    yield from ((document, list(golden.checks())) for document in before)
    yield last, list(golden.checks(last_line=True))


SEEDS = [
    (schema, document)
    for golden in GOLDENS
    for document, checks in checked(golden)
    for schema in dict.fromkeys(name for name, _ in checks)
]
"""Every golden document with each schema that it meets."""


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_a_golden_is_valid_under_its_editions(golden: Golden) -> None:
    """Every golden meets each of its schemas in each of its editions, line by line (SCHEMA 7.3)."""
    for document, checks in checked(golden):
        assert {edition for _, edition in checks} == set(golden.editions)
        for schema, edition in checks:
            assert registry().problems(schema, document, edition) == [], (schema, edition)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_a_golden_says_all_editions_that_it_meets(golden: Golden) -> None:
    """The table leaves out no edition that accepts the golden, so that it cannot hide a narrowing."""
    parts = load(golden.file)
    assert registry().editions_met(golden.schema, parts[0]) == golden.editions


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_a_row_is_sound(golden: Golden) -> None:
    """A row names known schemas and editions, and a last line only for a stream."""
    assert golden.component in COUNTS
    assert BY_NAME.keys() >= {golden.schema, *golden.also}
    assert set(golden.editions) <= set(BY_NAME[golden.schema].editions)
    assert golden.last_line is None or (golden.is_stream and golden.last_line in BY_NAME)


def test_table_and_files_agree() -> None:
    """Every golden has a row and every row its file (R41)."""
    assert drift(ROOT) == []


def test_no_file_is_listed_twice() -> None:
    """A file has one row."""
    files = [golden.file for golden in GOLDENS]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda root: (root / "llm/llm_stream.ndjson").unlink(), "llm/llm_stream.ndjson is missing"),
        (lambda root: (root / "llm/llm_new.json").write_text("{}"), "llm/llm_new.json is orphaned"),
    ],
    ids=["missing", "orphaned"],
)
def test_drift_is_reported(tmp_path: Path, damage: Callable[[Path], object], complaint: str) -> None:
    """A missing or an orphaned golden is a failure, not a skip (R41)."""
    copied = tmp_path / "golden"
    shutil.copytree(ROOT, copied)
    damage(copied)
    assert drift(copied) == [complaint]


@pytest.mark.parametrize(("component", "count"), COUNTS.items())
def test_the_tree_is_complete(component: str, count: int) -> None:
    """Every golden of the printed tree exists (R40)."""
    assert sum(golden.component == component for golden in GOLDENS) == count


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_files_are_written_alike(golden: Golden) -> None:
    """A golden is small, ends with one newline, and has an indent of two, or one frame a line."""
    text = (ROOT / golden.file).read_text(encoding="utf-8")
    indents = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert len(text.encode()) <= LIMIT
    assert text.endswith("}\n")
    assert all(indent % 2 == 0 for indent in indents)
    assert not golden.is_stream or indents == {0}


def test_token_totals_add_up() -> None:
    """Wherever usage stands, total_tokens is prompt_tokens plus completion_tokens (SCHEMA 4.1.2; R29)."""
    usages = [item for _, document in SEEDS for item in objects(document) if "prompt_tokens" in item]
    assert usages
    for usage in usages:
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage.get("completion_tokens", 0)


def test_the_completion_counts_its_tokens() -> None:
    """The golden completion carries a usage whose parts add up to its total."""
    usage = llm("complete_success")["result"]["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_error_code_and_class_agree() -> None:
    """An error envelope names a class of the taxonomy, and its code is that class in capitals (R7)."""
    errors = [item for _, document in SEEDS for item in objects(document) if "error" in item]
    assert errors
    for error in errors:
        assert error["error"] in TAXONOMY
        assert error["code"] == code_of(error["error"])


@pytest.mark.parametrize("golden", STREAMS, ids=lambda golden: golden.file)
@pytest.mark.parametrize("edition", [None, *EDITIONS])
def test_a_stream_is_a_legal_stream(golden: Golden, edition: str | None) -> None:
    """The golden streams pass the stream validator whole (R1, R2, R4)."""
    report = validate_frames(load(golden.file), golden.component, edition)
    assert report.is_valid, report.error_summary
    assert report.terminal == ("error" if golden.last_line else "success")


def test_frames_carry_the_stream_code() -> None:
    """Success frames in the goldens carry STREAMING, never OK (R2)."""
    frames = [*load("llm/llm_stream.ndjson"), *load("llm/llm_stream_error.ndjson")[:-1], llm("stream_chunk")]
    assert {frame["code"] for frame in frames} == {STREAMING}


def test_the_stream_tells_the_same_story_as_the_completion() -> None:
    """The streamed pieces add up to the completion's text, and the last usage is its usage."""
    completion = llm("complete_success")["result"]
    chunks = [frame["chunk"] for frame in load("llm/llm_stream.ndjson")]
    assert "".join(chunk["text"] for chunk in chunks) == completion["text"]
    assert chunks[-1]["usage_so_far"] == completion["usage"]
    assert {chunk["model"] for chunk in chunks} == {completion["model"]}


def test_elapsed_time_never_runs_back() -> None:
    """`ms` grows along each golden stream."""
    for golden in STREAMS:
        elapsed = [frame["ms"] for frame in load(golden.file)]
        assert elapsed == sorted(elapsed)


def test_parts_repeat_what_the_wholes_say() -> None:
    """The goldens of types and overlay frames are cut from the goldens of envelopes and streams."""
    frames, failed = load("llm/llm_stream.ndjson"), load("llm/llm_stream_error.ndjson")
    completion = llm("complete_success")["result"]
    assert llm("stream_chunk") == frames[0] == failed[0]
    assert llm("types_chunk") == frames[0]["chunk"] == llm("stream_frame_data")["data"]
    assert llm("types_completion") == completion == llm("stream_frame_end")["data"]
    assert llm("types_token_usage") == completion["usage"]
    assert llm("stream_frame_error")["data"] == failed[-1]
    assert llm("types_tool") == llm("tools_schema") == llm("complete_request")["args"]["tools"][0]


@pytest.mark.parametrize("name", ["capabilities", "complete", "count_tokens", "health"])
def test_a_request_names_its_operation(name: str) -> None:
    """A golden request carries the op of its file and a correlation id."""
    request = llm(f"{name}_request")
    assert request["op"] == f"llm.{name}"
    assert request["ctx"]["request_id"]


@settings(deadline=None, max_examples=500)
@given(data=st.data())
def test_a_later_edition_accepts_every_mutation_that_an_earlier_one_accepts(data: st.DataObject) -> None:
    """Edition 1.1.0 only widens, seen from the goldens: no mutation of one is refused only there."""
    schema, document = data.draw(st.sampled_from(SEEDS))
    instance = data.draw(mutated(document))
    editions = BY_NAME[schema].editions
    met = registry().editions_met(schema, instance)
    assert met == editions[len(editions) - len(met) :]


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    """jsonschema's own reading of the files, without the compiled validator."""
    return Explainer(documents().__getitem__)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_both_validators_agree_on_the_goldens(golden: Golden, explainer: Explainer) -> None:
    """jsonschema-rs and jsonschema accept the same goldens."""
    for document, checks in checked(golden):
        for schema, edition in checks:
            assert explainer.problems(document, BASE_URI + BY_NAME[schema].file(edition), schema) == []


@settings(deadline=None, max_examples=500)
@given(data=st.data())
def test_both_validators_agree_on_mutations(data: st.DataObject, explainer: Explainer) -> None:
    """jsonschema-rs and jsonschema give the same verdict on mutated goldens, under whatever schema."""
    schema, document = data.draw(st.sampled_from(SEEDS))
    edition = data.draw(st.sampled_from(BY_NAME[schema].editions))
    instance = data.draw(mutated(document))
    explained = explainer.problems(instance, BASE_URI + BY_NAME[schema].file(edition), schema)
    assert registry().is_valid(schema, instance, edition) == (explained == [])


@settings(deadline=None, max_examples=500)
@given(data=st.data())
def test_both_validators_agree_on_generated_instances(data: st.DataObject, explainer: Explainer) -> None:
    """jsonschema-rs and jsonschema give the same verdict on instances made from each schema."""
    schema = data.draw(st.sampled_from(SCHEMAS))
    edition = data.draw(st.sampled_from(schema.editions))
    made = from_schema(BASE_URI + schema.file(edition))
    instance = data.draw(made | made.flatmap(mutated))
    explained = explainer.problems(instance, BASE_URI + schema.file(edition), schema.name)
    assert registry().is_valid(schema.name, instance, edition) == (explained == [])


@pytest.mark.parametrize(
    "value",
    ["llm.stream\n", "llm.stream\r", "llm.\u2028stream", "a" * 300, 1.0, True, 2**70, -0.0, "\u00e9\n"],
)
@pytest.mark.parametrize("path", [("op",), ("ctx", "request_id"), ("ctx", "deadline_ms"), ("args", "max_tokens")])
def test_both_validators_agree_where_python_and_ecma_differ(
    value: object, path: tuple[str, ...], explainer: Explainer
) -> None:
    """A final newline, a whole float, a boolean or a huge number is judged alike by both."""
    request = llm("complete_request")
    holder = request
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    for edition in EDITIONS:
        uri = BASE_URI + BY_NAME["llm.complete.request"].file(edition)
        explained = explainer.problems(request, uri, "llm.complete.request")
        assert registry().is_valid("llm.complete.request", request, edition) == (explained == [])
