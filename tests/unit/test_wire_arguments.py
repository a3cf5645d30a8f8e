"""Arguments: what the documents allow and forbid, and the codes and texts of schema problems."""

from pathlib import Path
from typing import Any

import pytest
from tables import documents

from pytest_corpus import wire
from pytest_corpus.schema_registry import registry
from pytest_corpus.spec.operations import BY_OP


@pytest.mark.parametrize(("op", "args"), documents(Path(__file__).with_name("arguments_allowed.txt")))
def test_what_the_documents_allow_passes(op: str, args: dict[str, Any]) -> None:
    """`prompt` and `text` may stand in for `messages` and `vector` (SCHEMA 6.3); null counts as absent."""
    wire.ArgsValidator(op)(args, "c")


@pytest.mark.parametrize(("op", "args", "path"), [
    *documents(Path(__file__).with_name("arguments_forbidden.txt")),
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
