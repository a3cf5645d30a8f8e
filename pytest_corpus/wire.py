"""Validate request envelopes: shape, context, JSON, schema, arguments (SCHEMA 6.3, 8.2, 11.2).

    validate_wire_envelope(envelope, "llm.complete", "llm.envelope.request", "llm", ArgsValidator("llm.complete"))

    for case in cases("llm"):
        validate_case(case, get_adapter_builder(client, case)())

Whatever an envelope is, nothing but a `WireValidationError` is raised, and its text holds no content.
"""

from pytest_corpus.spec.validation_codes import PROTOCOL_ERROR_CODES, VALIDATION_ERROR_CODES
from pytest_corpus.validation.requests.arguments import (
    ArgsValidator,
    replaced_keys,
    request_editions,
    validate_llm_complete_args,
    validate_request_schema,
    validate_rules,
    validate_vector_query_args,
)
from pytest_corpus.validation.requests.cases import (
    CASES,
    WireRequestCase,
    case_of,
    cases,
    get_adapter_builder,
    owners,
    validate_case,
)
from pytest_corpus.validation.requests.codes import validation_error
from pytest_corpus.validation.requests.edges import EDGE_CASES, EdgeCase
from pytest_corpus.validation.requests.exceptions import (
    ArgsValidationError,
    CtxValidationError,
    EnvelopeShapeError,
    EnvelopeTypeError,
    RoundTripError,
    SerializationError,
    VersionMismatchError,
    WireSchemaError,
    WireValidationError,
)
from pytest_corpus.validation.requests.metrics import ValidationMetrics
from pytest_corpus.validation.requests.pipeline import (
    REQUIRED_KEYS,
    Validator,
    validate_args_for_operation,
    validate_ctx_field,
    validate_envelope_common,
    validate_envelope_shape,
    validate_op_field,
    validate_schema,
    validate_wire_envelope,
)
from pytest_corpus.validation.requests.roundtrip import json_roundtrip, top_level

__all__ = [
    "CASES",
    "EDGE_CASES",
    "PROTOCOL_ERROR_CODES",
    "REQUIRED_KEYS",
    "VALIDATION_ERROR_CODES",
    "ArgsValidationError",
    "ArgsValidator",
    "CtxValidationError",
    "EdgeCase",
    "EnvelopeShapeError",
    "EnvelopeTypeError",
    "RoundTripError",
    "SerializationError",
    "ValidationMetrics",
    "Validator",
    "VersionMismatchError",
    "WireRequestCase",
    "WireSchemaError",
    "WireValidationError",
    "case_of",
    "cases",
    "get_adapter_builder",
    "json_roundtrip",
    "owners",
    "replaced_keys",
    "request_editions",
    "top_level",
    "validate_args_for_operation",
    "validate_case",
    "validate_ctx_field",
    "validate_envelope_common",
    "validate_envelope_shape",
    "validate_llm_complete_args",
    "validate_op_field",
    "validate_request_schema",
    "validate_rules",
    "validate_schema",
    "validate_vector_query_args",
    "validate_wire_envelope",
    "validation_error",
]
