"""The validation of a request envelope (SCHEMA 6.3), stage by stage."""

from collections.abc import Callable, Iterable
from typing import Any

from pytest_corpus.redaction import describe_value
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import LATEST, SCHEMA_VERSIONS
from pytest_corpus.validation.requests.exceptions import (
    UNKNOWN_CASE,
    ArgsValidationError,
    CtxValidationError,
    EnvelopeShapeError,
    SerializationError,
    VersionMismatchError,
    WireSchemaError,
)
from pytest_corpus.validation.requests.roundtrip import json_roundtrip, string_keyed_members
from pytest_corpus.validation.schema import registry as schema_registry
from pytest_corpus.validation.schema.exceptions import SchemaAssertionError

REQUIRED_KEYS = ("op", "ctx", "args")
"""The keys of a request envelope (SCHEMA 3.1)."""

CONTEXT_SCHEMA = "common.operation_context"

Validator = Callable[[dict[str, Any], str], object]
"""A validator of arguments: it gets the arguments and the id of the case, and raises if they are invalid."""


def validate_wire_envelope(  # noqa: PLR0917  # the arguments of SCHEMA 6.3, in its order
    envelope: Any,
    expected_op: str,
    schema_id: str,
    component: str,
    args_validator: Validator | None = None,
    case_id: str = UNKNOWN_CASE,
    schema_versions: Iterable[str] | None = None,
) -> None:
    """Validate a request envelope: its shape, the round trip through JSON, its schema, its arguments.

    Args:
        envelope: the result of a request builder.
        expected_op: the operation that the envelope must name, e.g. ``llm.complete``.
        schema_id: the schema of the envelope; any name that the registry knows.
        component: the component that `expected_op` belongs to.
        args_validator: the validator of the arguments, which runs last.
        case_id: the first words of an error's message.
        schema_versions: the versions of which at least one must accept the envelope; by default all versions.

    Raises:
        WireValidationError: a subclass, according to the first stage that failed.
        ValueError: `expected_op` belongs to another component.
        UnknownSchemaError: the schema does not exist.
    """
    known = BY_OP.get(expected_op)
    if known is not None and component in COMPONENTS and known.component != component:
        raise ValueError(f"{expected_op} is an operation of {known.component}, not of {component}")
    validate_envelope_common(envelope, expected_op, case_id)
    wire_envelope = json_roundtrip(envelope, case_id)
    validate_schema(wire_envelope, schema_id, case_id, schema_versions)
    if args_validator is not None:
        validate_args_for_operation(wire_envelope.get("args"), args_validator, case_id)


def validate_envelope_common(envelope: Any, expected_op: str, case_id: str = UNKNOWN_CASE) -> None:
    """Raise WireValidationError unless an envelope has the required keys, this operation and a valid context."""
    validate_envelope_shape(envelope, case_id)
    validate_op_field(envelope, expected_op, case_id)
    validate_ctx_field(envelope, case_id)


def validate_envelope_shape(envelope: Any, case_id: str = UNKNOWN_CASE) -> None:
    """Raise an error unless an envelope is a dict with `op`, `ctx` and `args` (SCHEMA 6.3).

    Raises:
        EnvelopeTypeError: it is not a dict.
        EnvelopeShapeError: a key is missing.
    """
    fields = string_keyed_members(envelope, case_id)
    missing = [key for key in REQUIRED_KEYS if key not in fields]
    if missing:
        raise EnvelopeShapeError(f"{case_id}: missing required keys {', '.join(missing)}", case_id, missing[0])


def validate_op_field(envelope: Any, expected_op: str, case_id: str = UNKNOWN_CASE) -> None:
    """Raise EnvelopeShapeError unless `op` is exactly this operation (SCHEMA 6.3)."""
    op = string_keyed_members(envelope, case_id).get("op")
    if issubclass(type(op), str):
        op = str.__str__(op)
    if type(op) is not str or op != expected_op:
        got = describe_value(op, ("op",), "const") if type(op) in (str, type(None)) else f"a {type(op).__name__}"
        raise EnvelopeShapeError(f"{case_id}: operation mismatch: expected {expected_op}, got {got}", case_id, "op")


