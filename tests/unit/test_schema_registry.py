"""The registry: names, editions, verdicts, explanations, and what it costs."""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from enum import Enum
from pathlib import Path
from threading import Barrier
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import mutated, paths

from pytest_corpus import resources, schema_registry
from pytest_corpus.schema_registry import (
    ROOT_VARIABLE,
    Problem,
    SchemaAssertionError,
    SchemaFileError,
    SchemaRegistry,
    SchemaValidationError,
    UnknownEditionError,
    UnknownSchemaError,
    json_problems,
    registry,
)
from pytest_corpus.spec.schemas import BASE_URI, DIALECT, EDITIONS, LATEST, SCHEMAS

SHIPPED = resources.folder("schemas")
CANARY = "canary-5b1e77d0"
COMPLETION = {
    "text": CANARY,
    "model": CANARY,
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    "finish_reason": CANARY,
}
SUCCESS = {"ok": True, "code": "OK", "ms": 1.5, "result": COMPLETION}
ERROR = {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": CANARY, "ms": 1}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy of the shipped schemas, free to damage."""
    shutil.copytree(SHIPPED, tmp_path / "schemas")
    return tmp_path / "schemas"


# Names and editions.


@pytest.mark.parametrize(
    "name",
    [
        "llm.envelope.request",
        "llm.envelope.request.json",
        "llm/llm.envelope.request.json",
        f"{BASE_URI}llm/llm.envelope.request.json",
    ],
)
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
    "name",
    ["llm.types.chunk.v1.1", "llm.types.chunk.v1.1.json", f"{BASE_URI}llm/llm.types.chunk.v1.1.json"],
)
def test_a_version_in_the_name_pins_the_file(name: str) -> None:
    """A `.v1.1` name means that file; asking another edition of it is an error."""
    assert registry().get_schema(name)["$id"] == registry().get_schema(name, "1.1.0")["$id"]
    assert registry().editions_met(name, {"text": "", "is_final": True}) == ("1.1.0",)
    with pytest.raises(UnknownSchemaError, match=r"edition 1\.0\.0 has no schema"):
        registry().get_schema(name, "1.0.0")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_every_schema_answers_in_each_of_its_editions(schema: Any) -> None:
    """Each schema compiles, and its document carries the `$id` of its file."""
    for edition in schema.editions:
        assert registry().get_schema(schema.name, edition)["$id"] == BASE_URI + schema.file(edition)
        assert registry().get_validator(schema.name, edition) is not None


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("llm.envlope.request", "llm.envelope.request"),
        ("llm.type.completion.json", "llm.types.completion"),
        (f"{BASE_URI}llm/llm.types.chunks.json", "llm.types.chunk"),
        ("operation-context", "common.operation_context"),
        ("vector.types.match", "vector.types.vector_match"),
        ("embedding.partial_success_result", "embedding.partial_success.result"),
        ("graph.upsert_node.success", "graph.upsert_nodes.success"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong: str, nearest: str) -> None:
    """A misspelt name raises an error that suggests the right one."""
    with pytest.raises(UnknownSchemaError) as caught:
        registry().get_validator(wrong)
    assert nearest in caught.value.suggestions
    assert nearest in str(caught.value)
    assert caught.value.name == wrong


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    """Where nothing is near, the message makes nothing up."""
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


# Verdicts.


def test_editions_met_leaves_out_what_refuses() -> None:
    """The editions are given oldest first, and only those that accept."""
    assert registry().editions_met("llm.envelope.success", SUCCESS) == ("1.0.0", "1.1.0")
    assert registry().editions_met("llm.envelope.success", {**SUCCESS, "result": 7}) == ("1.1.0",)
    assert registry().editions_met("llm.envelope.success", {**SUCCESS, "code": "STREAMING"}) == ()
    assert registry().editions_met("llm.complete.success", SUCCESS) == ("1.1.0",)


@pytest.mark.parametrize(
    ("value", "accepted"),
    [(7, True), (7.0, True), (2**70, True), (7.5, False), (True, False), ("7", False), (math.nan, False)],
)
def test_integers_are_those_of_json_schema(value: object, accepted: bool) -> None:
    """1.0 is an integer; a boolean, a string and NaN are not."""
    usage = {"prompt_tokens": value, "total_tokens": 7}
    assert registry().is_valid("llm.types.token_usage", usage) is accepted
    assert (registry().problems("llm.types.token_usage", usage) == []) is accepted


class Colour(str, Enum):
    RED = "red"


