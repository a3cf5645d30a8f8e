"""The normalized error taxonomy (ERRORS 1, 3, 4; SPECIFICATION 6.3, 12), and the faults that cause each error."""

import re
from dataclasses import dataclass
from typing import Literal

from pytest_corpus.spec.components import COMPONENTS

Retry = Literal["yes", "no", "conditional"]


def code_of(name: str) -> str:
    """Return the wire code of a class name: ``TextTooLong`` becomes ``TEXT_TOO_LONG`` (R7)."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """A canonical error class, or an allowed subtype of one.

    Attributes:
        parent: the canonical class of a subtype; None for a canonical class.
        http, grpc: the transport codes of ERRORS 3.
        retry: the advice of ERRORS 4.
        components: the components that may use the class (ERRORS 1.1).
    """

    name: str
    parent: str | None
    http: tuple[int, ...]
    grpc: tuple[str, ...]
    retry: Retry
    components: tuple[str, ...] = COMPONENTS

    @property
    def code(self) -> str:
        return code_of(self.name)

    @property
    def family(self) -> str:
        """The name of the canonical class: this one, or the parent."""
        return self.parent or self.name


_CANONICAL = (
    ErrorClass("BadRequest", None, (400,), ("INVALID_ARGUMENT",), "no"),
    ErrorClass("AuthError", None, (401, 403), ("UNAUTHENTICATED", "PERMISSION_DENIED"), "no"),
    ErrorClass("ResourceExhausted", None, (429,), ("RESOURCE_EXHAUSTED",), "yes"),
    ErrorClass("TransientNetwork", None, (502, 504), ("UNAVAILABLE", "DEADLINE_EXCEEDED"), "yes"),
    ErrorClass("Unavailable", None, (503,), ("UNAVAILABLE",), "yes"),
    ErrorClass("NotSupported", None, (501, 400), ("UNIMPLEMENTED",), "no"),
    ErrorClass("DeadlineExceeded", None, (504,), ("DEADLINE_EXCEEDED",), "conditional"),
)

RESOURCE_SCOPES = ("model", "token_limit", "rate_limit", "memory", "compute", "time_budget", "index", "shard")
"""The values of `resource_scope` (ERRORS 7)."""

HINTS = {
    "suggested_batch_reduction": "a percentage above 0 and at most 100",
    "suggested_backoff_ms": "a number of milliseconds that is not negative",
    "retry_after_ms": "a number of milliseconds that is not negative",
    "throttle_scope": "a string",
    "resource_scope": " or ".join(RESOURCE_SCOPES),
    "retryable": "true or false",
}
"""The hints that `details` may contain, with a description of their values (ERRORS 7; R60)."""

_PARENTS = {error.name: error for error in _CANONICAL}


def _make_subtype(name: str, parent: str, *components: str, retry: Retry | None = None) -> ErrorClass:
    base = _PARENTS[parent]
    return ErrorClass(name, parent, base.http, base.grpc, retry or base.retry, components)


_SUBTYPES = (
    _make_subtype("ModelNotFound", "BadRequest", "llm", "embedding"),
    _make_subtype("ModelOverloaded", "Unavailable", "llm"),
    _make_subtype("PromptTooLong", "BadRequest", "llm"),
    _make_subtype("ContentFiltered", "BadRequest", "llm", "embedding"),
    _make_subtype("SafetyPolicyViolation", "BadRequest", "llm"),
    _make_subtype("UnsupportedModelFamily", "NotSupported", "llm", "embedding"),
    _make_subtype("InputFormatError", "BadRequest", "llm", "embedding", "graph"),
    _make_subtype("TaskRejected", "Unavailable", "llm"),
    _make_subtype("ThroughputLimitExceeded", "ResourceExhausted", "llm", "vector", "graph"),
    _make_subtype("LatencySLAExceeded", "Unavailable", "llm", retry="conditional"),
    _make_subtype("TextTooLong", "BadRequest", "embedding"),
    _make_subtype("EmbeddingDimensionMismatch", "BadRequest", "embedding"),
    _make_subtype("ProviderQuotaExceeded", "ResourceExhausted", "llm", "embedding", "vector", "graph"),
    _make_subtype("DimensionMismatch", "BadRequest", "vector"),
    _make_subtype("IndexNotReady", "Unavailable", "vector", "graph"),
    _make_subtype("NamespaceNotFound", "BadRequest", "vector", "graph"),
    _make_subtype("FilterSyntaxError", "BadRequest", "vector", "graph"),
    _make_subtype("QueryParseError", "BadRequest", "vector", "graph"),
    _make_subtype("IndexCorrupt", "Unavailable", "vector", "graph"),
    _make_subtype("ShardUnavailable", "Unavailable", "vector", "graph"),
    _make_subtype("SchemaValidationError", "BadRequest", "graph"),
    _make_subtype("VertexNotFound", "BadRequest", "graph"),
    _make_subtype("EdgeNotFound", "BadRequest", "graph"),
    # SPECIFICATION 6.3 and 10.4 name it, ERRORS does not; R13 makes it a subtype of NotSupported.
    _make_subtype("ModelNotAvailable", "NotSupported", "llm", "embedding"),
)

TAXONOMY = {error.name: error for error in (*_CANONICAL, *_SUBTYPES)}
"""Every class name that `error` may carry: 7 canonical classes and 24 subtypes."""

BY_CODE = {error.code: error for error in TAXONOMY.values()}

MODEL_ERRORS = ("ModelNotAvailable", "ModelNotFound", "UnsupportedModelFamily")
"""The classes which say that a model is unknown."""

PERMANENT = ("BadRequest", "NotSupported")
"""The canonical classes for refusing a request that can never succeed."""

FILTERED = ("ContentFiltered", "SafetyPolicyViolation")
"""The classes by which a content filter refuses a text (ERRORS 6.1, 6.2)."""

UNCERTAIN = ("Unavailable", "TransientNetwork", "DeadlineExceeded")
"""The classes after which a write may nevertheless have happened."""

UNKNOWN_MODEL = ("BadRequest", "NotSupported", "Unavailable")
"""The classes, with subtypes, that are allowed as the answer to an unknown model (R13, R132)."""


def is_a(name: str, family: str) -> bool:
    """True if `name` is `family` or one of its subtypes."""
    error = TAXONOMY.get(name)
    return error is not None and family in (error.name, error.parent)


VALIDATION_ERROR_CODES = {
    "type": "Value must be of type {expected_type}",
    "required": "Missing required field: {field}",
    "additionalProperties": "Additional properties not allowed: {property}",
    "pattern": "Value must match pattern: {pattern}",
    "enum": "Value must be one of: {choices}",
    "minimum": "Value must be at least {minimum}",
    "maximum": "Value must be at most {maximum}",
    "minLength": "Value must have at least {min_length} characters",
    "maxLength": "Value must have at most {max_length} characters",
    "format": "Value must be a valid {format}",
}
"""The message for the violation of a schema keyword, with a placeholder for the demanded value."""

PROTOCOL_ERROR_CODES = {
    "ENVELOPE_SHAPE": "Protocol envelope missing required fields",
    "ENVELOPE_TYPE": "Protocol envelope must be a JSON object",
    "CTX_VALIDATION": "Operation context validation failed",
    "ARGS_VALIDATION": "Operation arguments validation failed",
    "SERIALIZATION": "JSON serialization/deserialization failed",
    "STREAM_TERMINATION": "Stream missing or has multiple terminal frames",
    "STREAM_ENVELOPE": "Stream frame missing protocol envelope fields",
    "VERSION_MISMATCH": "Schema version not supported",
}
"""The codes for invalid messages, which `WireValidationError.code` and most values of `FrameError.code` use."""

_STREAM_ERRORS = {
    "SERIALIZATION": "FRAME_UTF8 FRAME_JSON DUPLICATE_KEY FRAME_DEPTH FRAME_SIZE UNFINISHED_EVENT",
    "ENVELOPE_TYPE": "FRAME_TYPE",
    "STREAM_ENVELOPE": "FRAMING FRAME_SHAPE FRAME_OK FRAME_CODE FRAME_MS ERROR_ENVELOPE",
    "STREAM_TERMINATION": "NO_TERMINAL AFTER_TERMINAL",
}

STREAM_ERROR_CODES = {defect: code for code, defects in _STREAM_ERRORS.items() for defect in defects.split()}
"""The code of each defect of a stream. The protocol defines no code for a defect in a chunk (`CHUNK_SCHEMA`)."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A behaviour that the suite plans for the provider, usually a failure.

    Attributes:
        http_status: None if the provider raises no error or an unclassified one.
        canonical: the class that the adapter must report; None if the provider does not fail.
        passes_retry_after: True if the adapter must pass the provider's `retry_after_ms` on (ERRORS 8; SPECIFICATION
            12.4).
    """

    kind: str
    http_status: int | None
    canonical: str | None
    passes_retry_after: bool = False


FAULTS = (
    FaultKind("rate_limited", 429, "ResourceExhausted", passes_retry_after=True),
    FaultKind("quota_exhausted", 429, "ResourceExhausted"),
    FaultKind("overloaded", 529, "Unavailable"),
    FaultKind("unavailable", 503, "Unavailable"),
    FaultKind("network", 502, "TransientNetwork"),
    FaultKind("gateway_timeout", 504, "TransientNetwork"),
    FaultKind("auth", 401, "AuthError"),
    FaultKind("forbidden", 403, "AuthError"),
    FaultKind("content_filtered", 400, "BadRequest"),
    FaultKind("invalid_request", 400, "BadRequest"),
    FaultKind("unexpected", None, "Unavailable"),
    FaultKind("hang", None, "DeadlineExceeded"),
    FaultKind("slow", None, None),
)

BY_KIND = {fault.kind: fault for fault in FAULTS}

OVER_TCP = ("unavailable", "network", "gateway_timeout", "hang", "slow")
"""The kinds of faults that are possible on any TCP connection, with any protocol."""

AWAY = ("TransientNetwork", "Unavailable")
"""The allowed classes for a broken connection: a network failure and a missing server look the same."""

FORMS: dict[str, tuple[str, ...]] = {
    "retry_after_seconds": ("rate_limited", "quota_exhausted", "overloaded", "unavailable"),
    "retry_after_date": ("rate_limited", "quota_exhausted", "overloaded", "unavailable"),
    "in_answer": ("content_filtered",),
    "reset": ("network",),
    "truncated": ("network", "gateway_timeout"),
    "unfinished": ("network",),
    "garbage": ("unexpected",),
}
"""Other forms in which a provider with an address can fail on the wire, each with the kinds of faults that have it.

``retry_after_seconds``, ``retry_after_date``: the hint is only in `Retry-After`, in whole seconds or as a date.
``in_answer``: a successful answer says that its rest was filtered. ``reset``: the connection is reset. ``truncated``:
the connection is closed in the middle of the answer. ``unfinished``: a stream that has begun ends without its last
event; other answers are ``truncated``. ``garbage``: the answer is not valid JSON.
"""

IN_STREAM = {"network": "reset", "gateway_timeout": "truncated"}
"""The form of a fault in the middle of a stream, for each kind of fault that has no event in the stream."""
