"""The pipeline of request envelopes: cases, stages, versions, arguments, the round trip (SCHEMA 6.3, 8.2)."""

import enum
import json
import pickle
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from tables import read_json_rows
from wire_requests import CLIENT, COMPLETE, complete

from pytest_corpus import wire
from pytest_corpus.resources import folder
from pytest_corpus.schema_registry import SchemaAssertionError, UnknownSchemaError, registry
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import BY_OP, OPERATIONS
from pytest_corpus.wire import EDGE_CASES, EdgeCase


def test_every_operation_has_a_case() -> None:
    """There are 33 basic cases, with the names that SCHEMA 8.2 prints."""
    assert [case.op for case in wire.CASES] == [operation.op for operation in OPERATIONS]
    assert len({case.id for case in (*wire.CASES, *EDGE_CASES)}) == len(wire.CASES) + len(EDGE_CASES)
    assert (COMPLETE.id, COMPLETE.build_method, COMPLETE.tags) == (
        "llm.complete.basic",
        "build_complete_request",
        ("core", "llm"),
    )
    assert COMPLETE.schema_id == "https://corpusos.com/schemas/llm/llm.envelope.request.json"
    assert COMPLETE.schema_versions == ("1.0.0", "1.1.0")


def test_cases_are_chosen_by_component_and_tag() -> None:
    """`cases` filters by component, by tag, by both."""
    assert [case.op for case in wire.cases("embedding", "streaming")] == ["embedding.stream_embed"]
    assert {case.component for case in wire.cases("vector")} == {"vector"}
    assert len(wire.cases()) == 33


def test_a_case_takes_lists() -> None:
    """A case of one's own may be written with lists, as in SCHEMA 8.2, and can be hashed."""
    case = wire.WireRequestCase("a", "llm.complete", "b", "llm.envelope.request", "llm", ["1.0.0"], None, ["t"])  # type: ignore[arg-type]
    assert (case.schema_versions, case.tags) == (("1.0.0",), ("t",))
    assert hash(case)


@pytest.mark.parametrize("case", wire.CASES, ids=lambda case: case.op)
def test_a_sound_request_passes(case: wire.WireRequestCase) -> None:
    """The reference client's request of each operation passes all stages."""
    builder = wire.get_adapter_builder(CLIENT, case)
    assert builder is not None
    wire.validate_case(case, builder())


GOLDEN_REQUESTS = [golden for golden in GOLDENS if golden.schema.endswith(".envelope.request")]


@pytest.mark.parametrize("golden", GOLDEN_REQUESTS, ids=lambda golden: golden.file)
def test_every_golden_request_passes(golden: Any) -> None:
    """The requests of the goldens are sound."""
    envelope = json.loads((folder("golden") / golden.file).read_text(encoding="utf-8"))
    wire.validate_case(wire.case_of(envelope["op"]), envelope)


@pytest.mark.parametrize("case", EDGE_CASES, ids=lambda case: case.id)
def test_an_edge_case_is_refused(case: EdgeCase) -> None:
    """Each edge case ends in its own error, with a code of SCHEMA 11.2, the case id, and no content."""
    with pytest.raises(wire.WireValidationError) as refused:
        wire.validate_case(case, case.envelope())
    error = refused.value
    assert type(error) is case.error
    assert error.code in wire.PROTOCOL_ERROR_CODES
    assert error.case_id == case.id
    assert str(error) == f"{case.id}: {error.fault}"
    assert "Hello" not in str(error)


def test_an_edge_case_is_sound_but_for_its_edge() -> None:
    """The request that the edge cases of `llm.complete` start from passes."""
    wire.validate_case(COMPLETE, {"op": "llm.complete", "ctx": {"request_id": "test"}, "args": {"messages": []}})


@pytest.mark.parametrize("ctx", [
    {},
    {"deadline_ms": 1},
    {"deadline_ms": 1.5e12},
    {"deadline_ms": None, "tenant": None},
    {"request_id": "a-b.c_d~e:f"},
    {"cache_scope": "tenant", "unheard_of": [1]},
    {"attrs": {"anything": {"at": "all"}}},
])  # fmt: skip
def test_a_sound_context_passes(ctx: dict[str, Any]) -> None:
    """Contexts that SCHEMA 3.2 and edition 1.1.0 allow pass; unknown keys do (R8)."""
    wire.validate_ctx_field({"ctx": ctx})
    wire.validate_case(COMPLETE, {**complete(), "ctx": ctx})


