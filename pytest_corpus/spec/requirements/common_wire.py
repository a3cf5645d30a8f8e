"""What every component shares on the wire: envelopes, errors, numbers, context, frames."""

from __future__ import annotations

from pytest_corpus.spec.requirements.model import Requirement

STREAMING = ("llm", "embedding", "graph")
"""The components that have a streaming operation."""

_WIRE = (
    Requirement(
        "COM-WIRE-1",
        "MUST",
        "`handle` and `handle_stream` answer every request with an envelope; no exception escapes.",
        ("SPECIFICATION 4.2.1", "ERRORS 8", "R8"),
        hint="turn every exception into an error envelope at the outermost layer",
    ),
    Requirement(
        "COM-WIRE-2",
        "MUST",
        "Every call comes to an end.",
        ("SPECIFICATION 1.3", "SPECIFICATION 4.2.1"),
        hint="the call limit is set with --corpus-call-timeout; look for a lock or an await without a timeout",
    ),
    Requirement(
        "COM-WIRE-3",
        "MUST",
        "An answer is a JSON object that is a success envelope, an error envelope or a frame.",
        ("SPECIFICATION 4.2", "SPECIFICATION 4.2.1"),
        hint="return plain dicts, lists, strings, numbers, booleans and null",
    ),
    Requirement(
        "COM-WIRE-4",
        "MUST",
        "A request that is no JSON object is answered with an error envelope by `handle`.",
        ("SCHEMA 3.1", "R8"),
        hint="check the type of the envelope before reading from it",
    ),
    Requirement(
        "COM-WIRE-5",
        "MUST",
        "A request that is no JSON object is answered with an error envelope by `handle_stream`.",
        ("SCHEMA 3.1", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="check the type of the envelope before reading from it",
    ),
    Requirement(
        "COM-WIRE-6",
        "MUST",
        "A request without `op`, `ctx` or `args` is refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="the three keys are required, even where they would be empty",
    ),
    Requirement(
        "COM-WIRE-7",
        "MUST",
        "A request whose `op`, `ctx` or `args` has the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="op is a string, ctx and args are objects",
    ),
    Requirement(
        "COM-WIRE-8",
        "MUST",
        "An unknown operation is refused with NOT_SUPPORTED.",
        ("BEHAVIORAL_CONFORMANCE 7", "R12"),
        hint="an operation that you do not know is not a bad request",
    ),
    Requirement(
        "COM-WIRE-9",
        "MUST",
        "A malformed `op` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SCHEMA 3.1", "SPECIFICATION 4.2.6"),
        hint="compare `op` with the reserved names exactly",
    ),
    Requirement(
        "COM-WIRE-10",
        "MUST",
        "A streaming operation sent to `handle` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 4.2.3", "R8"),
        components=STREAMING,
        hint="stream only from handle_stream",
    ),
    Requirement(
        "COM-WIRE-11",
        "MUST",
        "A unary or unknown operation sent to `handle_stream` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 4.2.3", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="route unary operations only through handle",
    ),
    Requirement(
        "COM-WIRE-12",
        "MUST",
        "An unknown key beside `op`, `ctx` and `args` is ignored or refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="neither crash on it nor report a retryable error",
    ),
    Requirement(
        "COM-WIRE-13",
        "MUST",
        "An unknown key in `args`, or in an object inside it, is ignored or refused with BAD_REQUEST.",
        ("SPECIFICATION 4.2.5", "SCHEMA 3.1", "R8"),
        hint="do not pass args on as keyword arguments unseen",
    ),
)

_ENVELOPES = (
    Requirement(
        "COM-ENV-1",
        "MUST",
        "A unary success has no keys beyond `ok`, `code`, `ms` and `result`.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1", "R5"),
        hint="put extra information inside `result`",
    ),
    Requirement(
        "COM-ENV-2",
        "MUST",
        "The `code` of a unary success is OK (PARTIAL_SUCCESS and ACCEPTED stay valid).",
        ("SPECIFICATION 12.4", "SCHEMA 3.1", "R9"),
        hint="use OK",
    ),
    Requirement(
        "COM-ENV-3",
        "MUST",
        "A unary success carries `ms`, a non-negative number.",
        ("SCHEMA 3.1", "R6"),
        hint="milliseconds since the call began, as a number",
    ),
    Requirement("COM-ENV-4", "SHOULD", "The `code` of a unary success is exactly OK.", ("SPECIFICATION 12.5", "R9")),
    Requirement("COM-ENV-5", "MUST", "`ok` is true in a unary success.", ("SPECIFICATION 4.2.1", "SCHEMA 3.1")),
)