HOSTILE: tuple[tuple[str, Callable[[], object]], ...] = (
    ("bytes", lambda: b"a"),
    ("set", lambda: {"a"}),
    ("object", object),
    ("mapping proxy", lambda: MappingProxyType({"a": 1})),
    ("key of another type", lambda: {1: "a"}),
)


@pytest.mark.parametrize(("kind", "make"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_what_json_does_not_have_is_a_problem_not_a_crash(kind: str, make: Callable[[], object]) -> None:
    """A value that is not JSON is refused with the rule ``json`` at its place."""
    chunk = {"text": make(), "is_final": True}
    assert not registry().is_valid("llm.types.chunk", chunk)
    found = registry().problems("llm.types.chunk", chunk)
    assert [(problem.path, problem.rule) for problem in found] == [("text", "json")]


def test_a_lone_surrogate_is_a_problem_where_a_rule_reads_it() -> None:
    """A text that UTF-8 cannot carry is refused where a pattern looks at it, and does not crash."""
    request = {"op": "llm.\ud800", "ctx": {}, "args": {}}
    assert not registry().is_valid("llm.envelope.request", request)
    found = registry().problems("llm.envelope.request", request)
    assert [(problem.path, problem.rule) for problem in found] == [("op", "json")]


def test_json_problems_looks_everywhere() -> None:
    """Also where a schema is open, NaN, infinities, cycles and bottomless nesting are found."""
    cycle: dict[str, Any] = {}
    cycle["again"] = cycle
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    instance = {
        "a": [1, math.nan],
        "b": {"c": -math.inf},
        "cycle": cycle,
        "deep": deep,
        "text": "\ud800",
        "fine": [(), Colour.RED, 2**70, None, True],
    }
    found = [(problem.path[:10], problem.message) for problem in json_problems(instance)]
    assert found == [
        ("a.1", "is not finite; JSON has only finite numbers"),
        ("b.c", "is not finite; JSON has only finite numbers"),
        ("cycle.agai", "contains itself"),
        ("deep.0.0.0", "is nested deeper than 200 levels"),
        ("text", "holds a lone surrogate, which UTF-8 cannot carry"),
    ]


# Explanations.

COMPLETE: tuple[tuple[str, dict[str, Any], list[tuple[str, str, str]]], ...] = (
    ("missing", {"usage": {"prompt_tokens": 1}}, [("result.usage.total_tokens", "required", "is missing")]),
    (
        "extra",
        {"cost": 1},
        [("result.cost", "additionalProperties", "is a key that is not allowed here")],
    ),
    ("type", {"text": 7}, [("result.text", "type", "must be string, is integer")]),
    ("null", {"model": None}, [("result.model", "type", "must be string, is null")]),
    ("union", {"tool_calls": {}}, [("result.tool_calls", "type", "must be array or null, is object")]),
    ("nullable", {"logprobs": 7}, [("result.logprobs", "type", "must be null or object, is integer")]),
    (
        "bound",
        {"usage": {"prompt_tokens": -1, "total_tokens": 0}},
        [("result.usage.prompt_tokens", "minimum", "must be at least 0")],
    ),
    (
        "index",
        {"warnings": [{"message": "a"}, {"message": True}]},
        [("result.warnings.1.message", "type", "must be string, is boolean")],
    ),
    (
        "several",
        {"text": None, "usage": []},
        [
            ("result.text", "type", "must be string, is null"),
            ("result.usage", "type", "must be object, is array"),
        ],
    ),
)


@pytest.mark.parametrize(("kind", "change", "expected"), COMPLETE, ids=[row[0] for row in COMPLETE])
def test_a_problem_says_where_which_rule_and_what_is_wanted(
    kind: str, change: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    """The path leads to the offending key, the rule is the keyword, the message what it asks for."""
    found = registry().problems("llm.complete.success", {**SUCCESS, "result": COMPLETION | change})
    assert [(problem.path, problem.rule, problem.message) for problem in found] == expected
    assert {problem.schema for problem in found} == {"llm.complete.success"}


OTHERS: tuple[tuple[str, object, tuple[str, str, str]], ...] = (
    ("llm.types.message", [], ("", "type", "must be object, is array")),
    (
        "llm.types.message",
        {"role": CANARY, "content": ""},
        ("role", "enum", 'must be "system" or "user" or "assistant" or "tool"'),
    ),
    ("llm.envelope.error", {**ERROR, "ok": True}, ("ok", "const", "must be false")),
    ("llm.envelope.error", {**ERROR, "code": CANARY}, ("code", "pattern", "must match ^[A-Z_]+$")),
    ("operation_context", {"tenant": ""}, ("tenant", "minLength", "must have at least 1 characters, has 0")),
    (
        "operation_context",
        {"tenant": CANARY * 30},
        ("tenant", "maxLength", "must have at most 256 characters, has 450"),
    ),
    ("llm.sampling.params", {"top_p": 0}, ("top_p", "exclusiveMinimum", "must be more than 0")),
    ("llm.sampling.params", {"temperature": 3}, ("temperature", "maximum", "must be at most 2.0")),
    (
        "llm.stream.frames.ndjson.schema",
        {"event": "data", "data": {"text": ""}},
        ("data.is_final", "required", "is missing"),
    ),
    (
        "llm.stream.frames.ndjson.schema",
        {"event": CANARY, "data": {}},
        ("", "oneOf", "fits none of the 3 allowed shapes"),
    ),
    (
        "vector.upsert.success",
        {**SUCCESS, "result": {"failed_count": 0, "failures": []}},
        ("result.processed_count", "required", "is missing"),
    ),
    (
        "vector.query.success",
        {**SUCCESS, "result": {"matches": [{"vector": {"id": "v"}, "score": 1}], "namespace": "", "total_matches": 1}},
        ("result.matches.0.distance", "required", "is missing"),
    ),
    ("vector.types.filter", {"a-b": CANARY}, ("a-b", "additionalProperties", "is a key that is not allowed here")),
    ("vector.batch_query.success", {**SUCCESS, "result": 7}, ("result", "type", "must be array or object, is integer")),
    (
        "embedding.embed_batch.success",
        {**SUCCESS, "result": {"model": CANARY, "total_texts": 0}},
        ("result.embeddings", "required", "is missing"),
    ),
    (
        "embedding.embed_batch.success",
        {**SUCCESS, "result": {"embeddings": [], "total_texts": 0}},
        ("result.model", "required", "is missing"),
    ),
    (
        "graph.batch.success",
        {**SUCCESS, "result": {"results": [{"ok": False, "error": CANARY}], "success": False}},
        ("result.results.0.index", "required", "is missing"),
    ),
    ("graph.types.entity", {"id": CANARY}, ("", "oneOf", "fits none of the 2 allowed shapes")),
)


@pytest.mark.parametrize(
    ("name", "instance", "expected"), OTHERS, ids=[f"{row[2][1]}-{n}" for n, row in enumerate(OTHERS)]
)
def test_each_rule_has_its_words(name: str, instance: object, expected: tuple[str, str, str]) -> None:
    """One defect is one problem, and a union is explained by the branch that was meant."""
    found = registry().problems(name, instance)
    assert [(problem.path, problem.rule, problem.message) for problem in found] == [expected]


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_explanations_never_quote_the_instance(data: st.DataObject) -> None:
    """No value of a refused instance, whatever is wrong with it, stands in any message (R21)."""
    name, seed = data.draw(st.sampled_from([("llm.complete.success", SUCCESS), ("llm.envelope.error", ERROR)]))
    instance = data.draw(mutated(seed))
    for path in paths(instance):
        holder: Any = instance
        for part in path[:-1]:
            holder = holder[part]
        if path and isinstance(holder[path[-1]], str):
            holder[path[-1]] = CANARY
    problems = registry().problems(name, instance)
    assert (problems == []) == registry().is_valid(name, instance)
    assert all(CANARY not in str(problem) for problem in problems)


def test_a_problem_is_a_value() -> None:
    """Problems are frozen, comparable and readable."""
    problem = Problem("result.text", "type", "must be string, is null", "llm.complete.success")
    assert problem == Problem("result.text", "type", "must be string, is null", "llm.complete.success")
    assert str(problem) == "result.text must be string, is null"
    with pytest.raises(FrozenInstanceError):
        problem.path = ""  # type: ignore[misc]


def test_validate_json_raises_with_all_problems() -> None:
    """A refused instance raises an error that holds its problems, schema, edition and context."""
    with pytest.raises(SchemaValidationError) as caught:
        registry().validate_json("envelope.error", {**ERROR, "ms": -1, "extra": 1}, "1.0.0", context="case 7")
    error, file = caught.value, "common/envelope.error.json"
    assert not isinstance(error, AssertionError)
    assert (error.schema, error.edition, len(error.problems)) == ("common.envelope.error", "1.0.0", 2)
    assert str(error).splitlines() == [
        "case 7: not a valid common.envelope.error (edition 1.0.0)",
        f"  ms must be at least 0, found -1 [minimum in {file}#/properties/ms/minimum]",
        f"  extra is a key that is not allowed here [additionalProperties in {file}#/additionalProperties]",
        "  compare with golden/llm/llm_error_envelope.json",
    ]


def test_assert_valid_raises_an_assertion() -> None:
    """In a test a refused instance is a failure, not an error."""
    with pytest.raises(AssertionError) as caught:
        registry().assert_valid("llm.complete.success", {**SUCCESS, "ms": "soon"})
    assert isinstance(caught.value, SchemaAssertionError)
    assert caught.value.edition == LATEST


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


# Files.


def test_the_root_can_be_given_or_named(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another folder is read when it is passed or when CORPUS_SCHEMAS_ROOT names it (SCHEMA 6.1)."""
    file = own / "llm" / "llm.response_format.json"
    changed = json.loads(file.read_text())
    changed["properties"]["type"]["enum"].append("yaml")
    file.write_text(json.dumps(changed))
    assert SchemaRegistry(own).is_valid("llm.response_format", {"type": "yaml"})
    assert not SchemaRegistry().is_valid("llm.response_format", {"type": "yaml"})
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    assert SchemaRegistry().root == own
    assert registry().is_valid("llm.response_format", {"type": "yaml"})
    monkeypatch.delenv(ROOT_VARIABLE)
    assert registry().root == SHIPPED


def written(root: Path, file: str, **schema: object) -> None:
    """A schema of one's own below a folder."""
    (root / file).parent.mkdir(exist_ok=True, parents=True)
    (root / file).write_text(json.dumps({"$schema": DIALECT, "$id": BASE_URI + file, "title": "Own", **schema}))


def test_every_file_below_the_root_is_loaded(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies below CORPUS_SCHEMAS_ROOT is listed, found by each of its names, and compiled (SCHEMA 6.1)."""
    written(own, "acme/acme.types.cat.json", properties={"paws": {"$ref": f"{BASE_URI}acme/deep/acme.paws.json"}})
    written(own, "acme/deep/acme.paws.json", maximum=4)
    written(own, "llm/llm.response_format.v1.1.json", properties={"type": {"enum": ["text", "json_object", "yaml"]}})
    written(own, "llm/llm.types.chunk.v2.0.json", required=["delta"])
    written(own, "top.json", type="string")
    (own / ".hidden.json").write_text("{}")
    (own / "notes.txt").write_text("")
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    listed = registry().list_schemas()
    new = {"acme.types.cat", "acme.paws", "llm.types.chunk.v2.0", "top"}
    assert listed.keys() - SchemaRegistry(SHIPPED).list_schemas().keys() == new
    for name in ("acme.types.cat", "acme.types.cat.json", "acme/acme.types.cat.json", listed["acme.types.cat"]):
        assert registry().is_valid(name, {"paws": 4}, "1.0.0")
        assert not schema_registry.get_validator(name).is_valid({"paws": 5})
    assert listed["top"] == f"{BASE_URI}top.json"
    assert registry().editions_met("llm.response_format", {"type": "yaml"}) == ("1.1.0",)
    assert not registry().is_valid("llm.types.chunk.v2.0", {"text": "", "is_final": True})
    assert registry().preload_all_schemas() == SchemaRegistry(SHIPPED).preload_all_schemas() + 5
    with pytest.raises(UnknownSchemaError, match=r"did you mean acme\.types\.cat"):
        registry().is_valid("acme.types.cats", {})


def test_the_shipped_folder_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shipped is known, so that no start pays for a walk through the folder."""
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("the folder was searched"))
    assert SchemaRegistry().list_schemas()
    assert SchemaRegistry(SHIPPED).list_schemas()


CHUNK = "llm/llm.types.chunk.json"


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda file: file.unlink(), "cannot be read"),
        (lambda file: file.write_text("{"), "is not JSON"),
        (lambda file: file.write_text("[]"), "must be a JSON object with"),
        (lambda file: file.write_text('{"$id": "https://example.com/x.json"}'), "must be a JSON object with"),
        (lambda file: file.write_text(json.dumps({"$id": BASE_URI + CHUNK, "type": 7})), "does not compile"),
        (
            lambda file: file.write_text(json.dumps({"$id": BASE_URI + CHUNK, "$ref": "https://example.com/x.json"})),
            "does not compile",
        ),
    ],
    ids=["missing", "torn", "array", "other id", "bad keyword", "foreign reference"],
)
def test_a_broken_file_is_named(
    own: Path, damage: Callable[[Path], object], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot serve is named with its fault, and nothing reaches for the network."""
    asked: list[object] = []

    def resolve(*address: object, **_: object) -> list[object]:
        asked.append(address)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    damage(own / CHUNK)
    with pytest.raises(SchemaFileError, match=fault) as caught:
        SchemaRegistry(own).get_validator("llm.types.chunk", "1.0.0")
    assert caught.value.path == own / CHUNK
    assert asked == []


def test_a_broken_file_leaves_the_others_alone(own: Path) -> None:
    """Files are read when they are needed: damage in one does not take the others down."""
    (own / CHUNK).unlink()
    assert SchemaRegistry(own).is_valid("llm.types.chunk", {"text": "", "is_final": True}, "1.1.0")


# Cost.


class Compilations:
    """Stands before the compiler and counts."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._compile = jsonschema_rs.Draft202012Validator
        self._compile_many = jsonschema_rs.validator_map_for

    def one(self, schema: dict[str, Any], **options: Any) -> jsonschema_rs.Draft202012Validator:
        self.ids.append(schema["$id"])
        return self._compile(schema, **options)

    def many(self, schema: dict[str, Any], **options: Any) -> jsonschema_rs.ValidatorMap:
        self.ids += [wanted["$ref"] for wanted in schema["$defs"].values()]
        return self._compile_many(schema, **options)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    counter = Compilations()
    monkeypatch.setattr(jsonschema_rs, "Draft202012Validator", counter.one)
    monkeypatch.setattr(jsonschema_rs, "validator_map_for", counter.many)
    return counter


def test_nothing_compiles_twice(compilations: Compilations) -> None:
    """However it is named, a file compiles once; nothing compiles before it is asked for."""
    own = SchemaRegistry()
    assert compilations.ids == []
    for name in ("llm.types.chunk", "llm.types.chunk.json", f"{BASE_URI}llm/llm.types.chunk.v1.1.json"):
        own.is_valid(name, {})
        own.problems(name, {})
    assert compilations.ids == [f"{BASE_URI}llm/llm.types.chunk.v1.1.json"]
    own.preload_all_schemas()
    own.preload_all_schemas()
    assert sorted(compilations.ids) == sorted(BASE_URI + file for schema in SCHEMAS for file in schema.files)


def test_threads_share_one_compilation(compilations: Compilations) -> None:
    """Threads that ask at the same moment get the same validator, compiled once, and right verdicts."""
    own, threads = SchemaRegistry(), 16
    barrier = Barrier(threads)
    names = [schema.name for schema in SCHEMAS]

    def ask(number: int) -> tuple[list[int], bool, bool, int]:
        barrier.wait(timeout=30)
        mine = names[number % len(names) :] + names[: number % len(names)]
        validators = {name: id(own.get_validator(name)) for name in mine}
        return (
            [validators[name] for name in names],
            own.is_valid("llm.complete.success", SUCCESS),
            own.is_valid("llm.complete.success", ERROR),
            len(own.problems("llm.complete.success", {**SUCCESS, "ms": -1})),
        )

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(ask, range(threads)))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][1:] == (True, False, 1)
    assert len(compilations.ids) == len(set(compilations.ids)) == len(names)


