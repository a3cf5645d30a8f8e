"""The parts of a refusal: the value, the rule's place, what was meant, a golden; formats; accepted versions."""

import copy
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import mutated, second_opinion
from tables import read_json_rows

from pytest_corpus import resources
from pytest_corpus.schema_registry import (
    ROOT_VARIABLE,
    DeprecatedFieldWarning,
    SchemaAssertionError,
    SchemaRegistry,
    SchemaValidationError,
    UnknownEditionError,
    UnknownSchemaError,
    assert_valid,
    registry,
    validate_with_version_tolerance,
)
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMA_VERSIONS, SCHEMAS

SHIPPED = resources.folder("schemas")
REQUEST: dict[str, Any] = {
    "op": "llm.complete",
    "ctx": {"request_id": "r-1", "tenant": "acme"},
    "args": {"messages": [{"role": "user", "content": "hi"}], "temperature": 0.5, "model": "m"},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The request with one value set."""
    request = copy.deepcopy(REQUEST)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder: Any = request
    for part in parents:
        holder = holder[part]
    holder[last] = value
    return request


def with_response_format(folder: Path, **schema: object) -> Path:
    """A copy of the shipped schemas, in which that of response formats is another."""
    root = folder / "schemas"
    shutil.copytree(SHIPPED, root)
    file = root / "llm" / "llm.response_format.json"
    file.write_text(json.dumps({"$id": f"{BASE_URI}llm/{file.name}", **schema}))
    return root


SHOWN = read_json_rows(Path(__file__).with_name("values_shown.txt"))


@pytest.mark.parametrize(("path", "value", "shown"), SHOWN, ids=[f"{row[0]}-{n}" for n, row in enumerate(SHOWN)])
def test_the_value_is_shown_where_it_can_do_no_harm(path: str, value: object, shown: str) -> None:
    """Numbers and short identifiers are shown; content, tenants and what looks like a credential never are (R21)."""
    (problem,) = registry().problems("llm.complete.request", changed(path, value))
    assert (problem.path, problem.found) == (path, shown)
    with pytest.raises(SchemaValidationError) as caught:
        registry().validate_json("llm.complete.request", changed(path, value))
    assert f"found {shown}" in str(caught.value)
    if isinstance(value, str) and shown.startswith("a string"):
        assert value not in str(caught.value)


@given(data=st.data())
def test_a_credential_is_never_shown(data: st.DataObject) -> None:
    """Wherever in a request a credential stands, no refusal shows it."""
    secret = "sk-proj-4f9a8b7c6d5e"
    text = json.dumps(data.draw(mutated(REQUEST)))
    for word in ("user", "hi", "acme", "r-1", "llm.complete"):
        text = text.replace(f'"{word}"', f'"{secret}"')
    for schema in ("llm.complete.request", "llm.types.message", "llm.envelope.error"):
        problems = registry().problems(schema, json.loads(text))
        assert secret not in str(SchemaValidationError(schema, SCHEMA_VERSIONS[-1], problems))


HINTS: tuple[tuple[str, object, str, str, str], ...] = (
    ("llm.types.message", {"role": "user", "content": "", "nmae": "x"}, "nmae", "name", "did you mean name?"),
    ("llm.types.message", {"role": "user", "content": "", "Name": "x"}, "Name", "name", "did you mean name?"),
    ("llm.types.message", {"role": "asistant", "content": ""}, "role", "assistant", "did you mean assistant?"),
    ("llm.types.completion_spec", {"mesages": []}, "messages", "mesages", "is it spelt mesages?"),
    ("llm.types.message", {"role": "user", "content": "", "zzz": "x"}, "zzz", "", "not allowed here ["),
)


@pytest.mark.parametrize(("schema", "instance", "path", "hint", "text"), HINTS, ids=range(len(HINTS)))
def test_a_typo_is_answered_with_the_nearest_key(
    schema: str, instance: object, path: str, hint: str, text: str
) -> None:
    """A message about a misspelt key or choice suggests the one that was probably meant."""
    (problem,) = registry().problems(schema, instance)
    assert (problem.path, problem.hint) == (path, hint)
    assert text in problem.one_line


LOCATIONS: tuple[tuple[str, object, str], ...] = (
    ("op", 7, "common/envelope.request.v1.1.json#/properties/op/type"),
    ("op", "llm.Complete", "common/envelope.request.v1.1.json#/properties/op/pattern"),
    ("op", "graph.query", "llm/llm.envelope.request.v1.1.json#/allOf/1/properties/op/pattern"),
    ("ctx.tenant", "", "common/operation_context.v1.1.json#/properties/tenant/minLength"),
    ("args.temperature", 3, "llm/llm.sampling.params.v1.1.json#/properties/temperature/maximum"),
    ("args.messages.0.role", "x", "llm/llm.types.message.v1.1.json#/properties/role/enum"),
    ("args.messages.0.tool_calls", [1], "llm/llm.types.message.v1.1.json#/$defs/ToolCall/type"),
    ("args.tool_choice", 1, "llm/llm.types.completion_spec.v1.1.json#/properties/tool_choice/anyOf"),
)


@pytest.mark.parametrize(("path", "value", "location"), LOCATIONS, ids=range(len(LOCATIONS)))
def test_a_problem_says_where_its_rule_stands(path: str, value: object, location: str) -> None:
    """A problem names the file and the place of its rule, through all references."""
    assert location in [
        problem.location for problem in registry().problems("llm.complete.request", changed(path, value))
    ]


@given(data=st.data())
def test_every_location_exists(data: st.DataObject) -> None:
    """The place that a problem names holds the rule that it names."""
    golden = data.draw(st.sampled_from([golden for golden in GOLDENS if not golden.is_stream]))
    document = json.loads((resources.folder("golden") / golden.file).read_text())
    schema, edition = data.draw(st.sampled_from(list(golden.checks())))
    for problem in registry().problems(schema, data.draw(mutated(document)), edition):
        file, _, pointer = problem.location.partition("#")
        node = json.loads((SHIPPED / file).read_text())
        for part in pointer.split("/")[1:]:
            node = node[int(part)] if isinstance(node, list) else node[part]
        assert pointer.endswith(problem.rule) or problem.rule == "type"


def test_a_refusal_names_the_golden_to_compare_with() -> None:
    """The golden is that of the operation, or one that meets the schema; where there is none, none is named."""
    for schema, instance, golden in (
        ("llm.envelope.request", {"op": "llm.complete"}, "llm/llm_complete_request.json"),
        ("llm.complete.request", {}, "llm/llm_complete_request.json"),
        ("llm.types.token_usage", {}, "llm/llm_types_token_usage.json"),
        ("graph.stream_query.frame", {}, "graph/graph_stream_chunk.json"),
        ("common.envelope.error", {}, "llm/llm_error_envelope.json"),
        ("embedding.types.chunk", {}, None),
    ):
        with pytest.raises(SchemaValidationError) as caught:
            registry().validate_json(schema, instance)
        assert caught.value.golden == golden
        assert (f"compare with golden/{golden}" in str(caught.value)) is (golden is not None)
        assert golden is None or (resources.folder("golden") / golden).is_file()


# Accepted versions (SCHEMA 10.1).

NEW = {"ok": True, "code": "OK", "ms": 1, "result": 7}


def test_the_first_accepted_edition_that_is_met_is_told() -> None:
    """The editions are tried in the order given."""
    check = registry().validate_with_version_tolerance
    assert check("llm.envelope.success", {**NEW, "result": {}}, ["1.0.0", "1.1.0"]) == "1.0.0"
    assert check("llm.envelope.success", {**NEW, "result": {}}, ["1.1.0", "1.0.0"]) == "1.1.0"
    assert check(f"{BASE_URI}llm/llm.envelope.success.json", NEW, SCHEMA_VERSIONS) == "1.1.0"
    assert validate_with_version_tolerance("llm.types.chunk", {"text": "", "is_final": True}, ["1.1.0"]) == "1.1.0"


@pytest.mark.parametrize("accepted", [["1.0.0"], ["1.0.0", "1.1.0"]])
def test_what_no_accepted_edition_accepts_is_refused(accepted: list[str]) -> None:
    """The refusal is an assertion that names the case and the problems under the last edition."""
    with pytest.raises(SchemaAssertionError, match=r"^case 7: not a valid llm\.envelope\.success") as caught:
        registry().validate_with_version_tolerance("llm.envelope.success", {**NEW, "ok": 1}, accepted, "case 7")
    assert caught.value.edition == accepted[-1]
    assert caught.value.problems


def test_versions_that_do_not_exist_accept_nothing() -> None:
    """An unknown edition among known ones is ignored; if none has the schema, that is the problem."""
    check = registry().validate_with_version_tolerance
    assert check(schema_id="llm.envelope.success", obj=NEW, accepted_versions=["9.0.0", "1.1.0"]) == "1.1.0"
    with pytest.raises(SchemaAssertionError, match=r"^unknown: not a valid llm\.envelope\.success \(edition 1\.0\.0\)"):
        check("llm.envelope.success", NEW, ["1.0.0", "2.0.0"])
    for name, versions in (("llm.stream.frame", ["1.0.0"]), ("llm.envelope.success", []), ("llm.types.chunk", ["7"])):
        with pytest.raises(SchemaAssertionError, match=r"is of no accepted version: .* exists in 1") as caught:
            check(name, NEW, versions, case_id="case 1")
        assert str(caught.value).startswith("case 1: not a valid")
        assert [problem.rule for problem in caught.value.problems] == ["version"]
    with pytest.raises(UnknownSchemaError):
        check("llm.no.schema", NEW, ["9.0.0"])


def test_a_version_mark_pins_the_edition() -> None:
    """`#version/` behind any name means that edition, and no other."""
    uri = f"{BASE_URI}llm/llm.envelope.success.json"
    assert not registry().is_valid(f"{uri}#version/1.0.0", NEW)
    assert registry().is_valid(f"{uri}#version/1.1.0", NEW)
    assert registry().is_valid("llm.envelope.success#version/1.1.0", NEW, "1.1.0")
    with pytest.raises(UnknownSchemaError):
        registry().is_valid(f"{uri}#version/1.0.0", NEW, "1.1.0")
    with pytest.raises(UnknownEditionError):
        registry().is_valid(f"{uri}#version/7", NEW)
    with pytest.raises(UnknownSchemaError, match=r"did you mean llm\.envelope\.success"):
        registry().is_valid("llm.envelope.sucess#version/1.0.0", NEW)


# Formats (SCHEMA 10.3, 12.C).

FORMATS: dict[str, tuple[list[object], list[object]]] = {
    "vector-dimensions": ([[0.0], [0] * 10_000, "no list"], [[], [0] * 10_001]),
    "timestamp": (
        ["2024-01-31T09:00:00Z", "2024-01-31T09:00:00.123Z", 7],
        [*(f"2024-01-31T09:00:00{end}" for end in (".12Z", "+01:00", "Z\n")), "\u0662024-01-31T09:00:00Z"],
    ),
    "date-time": (["2024-01-31T09:00:00+01:00"], ["yesterday"]),
    "email": (["a@example.com"], ["a"]),
    "hostname": (["example.com"], ["-a-"]),
    "ipv4": (["127.0.0.1"], ["127.0.0.256"]),
    "ipv6": (["::1"], [":::"]),
    "uri": (["https://example.com/a"], ["no uri"]),
    "uri-reference": (["/a?b#c"], ["\\"]),
    "uuid": (["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08"]),
    "even": (["ab"], ["abc"]),
    "unheard-of": (["anything"], []),
    "dimensions": ([[1], "four", {"a": 1}], [[1] * 4, []]),
    "upper": (["A", [1], 7], ["a"]),
}
"""By format the values that it accepts, and those that it refuses."""


def even(text: str) -> bool:
    if len(text) % 2:
        raise ValueError("odd")
    return True


def dimensions(value: object) -> bool:
    """A check as SCHEMA 12.C prints one."""
    if not isinstance(value, list):
        return True
    if len(value) < 1 or len(value) > 3:
        raise jsonschema.ValidationError(f"has {len(value)} dimensions")
    return True


def upper(text: str) -> bool:
    """A check that thinks of strings alone."""
    return text.isupper()


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_asserted(tmp_path: Path, name: str) -> None:
    """The protocol's formats, JSON Schema's and one's own decide, and verdict and reasons agree."""
    root = with_response_format(tmp_path, properties={"x": {"format": name}, "format": {"type": "string"}})
    own = SchemaRegistry(root, formats={"even": even, "dimensions": dimensions, "upper": upper})
    for accepted, values in zip((True, False), FORMATS[name], strict=True):
        for value in values:
            assert own.is_valid("llm.response_format", {"x": value}) is accepted, value
            problems = own.problems("llm.response_format", {"x": value})
            expected = [] if accepted else [("x", "format", f"must be a valid {name}")]
            assert [(problem.path, problem.rule, problem.message) for problem in problems] == expected, value


def test_a_format_of_arrays_holds_for_schemas_of_ones_own_too() -> None:
    """`compile` asserts it as the files do."""
    validator = SchemaRegistry(formats={"dimensions": dimensions}).compile({"items": {"format": "dimensions"}})
    assert validator.is_valid([[1, 2, 3]])
    assert not validator.is_valid([[1, 2, 3, 4]])


# Deprecation (SCHEMA 10.2).

OLD = {"a": 1, "list": [{"b": 1}, {"c": 1}]}


@pytest.fixture
def deprecating(tmp_path: Path) -> SchemaRegistry:
    """A registry whose response formats have deprecated fields."""
    old, item = {"deprecated": True}, {"properties": {"b": {"type": "integer", "deprecated": True}}}
    properties = {"a": old, "list": {"items": {"$ref": "#/$defs/Item"}}, "d": {"deprecated": False}}
    unions = [{"required": ["x"], "properties": {"d": old}}, {}]
    root = with_response_format(tmp_path, **{"properties": properties, "anyOf": unions, "$defs": {"Item": item}})
    return SchemaRegistry(root)


def test_what_a_schema_deprecates_is_warned_of(deprecating: SchemaRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A valid instance passes, and each deprecated field in it is a warning that names its place, not its value."""
    for check in (deprecating.validate_json, deprecating.assert_valid):
        with pytest.warns(DeprecatedFieldWarning) as caught:
            check("llm.response_format", OLD, context="case 3")
        assert [str(one.message) for one in caught] == [
            "case 3: a is deprecated in llm.response_format (edition 1.1.0)",
            "case 3: list.0.b is deprecated in llm.response_format (edition 1.1.0)",
        ]
        assert {one.filename for one in caught} == {__file__}
    with pytest.warns(DeprecatedFieldWarning, match="a is deprecated"):
        deprecating.validate_with_version_tolerance("llm.response_format", {"a": 1}, ["1.0.0"])
    monkeypatch.setenv(ROOT_VARIABLE, str(deprecating.root))
    with pytest.warns(DeprecatedFieldWarning) as caught:
        assert_valid("llm.response_format", {"a": 1})
    assert [one.filename for one in caught] == [__file__]
    assert deprecating.deprecations("llm.response_format", {"d": 1}) == []


def test_a_whole_schema_can_be_deprecated(tmp_path: Path) -> None:
    """A schema that is deprecated as a whole warns of every instance, once."""
    root = tmp_path / "schemas"
    root.mkdir()
    (root / "own.json").write_text(json.dumps({"$id": f"{BASE_URI}own.json", "deprecated": True, "type": "object"}))
    with pytest.warns(DeprecatedFieldWarning) as caught:
        SchemaRegistry(root).validate_json("own", {})
    assert [str(one.message) for one in caught] == ["the whole is deprecated in own (edition 1.1.0)"]


def test_nothing_shipped_is_deprecated() -> None:
    """No warning comes of the schemas of the protocol, nor of a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry().validate_json("llm.types.chunk", {"text": "", "is_final": True})
    assert registry().deprecations("llm.types.chunk", {"text": "", "is_final": True}) == []


# Validators (SCHEMA 9.2, 12.D).


def test_a_validator_tells_its_errors() -> None:
    """`iter_errors` gives path, message and schema; `validate` raises; the error has path and schema too."""
    validator = registry().get_validator(f"{BASE_URI}llm/llm.types.chunk.json")
    (error,) = validator.iter_errors({"text": "", "is_final": 7})
    assert (error.path, error.message, error.schema) == ("is_final", "must be boolean, is integer", "llm.types.chunk")
    assert list(validator.iter_errors({"text": "", "is_final": True})) == []
    assert [problem.path for problem in validator.iter_errors({"text": float("nan"), "is_final": True})] == ["text"]
    validator.validate({"text": "", "is_final": True})
    with pytest.raises(SchemaValidationError, match="must be boolean") as caught:
        validator.validate({"text": "", "is_final": 7})
    assert (caught.value.path, caught.value.schema) == ("is_final", "llm.types.chunk")


# The compiled validator gets the same in other words; together and alone.


def test_all_at_once_compiles_what_one_by_one_compiles() -> None:
    """Validators compiled together give the verdicts of those that were compiled alone."""
    together, alone = SchemaRegistry(), SchemaRegistry()
    assert together.preload_all_schemas() == sum(len(schema.files) for schema in SCHEMAS)
    for golden in GOLDENS:
        if golden.is_stream:
            continue
        document = json.loads((resources.folder("golden") / golden.file).read_text())
        for schema in BY_NAME:
            for edition in BY_NAME[schema].editions:
                assert together.is_valid(schema, document, edition) == alone.is_valid(schema, document, edition)


@pytest.mark.parametrize("value", [-2.1, -2, -2.0, -0.0, 0, 0.0, 1e-9, 0.5, 1, 1.0, 1.0000001, 2, 2.0, 2.1, 10**30])
@pytest.mark.parametrize("key", ["temperature", "top_p", "frequency_penalty", "seed"])
def test_bounds_mean_the_same_in_both_words(key: str, value: float) -> None:
    """A bound of 2.0 that the compiler gets as 2 decides as the file says."""
    for edition in SCHEMA_VERSIONS:
        uri = BASE_URI + BY_NAME["llm.sampling.params"].file(edition)
        assert registry().is_valid("llm.sampling.params", {key: value}, edition) is second_opinion({key: value}, uri)


def test_a_schema_of_ones_own_may_refer_to_the_shipped() -> None:
    """`compile` takes any document, with references by `$id`."""
    mine = registry().compile({"type": "array", "items": {"$ref": f"{BASE_URI}llm/llm.types.message.json"}})
    assert mine.is_valid([{"role": "user", "content": ""}])
    assert not mine.is_valid([{"role": "user"}])
    with pytest.raises(ValueError, match="is not valid"):
        registry().compile({"type": 7})
