"""Exceptions for invalid request envelopes. Users import them from `pytest_corpus.wire`."""

import json
from typing import Any, ClassVar

from pytest_corpus.spec.errors import VALIDATION_ERROR_CODES
from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.text.problems import Problem
from pytest_corpus.text.values import value_at
from pytest_corpus.validation.schema import registry as schema_registry
from pytest_corpus.validation.schema.exceptions import SchemaAssertionError

UNKNOWN_CASE = "unknown"
"""The case id if the caller passes none (SCHEMA 6.3)."""


class WireValidationError(Exception):
    """A request envelope violates the protocol.

    The message is ``<case id>: <fault>``. It contains keys, types, rules and lengths, never content.

    Attributes:
        code: one of `PROTOCOL_ERROR_CODES` (SCHEMA 11.2).
        case_id: the case that was validated.
        path: keys and array indexes joined by dots; ``""`` is the whole envelope.
    """

    code: ClassVar[str] = "ENVELOPE_SHAPE"

    def __init__(self, message: str, case_id: str = UNKNOWN_CASE, path: str = "") -> None:
        super().__init__(message, case_id, path)
        self.message, self.case_id, self.path = message, case_id, path

    def __str__(self) -> str:
        return self.message

    @property
    def fault(self) -> str:
        """The message without the case id."""
        return self.message.removeprefix(f"{self.case_id}: ")


class EnvelopeTypeError(WireValidationError):
    """An envelope is not a dict (SCHEMA 6.3)."""

    code = "ENVELOPE_TYPE"


class EnvelopeShapeError(WireValidationError):
    """An envelope lacks a required key or names another operation (SCHEMA 6.3)."""


class CtxValidationError(WireValidationError):
    """The operation context violates SCHEMA 3.2."""

    code = "CTX_VALIDATION"


class ArgsValidationError(WireValidationError):
    """The arguments are not valid for the operation.

    A custom validator can raise it with only the text, as in SCHEMA 6.3.
    """

    code = "ARGS_VALIDATION"


class SerializationError(WireValidationError):
    """A value cannot be written as JSON (SCHEMA 6.3; SPECIFICATION 4.1, 4.2.1)."""

    code = "SERIALIZATION"


class RoundTripError(SerializationError):
    """A value can be written as JSON, but parsing that JSON returns another value (SCHEMA 6.3: "preserves data")."""


class VersionMismatchError(WireValidationError):
    """No accepted schema version has the schema (SCHEMA 10.1, 11.2)."""

    code = "VERSION_MISMATCH"


class WireSchemaError(WireValidationError, SchemaAssertionError):
    """An envelope violates its schema in every accepted version.

    It is also a `SchemaAssertionError`, with `schema`, `edition`, `problems` and `golden`. The path of the first
    problem determines `code`.
    """

    def __init__(self, cause: SchemaAssertionError, case_id: str = UNKNOWN_CASE) -> None:
        SchemaAssertionError.__init__(self, cause.schema, cause.edition, cause.problems, case_id, cause.golden)
        self.args = (cause, case_id)
        self.case_id = case_id
        self.message = SchemaAssertionError.__str__(self)

    @property
    def code(self) -> str:  # type: ignore[override]
        """`CTX_VALIDATION` or `ARGS_VALIDATION` for a problem in these parts, otherwise a code for the envelope."""
        problem = self.problems[0]
        top = problem.path.partition(".")[0]
        if not top and problem.rule == "type":
            return EnvelopeTypeError.code
        return {"ctx": CtxValidationError.code, "args": ArgsValidationError.code}.get(top, EnvelopeShapeError.code)


def validation_error(problem: Problem) -> tuple[str, str]:
    """Return the violated schema keyword, and the text that `VALIDATION_ERROR_CODES` has for it.

    If there is no such text, or the rule cannot be found in the schema, the text is the problem's message. It contains
    no value of the instance.
    """
    template = VALIDATION_ERROR_CODES.get(problem.rule)
    filling = None if template is None else _fill_in(problem)
    if template is None or filling is None:
        return problem.rule, problem.message
    _, _, rest = template.partition("{")
    return problem.rule, template.format(**{rest.partition("}")[0]: filling})


def _fill_in(problem: Problem) -> str | None:
    if problem.rule in ("required", "additionalProperties"):
        return problem.path.rpartition(".")[2]
    wanted = _rule_value(problem)
    if problem.rule == "type":
        names = [wanted] if isinstance(wanted, str) else wanted
        return " or ".join(names) if isinstance(names, list) and all(isinstance(n, str) for n in names) else None
    if problem.rule == "enum":
        return ", ".join(map(json.dumps, wanted)) if isinstance(wanted, list) else None
    return None if wanted is None or isinstance(wanted, list | dict) else str(wanted)


def _rule_value(problem: Problem) -> Any:
    """Return the schema's value of the violated keyword; None if it cannot be found."""
    file, _, pointer = problem.location.partition("#/")
    if not file or pointer.rpartition("/")[2] != problem.rule:
        return None
    return value_at(schema_registry.get_schema(BASE_URI + file), f"/{pointer}")
