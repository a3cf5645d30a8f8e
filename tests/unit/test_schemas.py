"""The schema files: their form, their references, their table, and what edition 1.1.0 widens."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import documents, from_schema, mutated
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from pytest_corpus import resources
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS, LATEST, SCHEMAS, SchemaFile

ROOT = resources.folder("schemas")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Documents = dict[str, dict[str, Any]]

PRINTED = {
    "common": {"envelope.request", "envelope.success", "envelope.error", "operation_context"},
    "llm": {
        f"llm.{name}"
        for name in (
            "envelope.request",
            "envelope.success",
            "envelope.error",
            "response_format",
            "sampling.params",
            "tools.schema",
            "stream.frame.data",
            "stream.frame.end",
            "stream.frame.error",
            "stream.frames.ndjson.schema",
            "types.chunk",
            "types.completion",
            "types.logprobs",
            "types.message",
            "types.token_usage",
            "types.tool",
            "types.warning",
            "complete.request",
            "types.completion_spec",
        )
    },
}
"""Edition 1.0.0: the tree of SCHEMA 2.1 and the two files of SCHEMA 2.2 (R39)."""


def read(root: Path = ROOT) -> Documents:
    """Every document by its file, relative to `schemas/`."""
    return {path.relative_to(root).as_posix(): json.loads(path.read_text()) for path in root.rglob("*.json")}


def nodes(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of every object in a document, with its value."""
    items = value.items() if isinstance(value, dict) else ()
    for key, item in items:
        yield key, item
        yield from nodes(item)
    for item in value if isinstance(value, list) else ():
        yield from nodes(item)


def refs(document: dict[str, Any]) -> list[str]:
    """Every `$ref` of a document, made absolute."""
    found = [value for key, value in nodes(document) if key == "$ref"]
    return [document["$id"] + ref if ref.startswith("#") else ref for ref in found]


def drift(root: Path) -> list[str]:
    """Files without a row, rows without a file."""
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    listed = [file for schema in SCHEMAS for file in schema.files]
    twice = [f"{file} is listed twice" for file in listed if listed.count(file) > 1]
    return [
        *twice,
        *(f"{file} is orphaned" for file in files - set(listed)),
        *(f"{file} is missing" for file in set(listed) - files),
    ]


def draft(all_: Documents) -> list[str]:
    """Documents that do not name draft 2020-12 or break its metaschema."""
    found = [file for file, document in all_.items() if document.get("$schema") != DRAFT]
    for file, document in all_.items():
        try:
            Draft202012Validator.check_schema(document)
        except SchemaError:
            found.append(file)
    return found


def ids(all_: Documents) -> list[str]:
    """Documents whose `$id` is not their place, and ids that stand twice."""
    given_ids = [document.get("$id") for document in all_.values()]
    return [
        file
        for file, document in all_.items()
        if document.get("$id") != BASE_URI + file or given_ids.count(document.get("$id")) > 1
    ]


def enums(all_: Documents) -> list[str]:
    """Enumerations with a repeated value."""
    return [
        f"{file}: {value}"
        for file, document in all_.items()
        for key, value in nodes(document)
        if key == "enum" and isinstance(value, list) and len({json.dumps(one) for one in value}) < len(value)
    ]


def patterns(all_: Documents) -> list[str]:
    """Patterns that do not compile, or that ECMA and Python read differently: `$` inside, class escapes."""
    found = []
    for file, document in all_.items():
        for key, value in nodes(document):
            given_patterns = [value] if key == "pattern" else value if key == "patternProperties" else ()
            for pattern in given_patterns:
                if re.search(r"\$.|\\[dwsbDWSB]", pattern) or not re.compile(pattern):
                    found.append(f"{file}: {pattern}")
    return found


def resolves(all_: Documents) -> list[str]:
    """References to no document of ours, or to nothing inside one."""
    by_id = {document["$id"]: document for document in all_.values() if "$id" in document}
    found = []
    for file, document in all_.items():
        for ref in refs(document):
            uri, _, pointer = ref.partition("#")
            target: Any = by_id.get(uri)
            for part in pointer.split("/")[1:]:
                target = target.get(part) if isinstance(target, dict) else None
            if not isinstance(target, dict):
                found.append(f"{file}: {ref}")
    return found


