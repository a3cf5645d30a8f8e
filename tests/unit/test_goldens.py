"""The golden files: their table, and the one story that the shipped ones tell. `test_golden_check` has their rules."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import from_schema, mutated, second_opinion
from tables import read_rows

from pytest_corpus import resources
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.goldens import GOLDENS, Golden
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMA_VERSIONS, SCHEMAS

ROOT = resources.folder("golden")
COUNTS = {"llm": 25, "vector": 21, "embedding": 17, "graph": 30}  # files a component in the tree of SCHEMA 7.2
STREAMS = [golden for golden in GOLDENS if golden.is_stream]


def load(file: str, root: Path = ROOT) -> list[Any]:
    """The document of a file, or the frames of an NDJSON file."""
    text = (root / file).read_text(encoding="utf-8")
    return [json.loads(part) for part in (text.splitlines() if file.endswith(".ndjson") else [text])]


def document(stem: str) -> Any:
    """The document of a file by its stem, e.g. ``llm_types_chunk``."""
    return load(f"{re.split('[._]', stem)[0]}/{stem}.json")[0]


def llm(name: str) -> Any:
    return document(f"llm_{name}")


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
def test_a_golden_says_all_editions_that_it_meets(golden: Golden) -> None:
    """The table leaves out no edition that accepts the golden, so that it cannot hide a narrowing."""
    assert registry().editions_met(golden.schema, load(golden.file)[0]) == golden.editions


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_a_row_is_sound(golden: Golden) -> None:
    """A row names known schemas and editions, and a last line only for a stream."""
    assert golden.component in COUNTS
    assert BY_NAME.keys() >= {golden.schema, *golden.also}
    assert set(golden.editions) <= set(BY_NAME[golden.schema].editions)
    assert golden.last_line is None or (golden.is_stream and golden.last_line in BY_NAME)


@pytest.mark.parametrize(("component", "count"), COUNTS.items())
def test_the_tree_is_complete(component: str, count: int) -> None:
    """Every golden of the printed tree exists, 93 in all (R40)."""
    assert sum(golden.component == component for golden in GOLDENS) == count
    assert len({golden.file for golden in GOLDENS}) == len(GOLDENS) == sum(COUNTS.values()) == 93


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_files_are_written_alike(golden: Golden) -> None:
    """A golden ends with one newline, and has an indent of two, or one frame a line."""
    text = (ROOT / golden.file).read_text(encoding="utf-8")
    indents = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert text.endswith("}\n")
    assert all(indent % 2 == 0 for indent in indents)
    assert not golden.is_stream or indents == {0}


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


OTHER_STEMS = {
    "graph_upsert_nodes_request": "graph.upsert_nodes.single.request",
    "graph_delete_nodes_request": "graph.delete_nodes.by_id.request",
}


def lies(place: str) -> Any:
    """The value at a place: the stem of a file, and a path in it."""
    stem, *path = place.split(".")
    value: Any = load(f"{stem.partition('_')[0]}/{stem}.ndjson") if stem.endswith(("stream", "stream_error")) else None
    value = document(OTHER_STEMS.get(stem, stem)) if value is None else value
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@pytest.mark.parametrize("row", read_rows(Path(__file__).with_name("golden_parts.txt")))
def test_parts_repeat_what_the_wholes_say(row: str) -> None:
    """The goldens of types, frames and steps of batches are cut from those of envelopes and streams."""
    part, wholes = row.split(" = ")
    assert [whole for whole in wholes.split() if lies(whole) != lies(part)] == []


def test_the_stream_brings_the_records_of_the_query() -> None:
    """The streamed records are those of the unary query, in its order."""
    records = [row for frame in load("graph/graph_stream.ndjson") for row in frame["chunk"]["records"]]
    assert records == document("graph_query_success")["result"]["records"]


def test_all_vectors_of_a_namespace_have_its_dimensions() -> None:
    """Stored, queried and found vectors are as long as the namespace says, and so are all embeddings (SCHEMA 7.3)."""
    dimensions = document("vector_namespace_create_request")["args"]["dimensions"]
    found = [
        item["vector"]
        for schema, seed in SEEDS
        if schema.startswith("vector.")
        for item in objects(seed)
        if isinstance(item.get("vector"), list)
    ]
    result = document("vector_query_success")["result"]
    vectors = [*found, result["query_vector"], *(match["vector"]["vector"] for match in result["matches"])]
    assert {len(vector) for vector in vectors} == {dimensions}
    assert document("vector_capabilities_success")["result"]["limits"]["dimension"] == dimensions
    embeddings = [item for _, seed in SEEDS for item in objects(seed) if "dimensions" in item and "text" in item]
    assert embeddings
    assert all(len(item["vector"]) == item["dimensions"] for item in embeddings)


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


def test_the_matches_are_those_of_the_metric() -> None:
    """Scores are the cosines, best first, at most top_k, of stored vectors that pass the filter (R30)."""
    asked, result = document("vector_query_request")["args"], document("vector_query_success")["result"]
    stored, matches = document("vector_upsert_request")["args"]["vectors"], result["matches"]
    best = sorted(stored, key=lambda vector: -cosine(vector["vector"], asked["vector"]))[: asked["top_k"]]
    assert [match["vector"] for match in matches] == best
    assert result["query_vector"] == asked["vector"]
    assert result["namespace"] == asked["namespace"]
    assert result["total_matches"] == len(stored) >= len(matches)
    for match in matches:
        assert math.isclose(match["score"], cosine(match["vector"]["vector"], asked["vector"]), abs_tol=1e-9)
        assert math.isclose(match["distance"], 1 - match["score"], abs_tol=1e-9)
        assert match["vector"]["metadata"]["range"] == asked["filter"]["range"]
        assert match["vector"]["metadata"]["country"] in asked["filter"]["country"]["in"]
        assert match["vector"]["metadata"]["elevation"] >= asked["filter"]["elevation"]["gte"]


@pytest.mark.parametrize(("stem", "items"), [
    ("vector_upsert_", "vectors"),
    ("vector_delete_", "ids"),
    ("graph.upsert_nodes.single.", "nodes"),
    ("graph.delete_nodes.by_id.", "ids"),
    ("graph_edge_create_", "edges"),
])  # fmt: skip
def test_a_batch_answers_for_every_item(stem: str, items: str) -> None:
    """Items that succeeded and items that failed are together the items of the request (SPECIFICATION 12.5)."""
    result = document(f"{stem}success")["result"]
    assert result["processed_count"] + result["failed_count"] == len(document(f"{stem}request")["args"][items])


def test_a_graph_batch_answers_each_operation() -> None:
    """A batch has a result an operation, and it succeeded where all of them did (R14)."""
    result = document("graph_batch_success")["result"]
    assert len(result["results"]) == len(document("graph_batch_request")["args"]["ops"])
    assert result["success"] is all(item["ok"] for item in result["results"])


def test_an_embedding_batch_answers_for_every_text() -> None:
    """Embeddings and failures are together the texts, each text with its own vector, in order (SCHEMA 7.3)."""
    asked, result = (
        document("embedding_embed_batch_request")["args"],
        document("embedding_embed_batch_success")["result"],
    )
    failed = {failure["index"]: failure["text"] for failure in result["failed_texts"]}
    assert result["total_texts"] == len(asked["texts"]) == len(result["embeddings"]) + len(failed)
    assert all(asked["texts"][index] == text for index, text in failed.items())
    kept = [text for index, text in enumerate(asked["texts"]) if index not in failed]
    assert [embedding["text"] for embedding in result["embeddings"]] == kept
    assert {embedding["model"] for embedding in result["embeddings"]} == {result["model"]} == {asked["model"]}
    limit = document("embedding_capabilities_success")["result"]["max_text_length"]
    assert all(len(text) > limit for text in failed.values())
    assert all(len(text) <= limit for text in kept)


def test_embeddings_are_of_the_text_and_of_unit_length() -> None:
    """An embedding repeats the text that was asked for and, asked to, has norm 1."""
    asked, result = document("embedding_embed_request")["args"], document("embedding_embed_success")["result"]
    assert (result["text"], result["embedding"]["text"], result["model"]) == (
        asked["text"],
        asked["text"],
        asked["model"],
    )
    batch = document("embedding_embed_batch_success")["result"]["embeddings"]
    for embedding in (result["embedding"], *batch):
        assert math.isclose(math.hypot(*embedding["vector"]), 1.0)


@pytest.mark.parametrize(
    ("kind", "texts", "total"),
    [("single", "embedding_embed", "tokens_used"), ("batch", "embedding_embed_batch", "total_tokens")],
)
def test_tokens_count_alike_everywhere(kind: str, texts: str, total: str) -> None:
    """Counting the tokens of texts gives what embedding them used (R29)."""
    counted = document(f"embedding_count_tokens_success_{kind}")["result"]
    assert document(f"{texts}_success")["result"][total] == counted.get("tokens", counted.get("total_tokens"))
    assert sum(counted.get("token_counts", [])) in (0, counted.get("total_tokens"))
    asked, embedded = document(f"embedding_count_tokens_request_{kind}")["args"], document(f"{texts}_request")["args"]
    assert asked.get("text") == embedded.get("text")
    assert asked.get("texts", []) == embedded.get("texts", [])[: len(asked.get("texts", []))]


def test_the_components_tell_one_story() -> None:
    """The question that the embedding goldens embed is the vector that the vector goldens search for."""
    embedded = document("embedding_embed_success")["result"]["embedding"]
    assert embedded["vector"] == document("vector_query_request")["args"]["vector"]
    assert embedded["text"] == llm("complete_request")["args"]["messages"][-1]["content"]


REQUESTS = [golden for golden in GOLDENS if golden.schema.endswith(".envelope.request")]
SUCCESSES = [golden for golden in GOLDENS if golden.schema.endswith(".envelope.success")]


@pytest.mark.parametrize("golden", REQUESTS, ids=lambda golden: golden.file)
def test_a_request_names_its_operation(golden: Golden) -> None:
    """A golden request carries the op of its schema and a correlation id that no other has."""
    (request,) = load(golden.file)
    assert golden.also == (f"{request['op']}.request",)
    assert request["op"] in BY_OP
    ids = [load(other.file)[0]["ctx"]["request_id"] for other in REQUESTS]
    assert ids.count(request["ctx"]["request_id"]) == 1


@pytest.mark.parametrize("golden", SUCCESSES, ids=lambda golden: golden.file)
def test_a_success_is_plain(golden: Golden) -> None:
    """A golden success carries OK, and its result is of its operation's type in both editions (R9)."""
    (answer,) = load(golden.file)
    assert (answer["ok"], answer["code"]) == (True, "OK")
    operation = BY_OP[golden.also[0].removesuffix(".success")]
    assert operation.payload is None or registry().editions_met(operation.payload, answer["result"]) == SCHEMA_VERSIONS


