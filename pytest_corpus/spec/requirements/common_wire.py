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
        hint="turn every exception into an error envelope at the outermost layer, in streams and before `op` is read",
    ),
    Requirement(
        "COM-WIRE-2",
        "MUST",
        "Every call comes to an end.",
        ("SPECIFICATION 1.3", "SPECIFICATION 4.2.1"),
        hint="bound every wait, release locks in a `finally`, end the iterator; --corpus-call-timeout sets the limit",
    ),
    Requirement(
        "COM-WIRE-3",
        "MUST",
        "An answer is a JSON object that is a success envelope, an error envelope or a frame.",
        ("SPECIFICATION 4.2", "SPECIFICATION 4.2.1"),
        hint="wrap the result in an envelope, and convert dates, bytes and objects to plain JSON before you return it",
    ),
    Requirement(
        "COM-WIRE-4",
        "MUST",
        "A request that is no JSON object is answered with an error envelope by `handle`.",
        ("SCHEMA 3.1", "R8"),
        hint="check that the request is an object before you read `op` from it, and refuse it with BAD_REQUEST",
    ),
    Requirement(
        "COM-WIRE-5",
        "MUST",
        "A request that is no JSON object is answered with an error envelope by `handle_stream`.",
        ("SCHEMA 3.1", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="check the type of the request in handle_stream too, and yield a single error envelope",
    ),
    Requirement(
        "COM-WIRE-6",
        "MUST",
        "A request without `op`, `ctx` or `args` is refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="refuse a missing `op`, `ctx` or `args` before you look up the operation; do not fill in an empty one",
    ),
    Requirement(
        "COM-WIRE-7",
        "MUST",
        "A request whose `op`, `ctx` or `args` has the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="check that `op` is a string and `ctx` and `args` are objects before you use them; convert none of them",
    ),
    Requirement(
        "COM-WIRE-8",
        "MUST",
        "An unknown operation is refused with NOT_SUPPORTED.",
        ("BEHAVIORAL_CONFORMANCE 7", "R12"),
        hint="answer NOT_SUPPORTED, not BAD_REQUEST, where you find no handler for the operation",
    ),
    Requirement(
        "COM-WIRE-9",
        "MUST",
        "A malformed `op` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SCHEMA 3.1", "SPECIFICATION 4.2.6"),
        hint="compare `op` with the reserved names exactly: no lower-casing, no stripping",
    ),
    Requirement(
        "COM-WIRE-10",
        "MUST",
        "A streaming operation sent to `handle` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 4.2.3", "R8"),
        components=STREAMING,
        hint="look up streaming operations in handle_stream alone, and refuse them in `handle`",
    ),
    Requirement(
        "COM-WIRE-11",
        "MUST",
        "A unary or unknown operation sent to `handle_stream` is refused with BAD_REQUEST or NOT_SUPPORTED.",
        ("SPECIFICATION 4.2.3", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="look up only streaming operations in handle_stream, and refuse every other one with one error envelope",
    ),
    Requirement(
        "COM-WIRE-12",
        "MUST",
        "An unknown key beside `op`, `ctx` and `args` is ignored or refused with BAD_REQUEST.",
        ("SCHEMA 3.1", "R8"),
        hint="read `op`, `ctx` and `args` by name; do not spread the envelope into keyword arguments",
    ),
    Requirement(
        "COM-WIRE-13",
        "MUST",
        "An unknown key in `args` is ignored or refused with BAD_REQUEST.",
        ("SPECIFICATION 4.2.5", "SCHEMA 3.1", "R8"),
        hint="read the arguments that you know by name; do not spread `args` into keyword arguments",
    ),
)

_ENVELOPES = (
    Requirement(
        "COM-ENV-1",
        "MUST",
        "A unary success has no keys beyond `ok`, `code`, `ms` and `result`.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1", "R5"),
        hint="drop extra keys such as a request id, or put them into `result` where its schema leaves room",
    ),
    Requirement(
        "COM-ENV-2",
        "MUST",
        "The `code` of a unary success is OK (PARTIAL_SUCCESS and ACCEPTED stay valid).",
        ("SPECIFICATION 12.4", "SCHEMA 3.1", "R9"),
        hint="answer every unary success with OK; a status such as that of `health` belongs inside `result`",
    ),
    Requirement(
        "COM-ENV-3",
        "MUST",
        "A unary success carries `ms`, a non-negative number.",
        ("SCHEMA 3.1", "R6"),
        hint="subtract the start of the call from its end on a monotonic clock, and send the number itself, no text",
    ),
    Requirement(
        "COM-ENV-4",
        "SHOULD",
        "The `code` of a unary success is exactly OK.",
        ("SPECIFICATION 12.5", "R9"),
        hint="say OK instead of ACCEPTED or PARTIAL_SUCCESS; what failed is told inside `result`",
    ),
    Requirement(
        "COM-ENV-5",
        "MUST",
        "`ok` is true in a unary success.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1"),
        hint='write the boolean true, neither 1 nor "true"',
    ),
)

