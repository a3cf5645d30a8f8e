"""Validate request envelopes: shape, context, JSON, schema, arguments (SCHEMA 6.3, 8.2, 11.2).

    validate_wire_envelope(envelope, "llm.complete", "llm.envelope.request", "llm", ArgsValidator("llm.complete"))

    for case in cases("llm"):
        validate_case(case, get_adapter_builder(client, case)())

Any invalid envelope raises `WireValidationError`, whose text contains no content of the envelope.
"""

from pytest_corpus.spec.errors import PROTOCOL_ERROR_CODES as PROTOCOL_ERROR_CODES
from pytest_corpus.spec.errors import VALIDATION_ERROR_CODES as VALIDATION_ERROR_CODES
from pytest_corpus.validation.requests.arguments import ArgsValidator as ArgsValidator
from pytest_corpus.validation.requests.arguments import replaced_keys as replaced_keys
from pytest_corpus.validation.requests.arguments import request_editions as request_editions
from pytest_corpus.validation.requests.arguments import validate_llm_complete_args as validate_llm_complete_args
from pytest_corpus.validation.requests.arguments import validate_request_schema as validate_request_schema
from pytest_corpus.validation.requests.arguments import validate_rules as validate_rules
from pytest_corpus.validation.requests.arguments import validate_vector_query_args as validate_vector_query_args
from pytest_corpus.validation.requests.cases import CASES as CASES
from pytest_corpus.validation.requests.cases import EDGE_CASES as EDGE_CASES
from pytest_corpus.validation.requests.cases import EdgeCase as EdgeCase
from pytest_corpus.validation.requests.cases import ValidationMetrics as ValidationMetrics
from pytest_corpus.validation.requests.cases import WireRequestCase as WireRequestCase
from pytest_corpus.validation.requests.cases import case_of as case_of
from pytest_corpus.validation.requests.cases import cases as cases
from pytest_corpus.validation.requests.cases import get_adapter_builder as get_adapter_builder
from pytest_corpus.validation.requests.cases import possible_components as possible_components
from pytest_corpus.validation.requests.cases import validate_case as validate_case
from pytest_corpus.validation.requests.exceptions import ArgsValidationError as ArgsValidationError
from pytest_corpus.validation.requests.exceptions import CtxValidationError as CtxValidationError
from pytest_corpus.validation.requests.exceptions import EnvelopeShapeError as EnvelopeShapeError
from pytest_corpus.validation.requests.exceptions import EnvelopeTypeError as EnvelopeTypeError
from pytest_corpus.validation.requests.exceptions import RoundTripError as RoundTripError
from pytest_corpus.validation.requests.exceptions import SerializationError as SerializationError
from pytest_corpus.validation.requests.exceptions import VersionMismatchError as VersionMismatchError
from pytest_corpus.validation.requests.exceptions import WireSchemaError as WireSchemaError
from pytest_corpus.validation.requests.exceptions import WireValidationError as WireValidationError
from pytest_corpus.validation.requests.exceptions import validation_error as validation_error
from pytest_corpus.validation.requests.pipeline import REQUIRED_KEYS as REQUIRED_KEYS
from pytest_corpus.validation.requests.pipeline import Validator as Validator
from pytest_corpus.validation.requests.pipeline import validate_args_for_operation as validate_args_for_operation
from pytest_corpus.validation.requests.pipeline import validate_ctx_field as validate_ctx_field
from pytest_corpus.validation.requests.pipeline import validate_envelope_common as validate_envelope_common
from pytest_corpus.validation.requests.pipeline import validate_envelope_shape as validate_envelope_shape
from pytest_corpus.validation.requests.pipeline import validate_op_field as validate_op_field
from pytest_corpus.validation.requests.pipeline import validate_schema as validate_schema
from pytest_corpus.validation.requests.pipeline import validate_wire_envelope as validate_wire_envelope
from pytest_corpus.validation.requests.roundtrip import json_roundtrip as json_roundtrip
from pytest_corpus.validation.requests.roundtrip import string_keyed_members as string_keyed_members