def dangling(all_: Documents) -> list[str]:
    """Definitions that nothing refers to."""
    used = {ref for document in all_.values() for ref in refs(document)}
    return [
        f"{file}: {name}"
        for file, document in all_.items()
        for name in document.get("$defs", {})
        if f"{document['$id']}#/$defs/{name}" not in used
    ]


def cycles(all_: Documents) -> list[str]:
    """Documents that lead back to themselves through references to other documents."""
    to = {
        document["$id"]: {ref.partition("#")[0] for ref in refs(document)} - {document["$id"]}
        for document in all_.values()
    }

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(to[start])
        while waiting:
            uri = waiting.pop()
            if uri not in seen:
                seen.add(uri)
                waiting += to.get(uri, ())
        return seen

    return [uri for uri in to if uri in reached(uri)]


def recursive_definitions(all_: Documents) -> list[str]:
    """Local definitions that contain a reference to themselves."""
    return [
        f"{file}: {name}"
        for file, document in all_.items()
        for name, definition in document.get("$defs", {}).items()
        if any(key == "$ref" and value == f"#/$defs/{name}" for key, value in nodes(definition))
    ]


def elder_siblings(all_: Documents) -> list[str]:
    """References from a file to one that its own edition has replaced, or that it cannot know yet."""
    found = []
    for schema in SCHEMAS:
        for edition, file in zip(schema.own, schema.files, strict=True):
            for ref in refs(all_.get(file, {"$id": ""})):
                target = ref.partition("#")[0].removeprefix(BASE_URI)
                newest = [other.file(edition) for other in SCHEMAS if edition in other.editions]
                if target not in newest:
                    found.append(f"{file}: {ref}")
    return found


LINT: tuple[Callable[[Documents], list[str]], ...] = (
    draft,
    ids,
    enums,
    patterns,
    resolves,
    dangling,
    cycles,
    recursive_definitions,
    elder_siblings,
)

CHUNK = "llm/llm.types.chunk.json"
MESSAGE = "llm/llm.types.message.json"

PLANTED: tuple[tuple[Callable[[Documents], list[str]], str, Callable[[dict[str, Any]], object]], ...] = (
    (draft, CHUNK, lambda it: it.update({"$schema": "http://json-schema.org/draft-07/schema#"})),
    (draft, CHUNK, lambda it: it.update(required="text")),
    (
        draft,
        "llm/llm.sampling.params.json",
        lambda it: it["properties"]["top_p"].update(exclusiveMinimum=True),
    ),
    (ids, CHUNK, lambda it: it.update({"$id": BASE_URI + "llm/llm.types.lump.json"})),
    (ids, CHUNK, lambda it: it.update({"$id": BASE_URI + MESSAGE})),
    (ids, CHUNK, lambda it: it.pop("$id")),
    (enums, MESSAGE, lambda it: it["properties"]["role"]["enum"].append("user")),
    (patterns, "common/envelope.error.json", lambda it: it["properties"]["code"].update(pattern="^a$|^b$")),
    (patterns, "common/envelope.error.json", lambda it: it["properties"]["code"].update(pattern=r"^\d+$")),
    (resolves, CHUNK, lambda it: it["properties"].update(x={"$ref": BASE_URI + "llm/llm.types.none.json"})),
    (resolves, CHUNK, lambda it: it["properties"].update(x={"$ref": BASE_URI + MESSAGE + "#/$defs/None"})),
    (resolves, MESSAGE, lambda it: it["$defs"].pop("ToolCall")),
    (dangling, CHUNK, lambda it: it.update({"$defs": {"Lonely": {"type": "string"}}})),
    (
        cycles,
        "llm/llm.types.token_usage.json",
        lambda it: it["properties"].update(x={"$ref": BASE_URI + CHUNK}),
    ),
    (
        recursive_definitions,
        MESSAGE,
        lambda it: it["$defs"]["ToolCall"]["properties"].update(x={"$ref": "#/$defs/ToolCall"}),
    ),
    (
        elder_siblings,
        "llm/llm.complete.success.json",
        lambda it: it["allOf"].append({"$ref": BASE_URI + "llm/llm.envelope.success.json"}),
    ),
    (
        elder_siblings,
        CHUNK,
        lambda it: it["properties"].update(x={"$ref": BASE_URI + "llm/llm.stream.frame.json"}),
    ),
)