@pytest.mark.parametrize("value", [True, "1", [], {}, b"1", 10**400, float("inf")])
def test_a_deadline_is_a_number(value: object) -> None:
    """Nothing but a number is a deadline; no value is shown that could be content."""
    with pytest.raises(wire.CtxValidationError, match=r"ctx\.deadline_ms"):
        wire.validate_ctx_field({"ctx": {"deadline_ms": value}})
    with pytest.raises(wire.CtxValidationError, match="absent"):
        wire.validate_ctx_field({})


def test_a_pinned_version_judges_the_context() -> None:
    """Under version 1.0.0 alone `ctx` is closed and knows no null (R18)."""
    pinned = COMPLETE.accepting(("1.0.0",))
    wire.validate_case(pinned, {**complete(), "ctx": {"request_id": "a"}})
    for ctx in ({"tenant": None}, {"unheard_of": 1}):
        with pytest.raises(wire.WireSchemaError) as refused:
            wire.validate_case(pinned, {**complete(), "ctx": ctx})
        assert refused.value.code == "CTX_VALIDATION"


def test_a_schema_failure_is_what_assert_valid_raises() -> None:
    """It can be caught as `SchemaAssertionError`, and explains itself as that does."""
    envelope = {**complete(), "version": 1}
    with pytest.raises(SchemaAssertionError) as ours:
        wire.validate_case(COMPLETE, envelope)
    with pytest.raises(SchemaAssertionError) as theirs:
        registry().assert_valid("llm.envelope.request", envelope, context=COMPLETE.id)
    assert str(ours.value) == str(theirs.value)
    assert ours.value.problems == theirs.value.problems
    assert isinstance(ours.value, wire.WireValidationError)


@pytest.mark.parametrize("versions", [["2.0.0"], [], ["9.9.9", "0.1.0"]])
def test_versions_that_there_are_not(versions: list[str]) -> None:
    """If no accepted version exists, that is the finding."""
    with pytest.raises(wire.VersionMismatchError) as refused:
        wire.validate_wire_envelope(
            complete(), "llm.complete", COMPLETE.schema_id, "llm", schema_versions=versions, case_id="c"
        )
    assert refused.value.code == "VERSION_MISMATCH"


def test_one_known_version_is_enough() -> None:
    """A future version next to a known one does no harm."""
    wire.validate_wire_envelope(
        complete(), "llm.complete", COMPLETE.schema_id, "llm", schema_versions=["1.0.0", "2.0.0"]
    )


def test_wrong_arguments_are_the_callers() -> None:
    """A schema that there is not, and a component that the operation is not of, are not findings."""
    with pytest.raises(UnknownSchemaError):
        wire.validate_wire_envelope(complete(), "llm.complete", "no.such.schema", "llm")
    with pytest.raises(ValueError, match="an operation of llm, not of vector"):
        wire.validate_wire_envelope(complete(), "llm.complete", COMPLETE.schema_id, "vector")


def test_an_extension_is_validated_by_its_own_name() -> None:
    """Operations of vendors pass the stages that know nothing of them (SPECIFICATION 4.2.6)."""
    envelope = {"op": "acme.rank", "ctx": {}, "args": {}}
    wire.validate_wire_envelope(envelope, "acme.rank", "common.envelope.request", "acme")


def build(**methods: Any) -> Any:
    """A client with these builders."""
    return SimpleNamespace(**{f"build_{name}_request": method for name, method in methods.items()})


HEALTH = wire.case_of("llm.health")


def test_a_builder_is_found_by_either_name() -> None:
    """The longer name goes first."""
    assert wire.get_adapter_builder(build(complete=int), COMPLETE) is int
    assert wire.get_adapter_builder(build(complete=int, llm_complete=str), COMPLETE) is str
    assert wire.get_adapter_builder(build(), COMPLETE) is None
    assert wire.get_adapter_builder(build(complete="no"), COMPLETE) is None