@settings(deadline=None, max_examples=500)
@given(data=st.data())
def test_a_later_edition_accepts_every_mutation_that_an_earlier_one_accepts(data: st.DataObject) -> None:
    """Edition 1.1.0 only widens, seen from the goldens: no mutation of one is refused only there."""
    schema, document = data.draw(st.sampled_from(SEEDS))
    instance = data.draw(mutated(document))
    editions = BY_NAME[schema].editions
    met = registry().editions_met(schema, instance)
    assert met == editions[len(editions) - len(met) :]


def agree(schema: str, edition: str, instance: Any) -> bool:
    """True if jsonschema-rs and jsonschema give the same verdict."""
    other = second_opinion(instance, BASE_URI + BY_NAME[schema].file(edition))
    return registry().is_valid(schema, instance, edition) is other


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.file)
def test_both_validators_agree_on_the_goldens(golden: Golden) -> None:
    """jsonschema-rs and jsonschema accept the same goldens."""
    for document, checks in checked(golden):
        assert all(agree(schema, edition, document) for schema, edition in checks)


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_both_validators_agree_on_mutations(data: st.DataObject) -> None:
    """The same verdict on mutated goldens, under any schema."""
    schema, document = data.draw(st.sampled_from(SEEDS))
    edition = data.draw(st.sampled_from(BY_NAME[schema].editions))
    assert agree(schema, edition, data.draw(mutated(document)))


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_both_validators_agree_on_generated_instances(data: st.DataObject) -> None:
    """The same verdict on instances made from each schema."""
    schema = data.draw(st.sampled_from(SCHEMAS))
    edition = data.draw(st.sampled_from(schema.editions))
    made = from_schema(BASE_URI + schema.file(edition))
    assert agree(schema.name, edition, data.draw(made | made.flatmap(mutated)))


@pytest.mark.parametrize(
    "value", ["llm.stream\n", "llm.stream\r", "llm.\u2028stream", "a" * 300, 1.0, True, 2**70, -0.0, "\u00e9\n"]
)
@pytest.mark.parametrize("path", [("op",), ("ctx", "request_id"), ("ctx", "deadline_ms"), ("args", "max_tokens")])
def test_both_validators_agree_where_python_and_ecma_differ(value: object, path: tuple[str, ...]) -> None:
    """A final newline, a whole float, a boolean or a huge number is judged alike by both."""
    request = llm("complete_request")
    holder = request
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    assert all(agree("llm.complete.request", edition, request) for edition in SCHEMA_VERSIONS)


@pytest.mark.parametrize("schema", ["graph.types.row", "vector.types.filter"])
@pytest.mark.parametrize(
    "key", ["a", "", "a\n", "a\nb", "\n", "a\r", "a\rb", "a\u2028b", "a\u2029", "\u00e9", "a b", "$in"]
)
def test_both_validators_agree_on_keys(schema: str, key: str) -> None:
    """Keys that a pattern decides on, with line ends of every kind in them, are judged alike by both."""
    assert all(agree(schema, edition, {key: 1}) for edition in SCHEMA_VERSIONS)