def test_threads_share_one_registry(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """The shared registry is made once, whoever asks first."""
    monkeypatch.setenv(ROOT_VARIABLE, str(own))
    barrier = Barrier(8)

    def ask(_: int) -> int:
        barrier.wait(timeout=30)
        return id(registry())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_importing_the_module_is_cheap() -> None:
    """The import loads no schema library and no pytest, and a verdict only the compiled one."""
    code = """
import sys
from pytest_corpus import schema_registry, stream_validator
def heavy():
    libraries = ("jsonschema", "jsonschema_rs", "referencing", "pytest", "hypothesis")
    print([library for library in libraries if library in sys.modules])
heavy()
schema_registry.registry().is_valid("llm.types.chunk", {})
heavy()
schema_registry.registry().problems("llm.types.chunk", {})
heavy()
"""
    root = Path(resources.__file__).parent.parent
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root, timeout=60)
    assert ran.stdout.splitlines() == [
        "[]",
        "['jsonschema_rs']",
        "['jsonschema', 'jsonschema_rs', 'referencing']",
    ]


def test_preloading_a_tree_that_lacks_a_file_names_it(tmp_path: Path) -> None:
    """A file that others refer to and that is missing is a SchemaFileError with its path."""
    root = tmp_path / "schemas"
    shutil.copytree(resources.folder("schemas"), root)
    (root / "llm/llm.types.token_usage.v1.1.json").unlink()
    with pytest.raises(SchemaFileError, match=r"token_usage\.v1\.1\.json"):
        SchemaRegistry(root).preload_all_schemas()