def test_a_shared_name_counts_where_it_is_clear_whose_it_is() -> None:
    """`build_health_request` is of the one component that the object builds for, or that a mapping names."""
    alone, of_llm = build(health=int), build(health=int, complete=str)
    of_two = build(health=int, complete=str, upsert=str)
    assert wire.get_adapter_builder(alone, HEALTH) is None
    assert wire.get_adapter_builder(of_llm, HEALTH) is int
    assert wire.get_adapter_builder(of_llm, wire.case_of("graph.health")) is None
    assert wire.get_adapter_builder(of_two, HEALTH) is None
    counting = build(count_tokens=int, complete=str, upsert=str)
    assert wire.get_adapter_builder(counting, wire.case_of("llm.count_tokens")) is int
    mapping: Mapping[str, Any] = {"llm": alone}
    assert wire.get_adapter_builder(mapping, HEALTH) is int
    assert wire.get_adapter_builder(mapping, wire.case_of("graph.health")) is None


def test_metrics_count_what_was_validated() -> None:
    """Successes and failures are counted by case, failures by code."""
    metrics = wire.ValidationMetrics()
    none = {"total_runs": 0, "total_successes": 0, "total_failures": 0, "avg_duration_ms": 0.0}
    assert metrics.get_summary() == none
    wire.validate_case(COMPLETE, complete(), metrics)
    with pytest.raises(wire.WireValidationError):
        wire.validate_case(COMPLETE, [], metrics)
    metrics.record_failure("own", "MINE")
    assert metrics.successes == {COMPLETE.id: 1}
    assert metrics.failures == {COMPLETE.id: {"ENVELOPE_TYPE": 1}, "own": {"MINE": 1}}
    summary = metrics.get_summary()
    assert (summary["total_runs"], summary["total_successes"], summary["total_failures"]) == (3, 1, 2)
    assert summary["avg_duration_ms"] > 0


def test_metrics_of_many_threads() -> None:
    """No record is lost."""
    metrics = wire.ValidationMetrics()

    def work() -> None:
        for _ in range(2000):
            metrics.record_success("a", 0.001)
            metrics.record_failure("a", ValueError())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.get_summary()["total_successes"] == 8000
    assert metrics.failures == {"a": {"ValueError": 8000}}


@pytest.mark.parametrize("case", EDGE_CASES[:1] + EDGE_CASES[-10:], ids=lambda case: case.id)
def test_errors_travel_between_processes(case: EdgeCase) -> None:
    """An error can be pickled, as pytest-xdist and process pools do."""
    with pytest.raises(wire.WireValidationError) as refused:
        wire.validate_case(case, case.envelope())
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (str(copy), copy.code, copy.case_id, copy.path) == (
        str(refused.value), refused.value.code, refused.value.case_id, refused.value.path,
    )  # fmt: skip


@pytest.mark.parametrize(("op", "args"), read_json_rows(Path(__file__).with_name("arguments_allowed.txt")))
def test_what_the_documents_allow_passes(op: str, args: dict[str, Any]) -> None:
    """`prompt` and `text` may stand in for `messages` and `vector` (SCHEMA 6.3); null counts as absent."""
    wire.ArgsValidator(op)(args, "c")


@pytest.mark.parametrize(("op", "args", "path"), [
    *read_json_rows(Path(__file__).with_name("arguments_forbidden.txt")),
    ("vector.query", {"vector": [10**400, float("nan")], "top_k": 1}, "args.vector"),
])  # fmt: skip
def test_what_the_documents_forbid_is_refused(op: str, args: dict[str, Any], path: str) -> None:
    """The rules and the request's schema are kept, and the error leads to the place."""
    with pytest.raises(wire.ArgsValidationError) as refused:
        wire.ArgsValidator(op)(args, "c")
    assert refused.value.path == path
    assert str(refused.value).startswith("c: ")


def test_every_rule_belongs_to_an_operation() -> None:
    """No rule of the table is of an operation that there is not."""
    from pytest_corpus.spec.arguments import ALTERNATIVES, RULES

    assert RULES.keys() | ALTERNATIVES.keys() <= BY_OP.keys()


def test_a_validator_of_ones_own() -> None:
    """Its `ArgsValidationError` keeps the case id; of other exceptions only the type is shown."""

    def ours(_: dict[str, Any], case_id: str) -> None:
        raise wire.ArgsValidationError(f"{case_id}: no")

    def theirs(args: dict[str, Any], _: str) -> None:
        raise KeyError(args["secret"])

    with pytest.raises(wire.ArgsValidationError) as refused:
        wire.validate_args_for_operation({}, ours, "c")
    assert (str(refused.value), refused.value.case_id, refused.value.code) == ("c: no", "c", "ARGS_VALIDATION")
    with pytest.raises(wire.ArgsValidationError) as refused:
        wire.validate_args_for_operation({"secret": "Doe"}, theirs, "c")
    assert str(refused.value) == "c: args validation failed: the validator raises KeyError"
    with pytest.raises(wire.ArgsValidationError, match="must be a JSON object"):
        wire.validate_args_for_operation([], ours, "c")