_ERRORS = (
    Requirement(
        "COM-ERR-1",
        "MUST",
        "An error envelope has no keys beyond ok, code, error, message, retry_after_ms, details, ms.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1", "R5"),
        hint="http_status, throttle_scope and other hints belong inside `details`",
    ),
    Requirement(
        "COM-ERR-2",
        "MUST",
        "An error envelope carries `ok` false and the strings `code`, `error` and `message`.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1"),
    ),
    Requirement(
        "COM-ERR-3",
        "MUST",
        "The `code` of an error is written in UPPER_SNAKE_CASE.",
        ("SPECIFICATION 4", "SCHEMA 3.1"),
    ),
    Requirement(
        "COM-ERR-4",
        "MUST",
        "`error` is a canonical class or an allowed subtype, and `code` names the same class.",
        ("SPECIFICATION 4.2.1", "ERRORS 1", "ERRORS 2.1", "R7"),
        hint="an adapter-specific code belongs in details.adapter_code; an unexpected fault is Unavailable",
    ),
    Requirement(
        "COM-ERR-5",
        "MUST",
        "The `message` of an error is not empty.",
        ("ERRORS 2.1", "SPECIFICATION 11.1", "R6"),
    ),
    Requirement(
        "COM-ERR-6",
        "MUST",
        "`retry_after_ms` is absent, null or a non-negative number.",
        ("ERRORS 2.1", "R6"),
    ),
    Requirement("COM-ERR-7", "MUST", "`details` is absent, null or an object.", ("ERRORS 2.1", "SCHEMA 3.1", "R6")),
    Requirement(
        "COM-ERR-8",
        "MUST",
        "Where `details.retryable` is given, it agrees with the retry table.",
        ("ERRORS 4", "R11"),
    ),
    Requirement("COM-ERR-9", "MUST", "An error carries `ms`, a non-negative number.", ("SCHEMA 3.1", "R6")),
    Requirement(
        "COM-ERR-10",
        "SHOULD",
        "`code` is the identity of `error` itself, not of its parent class.",
        ("ERRORS 2.1", "R7"),
    ),
    Requirement(
        "COM-ERR-11",
        "SHOULD",
        "A refused request names the fields at fault in `details.validation_errors`.",
        ("BEHAVIORAL_CONFORMANCE 6.3",),
    ),
    Requirement(
        "COM-ERR-12",
        "MUST",
        "The same bad request is answered with the same class every time.",
        ("BEHAVIORAL_CONFORMANCE 6.3",),
        hint="error mapping must not depend on earlier calls",
    ),
)

_NUMBERS = (
    Requirement(
        "COM-NUM-1",
        "MUST",
        "NaN and infinities in a request are refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1", "SPECIFICATION 17.2", "R34"),
        hint="check math.isfinite of every number that comes in",
    ),
    Requirement("COM-NUM-2", "MUST", "No answer holds NaN or an infinity.", ("SPECIFICATION 4.1", "R34")),
    Requirement(
        "COM-NUM-3",
        "SHOULD",
        "An integer beyond signed 64 bits is refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1",),
        hint="integer fields are signed 64-bit",
    ),
    Requirement(
        "COM-NUM-4",
        "MUST",
        "An absurdly large integer is refused with BAD_REQUEST or taken for what it is, and breaks nothing.",
        ("SPECIFICATION 4.1", "R8"),
        hint="dividing a Python integer beyond the floats raises OverflowError: check the range first",
    ),
)

_CONTEXT = (
    Requirement(
        "COM-CTX-1",
        "MUST",
        "Unknown keys in `ctx` are ignored.",
        ("SPECIFICATION 4", "SPECIFICATION 4.2.5", "R8"),
        hint="read the keys that you know and leave the others",
    ),
    Requirement(
        "COM-CTX-2",
        "MUST",
        "A `ctx` field of the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 3.2", "R8"),
        hint="check types before use; it is neither ignored nor UNAVAILABLE",
    ),
    Requirement(
        "COM-CTX-3",
        "MUST",
        "Every documented `ctx` field is accepted, and none is required.",
        ("SCHEMA 3.2",),
    ),
    Requirement("COM-CTX-4", "MUST", "`attrs` may hold any JSON.", ("SCHEMA 3.2", "SPECIFICATION 4.2.5")),
)

_STREAMS = (
    Requirement(
        "COM-STREAM-1",
        "MUST",
        "A success frame has exactly the keys `ok`, `code`, `ms` and `chunk`.",
        ("SPECIFICATION 4.2.3.1", "R1", "R5"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="the {event, data} form belongs to gateways",
    ),
    Requirement(
        "COM-STREAM-2",
        "MUST",
        "`ok` is true in a success frame.",
        ("SPECIFICATION 4.2.3.1",),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-3",
        "MUST",
        "The `code` of a success frame is STREAMING.",
        ("SPECIFICATION 4.2.3.1", "R2"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-4",
        "MUST",
        "A success frame carries `ms`, a non-negative number.",
        ("SPECIFICATION 4.2.3.1", "R6"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-5",
        "MUST",
        "A frame is at most 1 MiB long.",
        ("SPECIFICATION 4.2.3.4", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-6",
        "MUST",
        "A stream ends with a terminal frame: a final chunk or an error envelope.",
        ("SPECIFICATION 4.2.3.2", "BEHAVIORAL_CONFORMANCE 6.2", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-7",
        "MUST",
        "Nothing follows the terminal frame.",
        ("SPECIFICATION 4.2.3.2", "BEHAVIORAL_CONFORMANCE 6.2", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-8",
        "MUST",
        "A refused stream is a single error envelope without data.",
        ("SPECIFICATION 4.2.3.2", "ERRORS 6.1", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-STREAM-9",
        "MUST",
        "A provider's failure in mid-stream ends the stream with one error envelope.",
        ("BEHAVIORAL_CONFORMANCE 6.2", "SPECIFICATION 4.2.3.2"),
        needs=("provider", "supports_streaming"),
        components=STREAMING,
    ),
)

REQUIREMENTS = (*_WIRE, *_ENVELOPES, *_ERRORS, *_NUMBERS, *_CONTEXT, *_STREAMS)