@pytest.mark.parametrize("rule", LINT, ids=lambda rule: rule.__name__)
def test_the_schemas_pass_every_lint_rule(rule: Callable[[Documents], list[str]]) -> None:
    """SCHEMA 8.1: no shipped schema breaks a lint rule."""
    assert rule(read()) == []


@pytest.mark.parametrize(
    ("rule", "file", "damage"), PLANTED, ids=[f"{row[0].__name__}-{n}" for n, row in enumerate(PLANTED)]
)
def test_a_lint_rule_reports_a_planted_fault(
    rule: Callable[[Documents], list[str]], file: str, damage: Callable[[dict[str, Any]], object]
) -> None:
    """Each lint rule turns red for a schema that breaks it."""
    damaged = copy.deepcopy(read())
    damage(damaged[file])
    assert rule(damaged) != []


def test_table_and_files_agree() -> None:
    """Every file has a row and every row its files (R41)."""
    assert drift(ROOT) == []


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda root: (root / CHUNK).unlink(), f"{CHUNK} is missing"),
        (lambda root: (root / "llm/llm.new.json").write_text("{}"), "llm/llm.new.json is orphaned"),
        (lambda root: (root / "common/notes.txt").write_text(""), "common/notes.txt is orphaned"),
    ],
    ids=["missing", "orphaned", "stray"],
)
def test_drift_is_reported(tmp_path: Path, damage: Callable[[Path], object], complaint: str) -> None:
    """A missing or an orphaned schema file is a failure, not a skip (R41)."""
    copied = tmp_path / "schemas"
    shutil.copytree(ROOT, copied)
    damage(copied)
    assert drift(copied) == [complaint]


@pytest.mark.parametrize("component", PRINTED)
def test_edition_1_0_0_is_the_printed_tree(component: str) -> None:
    """Edition 1.0.0 has the files of SCHEMA 2.1 and 2.2 and no other (R39, R40)."""
    stems = {schema.stem for schema in SCHEMAS if schema.component == component and "1.0.0" in schema.editions}
    assert stems == PRINTED[component]


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


# What edition 1.1.0 widens, and what it keeps.