@pytest.mark.parametrize(("schema", "instance", "code", "text"), [
    ("llm.complete.request", {"op": "llm.complete", "ctx": {}, "args": {}}, "required", "field: messages"),
    ("common.envelope.request", {"op": 1, "ctx": {}, "args": {}}, "type", "Value must be of type string"),
    ("common.envelope.request", {"op": "a.b", "ctx": {}, "args": {}, "more": 1}, "additionalProperties",
     "Additional properties not allowed: more"),
    ("common.envelope.request", {"op": "X", "ctx": {}, "args": {}}, "pattern", r"pattern: ^[a-z]+\.[a-z_]+$"),
    ("llm.types.message", {"role": "robot", "content": ""}, "enum", 'one of: "system", "user"'),
    ("common.operation_context", {"deadline_ms": 0}, "minimum", "Value must be at least 1"),
    ("llm.sampling.params", {"temperature": 3}, "maximum", "Value must be at most 2"),
    ("common.operation_context", {"tenant": ""}, "minLength", "Value must have at least 1 characters"),
    ("common.operation_context", {"tenant": "a" * 300}, "maxLength", "Value must have at most 256 characters"),
    ("llm.sampling.params", {"top_p": 0}, "exclusiveMinimum", "must be more than 0"),
])  # fmt: skip
def test_a_schema_problem_has_a_code_and_a_text(schema: str, instance: object, code: str, text: str) -> None:
    """The texts of SCHEMA 11.2 are filled in; a rule that it does not list keeps the problem's own."""
    told = [wire.validation_error(problem) for problem in registry().problems(schema, instance)]
    assert any(found == code and text in said for found, said in told), told
    assert not any("{" in said for _, said in told)


class Colour(str, enum.Enum):  # noqa: UP042  (its text is "Colour.RED", not "red")
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(("value", "arrives"), [
    ((1, 2), [1, 2]),
    (Colour.RED, "red"),
    (Size.SMALL, 1),
    (Text("a"), "a"),
    (OrderedDict(a=1), {"a": 1}),
    ({Colour.RED: 1}, {"red": 1}),
    (-0.0, -0.0),
    (1e308, 1e308),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    ("\u2028\U0001f600\x00", "\u2028\U0001f600\x00"),
], ids=repr)  # fmt: skip
def test_what_json_says_in_its_own_way_is_preserved(value: object, arrives: object) -> None:
    """A tuple is an array, an enum its value, a subclass what it is made of: nothing is lost."""
    came = wire.json_roundtrip({"a": value})["a"]
    assert came == arrives
    assert type(came) is type(arrives)


class Shifting(dict):  # type: ignore[type-arg]
    """A dict that shows a writer something else than it holds."""

    def items(self) -> Any:
        return {"shown": 1}.items()


@pytest.mark.parametrize(("value", "error", "said"), [
    ({"a": {"b": {1: 1}}}, wire.RoundTripError, r"a\.b has a key"),
    ({"a": {"b": {1.5: 1}}}, wire.RoundTripError, r"a\.b has a key"),
    ({"a": {"b": {True: 1}}}, wire.RoundTripError, r"a\.b has a key"),
    ({"a": {"b": {None: 1}}}, wire.RoundTripError, r"a\.b has a key"),
    ({"a": Shifting(held=1)}, wire.RoundTripError, "a does not come back"),
    ({(1,): 1}, wire.SerializationError, None),
    ({b"a": 1}, wire.SerializationError, None),
    ({frozenset(): 1}, wire.SerializationError, None),
    ([], wire.SerializationError, None),
    ("a", wire.SerializationError, None),
    (1, wire.SerializationError, None),
    (None, wire.SerializationError, None),
    (MappingProxyType({}), wire.SerializationError, None),
], ids=repr)  # fmt: skip
def test_what_json_changes_or_cannot_write_is_refused(value: object, error: type[Exception], said: str | None) -> None:
    """A key that becomes a string is another key, other keys cannot be written, and only a dict is the outcome."""
    with pytest.raises(error, match=said) as refused:
        wire.json_roundtrip(value)
    assert type(refused.value) is error