_ERRORS = (
    Requirement(
        "COM-ERR-1",
        "MUST",
        "An error envelope has no keys beyond ok, code, error, message, retry_after_ms, details, ms.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1", "R5"),
        hint="move http_status, throttle_scope and other additions into `details`",
    ),
    Requirement(
        "COM-ERR-2",
        "MUST",
        "An error envelope carries `ok` false and the strings `code`, `error` and `message`.",
        ("SPECIFICATION 4.2.1", "SCHEMA 3.1"),
        hint="build every error, that of a stream too, in one function that sets `ok`, `code`, `error` and `message`",
    ),
    Requirement(
        "COM-ERR-3",
        "MUST",
        "The `code` of an error is written in UPPER_SNAKE_CASE.",
        ("SPECIFICATION 4", "SCHEMA 3.1"),
        hint="derive `code` from the class name in upper-case words: BadRequest gives BAD_REQUEST",
    ),
    Requirement(
        "COM-ERR-4",
        "MUST",
        "`error` is a canonical class or an allowed subtype, and `code` names the same class.",
        ("SPECIFICATION 4.2.1", "ERRORS 1", "ERRORS 2.1", "R7"),
        hint="take `error` and `code` from one table of classes; a code of your own belongs in details.adapter_code",
    ),
    Requirement(
        "COM-ERR-5",
        "MUST",
        "The `message` of an error is not empty.",
        ("ERRORS 2.1", "SPECIFICATION 11.1", "R6"),
        hint="give each class a message of its own as the default; blanks do not count",
    ),
    Requirement(
        "COM-ERR-6",
        "MUST",
        "`retry_after_ms` is absent, null or a non-negative number.",
        ("ERRORS 2.1", "R6"),
        hint="leave `retry_after_ms` out, or make it null, where there is no reason to wait; never send -1",
    ),
    Requirement(
        "COM-ERR-7",
        "MUST",
        "`details` is absent, null or an object.",
        ("ERRORS 2.1", "SCHEMA 3.1", "R6"),
        hint="put lists and texts under a key of `details`, for example details.validation_errors",
    ),
    Requirement(
        "COM-ERR-8",
        "MUST",
        "Where `details.retryable` is given, it agrees with the retry table.",
        ("ERRORS 4", "R11"),
        hint="derive `details.retryable` from the class by the table of ERRORS 4, or leave it out",
    ),
    Requirement(
        "COM-ERR-9",
        "MUST",
        "An error carries `ms`, a non-negative number.",
        ("SCHEMA 3.1", "R6"),
        hint="start the clock first thing in each call, and send `ms` as a number, in the error of a stream too",
    ),
    Requirement(
        "COM-ERR-10",
        "SHOULD",
        "`code` is the identity of `error` itself, not of its parent class.",
        ("ERRORS 2.1", "R7"),
        hint="send the code of the subtype itself: TextTooLong goes with TEXT_TOO_LONG, not with BAD_REQUEST",
    ),
    Requirement(
        "COM-ERR-11",
        "SHOULD",
        "A refused request names the fields at fault in `details.validation_errors`.",
        ("BEHAVIORAL_CONFORMANCE 6.3",),
        hint="list the refused fields by name, without their values, in details.validation_errors",
    ),
    Requirement(
        "COM-ERR-12",
        "MUST",
        "The same bad request is answered with the same class every time.",
        ("BEHAVIORAL_CONFORMANCE 6.3",),
        hint="give each failed check one fixed class, and keep no state between calls in the error mapping",
    ),
)

_NUMBERS = (
    Requirement(
        "COM-NUM-1",
        "MUST",
        "NaN and infinities in a request are refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1", "SPECIFICATION 17.2", "R34"),
        hint="check math.isfinite of every number in `ctx` and `args`, at any depth, in every operation",
    ),
    Requirement(
        "COM-NUM-2",
        "MUST",
        "No answer holds NaN or an infinity.",
        ("SPECIFICATION 4.1", "R34"),
        hint="guard every division (averages, norms, health figures) against a divisor of zero",
    ),
    Requirement(
        "COM-NUM-3",
        "SHOULD",
        "An integer beyond signed 64 bits is refused with BAD_REQUEST.",
        ("SPECIFICATION 4.1",),
        hint="refuse integers outside `-2**63` to `2**63 - 1` where you check the types",
    ),
)