CTX = {"request_id": "r-1"}
USAGE = {"prompt_tokens": 2, "total_tokens": 2}
COMPLETION = {"text": "a", "model": "m", "usage": USAGE, "finish_reason": "stop"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ERROR = {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": "down", "ms": 1}
FRAME = {"ok": True, "code": "STREAMING", "ms": 1, "chunk": {"text": "a", "is_final": False}}
SPEC = {"messages": [{"role": "user", "content": "hi"}]}


def success(result: object, **changed: object) -> dict[str, object]:
    return {"ok": True, "code": "OK", "ms": 1, "result": result, **changed}


def request(op: str, args: object, ctx: object = CTX) -> dict[str, object]:
    return {"op": op, "ctx": ctx, "args": args}


BOTH, NEW, NONE = EDITIONS, ("1.1.0",), ()

ACCEPTED: tuple[tuple[str, object, tuple[str, ...]], ...] = (
    ("common.operation_context", CTX, BOTH),
    ("common.operation_context", {**CTX, "locale": "de"}, NEW),
    ("common.operation_context", dict.fromkeys((*CTX, "tenant", "deadline_ms", "attrs", "traceparent")), NEW),
    ("common.operation_context", {"deadline_ms": 0}, NONE),
    ("common.operation_context", {"deadline_ms": "soon"}, NONE),
    ("common.operation_context", {"tenant": ""}, NONE),
    ("common.operation_context", {"attrs": []}, NONE),
    ("common.envelope.request", request("llm.complete", {}, {"locale": "de"}), NEW),
    ("common.envelope.request", {**request("llm.complete", {}), "version": 1}, NONE),
    ("common.envelope.request", request("LLM.complete", {}), NONE),
    ("common.envelope.success", success({}), BOTH),
    ("common.envelope.success", success({}, ms=None), NEW),
    ("common.envelope.success", success({}, ms=-1), NONE),
    ("common.envelope.success", success({}, code="STREAMING"), NONE),
    ("common.envelope.success", success({}, code="PARTIAL_SUCCESS"), BOTH),
    ("common.envelope.success", success(7), NEW),
    ("common.envelope.success", success([]), NEW),
    ("common.envelope.success", success("7"), NONE),
    ("common.envelope.success", success(None), NONE),
    ("common.envelope.success", success(True), NONE),
    ("common.envelope.success", success({}, took=3), NONE),
    ("common.envelope.error", ERROR, BOTH),
    ("common.envelope.error", {**ERROR, "retry_after_ms": None, "details": {}}, BOTH),
    ("common.envelope.error", {**ERROR, "details": None}, NEW),
    ("common.envelope.error", {**ERROR, "ms": None}, NEW),
    ("common.envelope.error", {**ERROR, "http_status": 503}, NONE),
    ("common.envelope.error", {**ERROR, "retry_after_ms": -1}, NONE),
    ("common.envelope.error", {**ERROR, "code": "Unavailable"}, NONE),
    ("common.envelope.stream.success", FRAME, NEW),
    ("common.envelope.stream.success", {**FRAME, "ms": None}, NEW),
    ("common.envelope.stream.success", {**FRAME, "code": "OK"}, NONE),
    ("common.envelope.stream.success", {**FRAME, "ok": False}, NONE),
    ("common.envelope.stream.success", {**FRAME, "result": {}}, NONE),
    ("common.envelope.stream.success", {key: FRAME[key] for key in ("ok", "code", "ms")}, NONE),
    ("llm.envelope.request", request("vector.query", {}), NONE),
    ("llm.envelope.success", success({}, protocol="llm/v1.0"), NONE),
    ("llm.envelope.stream.success", {**FRAME, "chunk": {"records": [], "is_final": False}}, NONE),
    ("llm.types.token_usage", USAGE, BOTH),
    ("llm.types.token_usage", {**USAGE, "completion_tokens": None}, NEW),
    ("llm.types.token_usage", {**USAGE, "total_tokens": None}, NONE),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": 2.0}, BOTH),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": 2.5}, NONE),
    ("llm.types.token_usage", {**USAGE, "prompt_tokens": True}, NONE),
    ("llm.types.token_usage", {**USAGE, "cached_tokens": 1}, NONE),
    ("llm.types.completion", COMPLETION, BOTH),
    ("llm.types.completion", {**COMPLETION, "finish_reason": "weary"}, BOTH),
    ("llm.types.completion", {**COMPLETION, "finish_reason": None}, NONE),
    ("llm.types.completion", {**COMPLETION, "model_family": "gpt", "tool_calls": [CALL]}, NEW),
    ("llm.types.completion", {**COMPLETION, "model_family": None, "tool_calls": None}, NEW),
    ("llm.types.completion", {**COMPLETION, "tool_calls": [{"id": "c"}]}, NONE),
    ("llm.types.completion", {**COMPLETION, "schema_version": "1.1.0", "protocol": "llm/v1.0"}, NEW),
    ("llm.types.completion", {**COMPLETION, "logprobs": None, "warnings": None}, NEW),
    ("llm.types.completion", {**COMPLETION, "warnings": [{"code": "SLOW", "message": "slow"}]}, NEW),
    ("llm.types.completion", {**COMPLETION, "cost": 1}, NONE),
    ("llm.types.chunk", {"text": "", "is_final": True}, BOTH),
    ("llm.types.chunk", {"text": "", "is_final": True, "model": "m", "usage_so_far": USAGE}, BOTH),
    ("llm.types.chunk", {"text": "", "is_final": True, "model": None, "usage_so_far": None}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "tool_calls": [CALL]}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "tool_calls": None}, NEW),
    ("llm.types.chunk", {"text": "", "is_final": True, "delta": ""}, NONE),
    ("llm.types.chunk", {"text": None, "is_final": True}, NONE),
    ("llm.types.chunk", {"text": ""}, NONE),
    ("llm.types.message", {"role": "tool", "content": "4", "tool_call_id": "c", "name": "f"}, BOTH),
    ("llm.types.message", {"role": "assistant", "content": "", "tool_calls": None}, NEW),
    ("llm.types.message", {"role": "developer", "content": ""}, NONE),
    ("llm.sampling.params", {"top_p": 1, "temperature": 2, "presence_penalty": -2}, BOTH),
    ("llm.sampling.params", {"top_p": 0}, NONE),
    ("llm.sampling.params", {"top_p": 0.001}, BOTH),
    ("llm.sampling.params", {"temperature": 2.01}, NONE),
    ("llm.sampling.params", {"temperature": None}, NEW),
    ("llm.response_format", {"type": "yaml"}, NONE),
    ("llm.complete.request", request("llm.complete", SPEC), BOTH),
    ("llm.complete.request", request("llm.complete", {**SPEC, "vendor_flag": 1}), BOTH),
    ("llm.complete.request", request("llm.complete", {**SPEC, "max_tokens": None}), NEW),
    ("llm.complete.request", request("llm.complete", {**SPEC, "max_tokens": -1}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "temperature": "hot"}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "tool_choice": "sometimes"}), NONE),
    ("llm.complete.request", request("llm.complete", {**SPEC, "tool_choice": {"name": "f"}}), BOTH),
    ("llm.complete.request", request("llm.complete", {}), NONE),
    ("llm.stream.request", request("llm.stream", SPEC), NEW),
    ("llm.stream.request", request("llm.complete", SPEC), NONE),
    ("llm.stream.frame", FRAME, NEW),
    ("llm.complete.success", success(COMPLETION), NEW),
    ("llm.complete.success", success({"text": "a"}), NONE),
    ("llm.count_tokens.request", request("llm.count_tokens", {"text": "", "model": None}), NEW),
    ("llm.count_tokens.request", request("llm.count_tokens", {"model": "m"}), NONE),
    ("llm.count_tokens.success", success(0), NEW),
    ("llm.count_tokens.success", success(-1), NONE),
    ("llm.count_tokens.success", success(2.5), NONE),
    ("llm.count_tokens.success", success({"token_count": 3, "model": "m"}), NEW),
    ("llm.count_tokens.success", success({"tokens": ["a", "b"], "count": 2}), NEW),
    ("llm.count_tokens.success", success({"tokens": -3}), NONE),
    ("llm.count_tokens.success", success({"total": 3}), NONE),
    ("llm.count_tokens.success", success([3]), NONE),
    ("llm.capabilities.request", request("llm.capabilities", {"verbose": True}), NEW),
    (
        "llm.capabilities.success",
        success({"server": "s", "version": "1", "protocol": "llm/v1.0", "x": None}),
        NEW,
    ),
    ("llm.capabilities.success", success({"server": "s", "version": "1"}), NONE),
    ("llm.capabilities.success", success({"server": "s", "version": 1, "protocol": "llm/v1.0"}), NONE),
    ("llm.health.request", request("llm.health", {}), NEW),
    ("llm.health.success", success({"anything": 1}), NEW),
    ("llm.health.success", success(1), NONE),
)


