"""Exceptions of the validation of request envelopes; `pytest_corpus.wire` is what users import."""

from typing import ClassVar

from pytest_corpus.text.problems import Problem
from pytest_corpus.validation.schema.exceptions import SchemaAssertionError

UNKNOWN_CASE = "unknown"
"""The case id of a caller that gives none (SCHEMA 6.3)."""


class WireValidationError(Exception):
    """A request envelope is not as the protocol has it.

    The text is ``<case id>: <what is wrong>``. It holds keys, types, rules and lengths, never content.

    Attributes:
        code: one of `PROTOCOL_ERROR_CODES` (SCHEMA 11.2).
        case_id: the case that was validated.
        path: where in the envelope, keys and array indexes joined by dots; ``""`` is the whole.
    """

    code: ClassVar[str] = "ENVELOPE_SHAPE"

    def __init__(self, message: str, case_id: str = UNKNOWN_CASE, path: str = "") -> None:
        super().__init__(message, case_id, path)
        self.message, self.case_id, self.path = message, case_id, path

    def __str__(self) -> str:
        return self.message

    @property
    def fault(self) -> str:
        """The text without the case id."""
        return self.message.removeprefix(f"{self.case_id}: ")


class EnvelopeTypeError(WireValidationError):
    """An envelope is not a dict (SCHEMA 6.3)."""

    code = "ENVELOPE_TYPE"


class EnvelopeShapeError(WireValidationError):
    """An envelope lacks a required key, or names another operation (SCHEMA 6.3)."""


class CtxValidationError(WireValidationError):
    """The operation context is not as SCHEMA 3.2 has it."""

    code = "CTX_VALIDATION"


class ArgsValidationError(WireValidationError):
    """The arguments are not what the operation takes.

    A custom validator can raise it with the text alone, as SCHEMA 6.3 does.
    """

    code = "ARGS_VALIDATION"


class SerializationError(WireValidationError):
    """A value cannot be written as JSON (SCHEMA 6.3; SPECIFICATION 4.1, 4.2.1)."""

    code = "SERIALIZATION"


class RoundTripError(SerializationError):
    """A value can be written as JSON, but what is read back is another (SCHEMA 6.3: "preserves data")."""


class VersionMismatchError(WireValidationError):
    """No accepted schema version is one that there is, or has the schema (SCHEMA 10.1, 11.2)."""

    code = "VERSION_MISMATCH"


class WireSchemaError(WireValidationError, SchemaAssertionError):
    """An envelope does not meet its schema under any accepted version.

    It is also the `SchemaAssertionError` that `assert_valid` raises, with its `schema`, `edition`, `problems`
    and `golden`. `code` follows from where the first problem lies.
    """

    def __init__(self, cause: SchemaAssertionError, case_id: str = UNKNOWN_CASE) -> None:
        SchemaAssertionError.__init__(self, cause.schema, cause.edition, cause.problems, case_id, cause.golden)
        self.args = (cause, case_id)
        self.case_id = case_id
        self.message = SchemaAssertionError.__str__(self)

    @property
    def code(self) -> str:  # type: ignore[override]
        """`CTX_VALIDATION` or `ARGS_VALIDATION` where that is where it lies, else one of the envelope's."""
        return code_of(self.problems[0])


def code_of(problem: Problem) -> str:
    """The one of `PROTOCOL_ERROR_CODES` that says where in a request envelope a schema problem lies."""
    top = problem.path.partition(".")[0]
    if not top and problem.rule == "type":
        return EnvelopeTypeError.code
    return {"ctx": CtxValidationError.code, "args": ArgsValidationError.code}.get(top, EnvelopeShapeError.code)