_CONTEXT = (
    Requirement(
        "COM-CTX-1",
        "MUST",
        "Unknown keys in `ctx` are ignored.",
        ("SPECIFICATION 4", "SPECIFICATION 4.2.5", "R8"),
        hint="read the `ctx` keys that you know by name and leave the others; do not spread `ctx` into arguments",
    ),
    Requirement(
        "COM-CTX-2",
        "MUST",
        "A `ctx` field of the wrong type is refused with BAD_REQUEST.",
        ("SCHEMA 3.2", "R8"),
        hint="check the type of each `ctx` field before use; neither convert it nor ignore it",
    ),
    Requirement(
        "COM-CTX-3",
        "MUST",
        "Every documented `ctx` field is accepted, and none is required.",
        ("SCHEMA 3.2",),
        hint="accept the `ctx` fields that you do not use, on streams too, and give every field a default",
    ),
    Requirement(
        "COM-CTX-4",
        "MUST",
        "`attrs` may hold any JSON.",
        ("SCHEMA 3.2", "SPECIFICATION 4.2.5"),
        hint="check only that `attrs` is an object; its values may be numbers, lists, objects and null as well",
    ),
)

_STREAMS = (
    Requirement(
        "COM-STREAM-1",
        "MUST",
        "A success frame has exactly the keys `ok`, `code`, `ms` and `chunk`.",
        ("SPECIFICATION 4.2.3.1", "R1", "R5"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="move usage into `chunk`, drop what else stands beside it, and leave {event, data} frames to a gateway",
    ),
    Requirement(
        "COM-STREAM-2",
        "MUST",
        "`ok` is true in a success frame.",
        ("SPECIFICATION 4.2.3.1",),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="build every frame, the last one too, in one function that sets `ok` to true, not to 1",
    ),
    Requirement(
        "COM-STREAM-3",
        "MUST",
        "The `code` of a success frame is STREAMING.",
        ("SPECIFICATION 4.2.3.1", "R2"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="say STREAMING in every success frame, the final one too; OK is the code of unary answers",
    ),
    Requirement(
        "COM-STREAM-4",
        "MUST",
        "A success frame carries `ms`, a non-negative number.",
        ("SPECIFICATION 4.2.3.1", "R6"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="set `ms` in each frame, the final one too, to the milliseconds since the stream began",
    ),
    Requirement(
        "COM-STREAM-5",
        "MUST",
        "A frame is at most 1 MiB long.",
        ("SPECIFICATION 4.2.3.4", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="measure each frame as UTF-8 JSON, and split what is larger over several chunks",
    ),
    Requirement(
        "COM-STREAM-6",
        "MUST",
        "A stream ends with a terminal frame: a final chunk or an error envelope.",
        ("SPECIFICATION 4.2.3.2", "BEHAVIORAL_CONFORMANCE 6.2", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="send a final chunk on every good way out, a cut by a limit too, and an error envelope on every bad one",
    ),
    Requirement(
        "COM-STREAM-7",
        "MUST",
        "Nothing follows the terminal frame.",
        ("SPECIFICATION 4.2.3.2", "BEHAVIORAL_CONFORMANCE 6.2", "R4"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="return from the generator right after the terminal frame; send usage or a summary in it or before it",
    ),
    Requirement(
        "COM-STREAM-8",
        "MUST",
        "A refused stream is a single error envelope without data.",
        ("SPECIFICATION 4.2.3.2", "ERRORS 6.1", "R8"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="check all arguments before the first frame, and yield the error envelope alone",
    ),
    Requirement(
        "COM-STREAM-9",
        "MUST",
        "A provider's failure in mid-stream ends the stream with one error envelope.",
        ("BEHAVIORAL_CONFORMANCE 6.2", "SPECIFICATION 4.2.3.2"),
        needs=("provider", "supports_streaming"),
        components=STREAMING,
        hint="catch the provider's exception around the loop over its chunks, yield its error envelope and return",
    ),
)

REQUIREMENTS = (*_WIRE, *_ENVELOPES, *_ERRORS, *_NUMBERS, *_CONTEXT, *_STREAMS)