@pytest.mark.parametrize(
    ("name", "instance", "editions"), ACCEPTED, ids=[f"{row[0]}-{n}" for n, row in enumerate(ACCEPTED)]
)
def test_the_editions_that_accept_an_instance(name: str, instance: object, editions: tuple[str, ...]) -> None:
    """Edition 1.1.0 opens what the rulings open, and stays closed elsewhere (R3, R5, R6, R8, R10)."""
    assert registry().editions_met(name, instance) == editions


CHANGED = [schema for schema in SCHEMAS if len(schema.own) > 1]


@pytest.mark.parametrize("schema", CHANGED, ids=lambda schema: schema.name)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_later_edition_only_widens(schema: SchemaFile, data: st.DataObject) -> None:
    """What a schema accepts in one edition, it accepts in every later one (SCHEMA 10.1)."""
    eldest = from_schema(BASE_URI + schema.files[0])
    instance = data.draw(eldest | eldest.flatmap(lambda made: mutated(made, 1)))
    met = registry().editions_met(schema.name, instance)
    assert met in {schema.editions[n:] for n in range(len(schema.editions) + 1)}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_the_generator_reaches_valid_instances(schema: SchemaFile, data: st.DataObject) -> None:
    """The instances made for the property tests are objects of the schema's own keys, not noise."""
    made = data.draw(from_schema(BASE_URI + schema.file()))
    problems = registry().problems(schema.name, made)
    assert {problem.rule for problem in problems} <= {"additionalProperties"}


def test_every_changed_schema_differs() -> None:
    """A `.v1.1` file that says what its elder says would be noise."""
    by_id = documents()
    for schema in CHANGED:
        elder, newer = (dict(by_id[BASE_URI + file]) for file in schema.files)
        assert elder.pop("$id") != newer.pop("$id")
        assert elder != newer, schema.name