def validate_ctx_field(envelope: Any, case_id: str = UNKNOWN_CASE) -> None:
    """Raise an error unless `ctx` is an object with valid members (SCHEMA 3.2).

    As in edition 1.1.0, members may be null and undocumented keys are ignored (SPECIFICATION 4; R8). The schema of
    edition 1.0.0 refuses nulls and undocumented keys. `deadline_ms` is absolute epoch milliseconds, at least 1. Nested
    values that are not JSON are left to the round trip.

    Raises:
        EnvelopeTypeError: the envelope is not a dict.
        CtxValidationError: `ctx` is missing or not valid.
    """
    fields = string_keyed_members(envelope, case_id)
    if "ctx" not in fields or not issubclass(type(fields["ctx"]), dict):
        got = type(fields["ctx"]).__name__ if "ctx" in fields else "absent"
        raise CtxValidationError(f"{case_id}: ctx must be a JSON object, is {got}", case_id, "ctx")
    ctx = string_keyed_members(fields["ctx"], case_id)
    documented = schema_registry.get_schema(CONTEXT_SCHEMA, LATEST)["properties"]
    for name in documented.keys() & ctx.keys():
        _validate_ctx_member(name, ctx[name], case_id)


def _validate_ctx_member(name: str, value: Any, case_id: str) -> None:
    path = f"ctx.{name}"
    if issubclass(type(value), dict):
        value = {}  # the members of objects are not documented, so only the type is checked
    try:
        sound = json_roundtrip({name: value}, case_id)
    except SerializationError as error:
        said = error.fault.removeprefix("JSON serialization failed: ").removeprefix(f"{name} ")
        raise CtxValidationError(f"{case_id}: {path} {said}", case_id, path) from None
    if problems := schema_registry.registry().problems(CONTEXT_SCHEMA, sound, LATEST):
        said = f"{problems[0].message}{f', found {problems[0].found}' if problems[0].found else ''}"
        raise CtxValidationError(f"{case_id}: {path} {said}", case_id, path)


def validate_schema(
    wire_envelope: dict[str, Any],
    schema_id: str,
    case_id: str = UNKNOWN_CASE,
    schema_versions: Iterable[str] | None = None,
) -> str:
    """Return the first accepted schema version under which an envelope is valid (SCHEMA 10.1).

    Raises:
        WireSchemaError: the envelope is valid under no accepted version.
        VersionMismatchError: no accepted version has the schema.
        UnknownSchemaError: the schema does not exist.
    """
    wanted = SCHEMA_VERSIONS if schema_versions is None else tuple(schema_versions)
    _, pinned = schema_registry.registry().table.find_schema(schema_id)
    _, known = schema_registry.registry().table.editions_of(schema_id)
    if not any(version in known for version in wanted):
        accepted = " or ".join(map(str, wanted)) or "none"
        said = f"{case_id}: schema version not supported: {schema_id} in version {accepted}"
        raise VersionMismatchError(f"{said}{f', where {pinned} is named' if pinned else ''}", case_id)
    try:
        return schema_registry.validate_with_version_tolerance(schema_id, wire_envelope, wanted, case_id)
    except SchemaAssertionError as error:
        raise WireSchemaError(error, case_id) from None


def validate_args_for_operation(args: Any, validator: Validator, case_id: str = UNKNOWN_CASE) -> None:
    """Validate arguments with a validator (SCHEMA 6.3).

    Raises:
        ArgsValidationError: the arguments are not an object, or the validator raises. An ArgsValidationError of the
            validator is raised unchanged. Any other exception becomes the ``__cause__``; the message only shows its
            type, because its text may contain secrets.
    """
    if not issubclass(type(args), dict):
        said = f"{case_id}: args validation failed: args must be a JSON object, is {type(args).__name__}"
        raise ArgsValidationError(said, case_id, "args")
    try:
        validator(args, case_id)
    except ArgsValidationError as error:
        if error.case_id == case_id:
            raise
        said = error.message.removeprefix(f"{case_id}: ")
        raise ArgsValidationError(f"{case_id}: {said}", case_id, error.path or "args") from error
    except Exception as error:
        said = f"{case_id}: args validation failed: the validator raises {type(error).__name__}"
        raise ArgsValidationError(said, case_id, "args") from error
