"""Refusals, and their explanations."""

import math
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import mutated, with_every_text
from sample_envelopes import CANARY, COMPLETION, ERROR, SUCCESS
from tables import read_json_rows

from pytest_corpus.schema_registry import SchemaValidationError, json_problems, registry

# Verdicts.


@pytest.mark.parametrize(
    ("value", "accepted"),
    [(7, True), (7.0, True), (2**70, True), (7.5, False), (True, False), ("7", False), (math.nan, False)],
)
def test_integers_are_those_of_json_schema(value: object, accepted: bool) -> None:
    """1.0 is an integer; a boolean, a string and NaN are not."""
    usage = {"prompt_tokens": value, "total_tokens": 7}
    assert registry().is_valid("llm.types.token_usage", usage) is accepted
    assert (registry().problems("llm.types.token_usage", usage) == []) is accepted


class Colour(str, Enum):  # noqa: UP042  (its text is "Colour.RED", not "red")
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


COMPLETE = read_json_rows(Path(__file__).with_name("completion_problems.txt"))


@pytest.mark.parametrize(("kind", "change", "expected"), COMPLETE, ids=[row[0] for row in COMPLETE])
def test_a_problem_says_where_which_rule_and_what_is_wanted(
    kind: str, change: dict[str, Any], expected: list[list[str]]
) -> None:
    """The path leads to the offending key, the rule is the keyword, the message what it asks for."""
    found = registry().problems("llm.complete.success", {**SUCCESS, "result": COMPLETION | change})
    assert [[problem.path, problem.rule, problem.message] for problem in found] == expected
    assert {problem.schema for problem in found} == {"llm.complete.success"}


OTHERS: tuple[tuple[str, object, tuple[str, str, str]], ...] = (
    ("llm.types.message", [], ("", "type", "must be object, is array")),
    ("llm.types.message", {"role": CANARY, "content": ""},
     ("role", "enum", 'must be "system" or "user" or "assistant" or "tool"')),
    ("llm.envelope.error", {**ERROR, "ok": True}, ("ok", "const", "must be false")),
    ("llm.envelope.error", {**ERROR, "code": CANARY}, ("code", "pattern", "must match ^[A-Z_]+$")),
    ("operation_context", {"tenant": ""}, ("tenant", "minLength", "must have at least 1 characters, has 0")),
    ("operation_context", {"tenant": CANARY * 30},
     ("tenant", "maxLength", "must have at most 256 characters, has 450")),
    ("llm.sampling.params", {"top_p": 0}, ("top_p", "exclusiveMinimum", "must be more than 0")),
    ("llm.sampling.params", {"temperature": 3}, ("temperature", "maximum", "must be at most 2.0")),
    ("llm.stream.frames.ndjson.schema", {"event": "data", "data": {"text": ""}},
     ("data.is_final", "required", "is missing")),
    ("llm.stream.frames.ndjson.schema", {"event": CANARY, "data": {}},
     ("", "oneOf", "fits none of the 3 allowed shapes")),
    ("vector.query.success",
     {**SUCCESS, "result": {"matches": [{"vector": {"id": "v"}, "score": 1}], "namespace": "", "total_matches": 1}},
     ("result.matches.0.distance", "required", "is missing")),
    ("vector.types.filter", {"a-b": CANARY}, ("a-b", "additionalProperties", "is a key that is not allowed here")),
    ("vector.batch_query.success", {**SUCCESS, "result": 7}, ("result", "type", "must be array or object, is integer")),
    ("embedding.embed_batch.success", {**SUCCESS, "result": {"model": CANARY, "total_texts": 0}},
     ("result.embeddings", "required", "is missing")),
    ("embedding.embed_batch.success", {**SUCCESS, "result": {"embeddings": [], "total_texts": 0}},
     ("result.model", "required", "is missing")),
    ("graph.types.entity", {"id": CANARY}, ("", "oneOf", "fits none of the 2 allowed shapes")),
)  # fmt: skip


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
    instance = with_every_text(instance, CANARY)
    problems = registry().problems(name, instance)
    assert (problems == []) == registry().is_valid(name, instance)
    assert all(CANARY not in str(problem) for problem in problems)


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
