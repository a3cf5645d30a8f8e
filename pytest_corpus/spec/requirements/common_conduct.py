"""What every component shares in conduct: capabilities, health, deadlines, telemetry, privacy, faults, state."""

from __future__ import annotations

from pytest_corpus.spec.requirements.common_wire import STREAMING
from pytest_corpus.spec.requirements.model import Requirement

_CAPABILITIES = (
    Requirement("COM-CAP-1", "MUST", "`capabilities` answers with an object.", ("SPECIFICATION 6.2",)),
    Requirement(
        "COM-CAP-2",
        "MUST",
        "Capabilities state `server`, `version` and `protocol` as non-empty strings.",
        ("SPECIFICATION 6.2", "R22"),
    ),
    Requirement(
        "COM-CAP-3",
        "MUST",
        "`protocol` is the component's protocol, e.g. llm/v1.0.",
        ("SPECIFICATION 4.2.2", "SPECIFICATION 6.2"),
    ),
    Requirement(
        "COM-CAP-4",
        "MUST",
        "Flags are booleans, limits are numbers and listings are lists, wherever they are stated.",
        ("SPECIFICATION 6.2", "SPECIFICATION 8.4", "R22"),
        hint="leave out what you do not know, or say null",
    ),
    Requirement(
        "COM-CAP-5",
        "SHOULD",
        "Keys under `extensions` are namespaced, e.g. vendor:name.",
        ("SPECIFICATION 6.2",),
    ),
    Requirement(
        "COM-CAP-6",
        "MUST",
        "An operation that capabilities claim works.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        hint="claim only what works, or mend the operation",
    ),
    Requirement(
        "COM-CAP-7",
        "MUST",
        "An operation that capabilities deny answers NOT_SUPPORTED (or simply works).",
        ("BEHAVIORAL_CONFORMANCE 5.3", "ERRORS 6", "R23"),
    ),
    Requirement("COM-CAP-8", "SHOULD", "An operation that works is not denied by capabilities.", ("R23",)),
    Requirement(
        "COM-CAP-9",
        "MUST",
        "`handle_stream` is there where streaming is claimed.",
        ("SPECIFICATION 4.2.3", "R22"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
)

_HEALTH = (
    Requirement(
        "COM-HEALTH-1",
        "MUST",
        "`health` answers with an object, or with an error envelope where the backend is down.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.6", "R35"),
    ),
    Requirement(
        "COM-HEALTH-2",
        "SHOULD",
        "A healthy report says `ok`, `status` (ok, degraded or down), `server` and `version`.",
        ("SPECIFICATION 7.6", "R35"),
    ),
    Requirement(
        "COM-HEALTH-3",
        "SHOULD",
        "A degraded or down report gives a `reason`.",
        ("SPECIFICATION 7.6", "SPECIFICATION 10.3", "R35"),
    ),
    Requirement(
        "COM-HEALTH-4",
        "MUST",
        "With its provider down, `health` still answers: with an object or a retryable error.",
        ("SPECIFICATION 7.6", "BEHAVIORAL_CONFORMANCE 5", "R35"),
        needs=("provider",),
    ),
    Requirement(
        "COM-HEALTH-5",
        "SHOULD",
        "With its provider down, `health` does not report everything fine.",
        ("SPECIFICATION 7.6", "R35"),
        needs=("provider",),
    ),
)

_DEADLINES = (
    Requirement(
        "COM-DEADLINE-1",
        "MUST",
        "A call whose deadline has passed is refused with DEADLINE_EXCEEDED.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1", "R16"),
        hint="compare ctx.deadline_ms, absolute epoch milliseconds, with the clock before any work",
    ),
    Requirement(
        "COM-DEADLINE-2",
        "MUST",
        "A call whose deadline has passed causes no backend work.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1", "R16"),
        needs=("provider",),
    ),
    Requirement(
        "COM-DEADLINE-3",
        "MUST",
        "A stream whose deadline has passed is one DEADLINE_EXCEEDED error and no data.",
        ("SPECIFICATION 6.1", "R16"),
        needs=("supports_streaming",),
        components=STREAMING,
    ),
    Requirement(
        "COM-DEADLINE-4",
        "MUST",
        "A call ends with DEADLINE_EXCEEDED promptly when its budget runs out on the way.",
        ("BEHAVIORAL_CONFORMANCE 6.1", "R17"),
        needs=("provider", "supports_deadline"),
        hint="bound every provider call by what remains of the budget",
    ),
    Requirement(
        "COM-DEADLINE-5",
        "MUST",
        "A stream ends with DEADLINE_EXCEEDED promptly when its budget runs out on the way.",
        ("BEHAVIORAL_CONFORMANCE 6.1", "R17"),
        needs=("provider", "supports_deadline", "supports_streaming"),
        components=STREAMING,
        hint="bound the wait for each chunk by what remains of the budget",
    ),
    Requirement(
        "COM-DEADLINE-6",
        "MUST",
        "A call well within its deadline is carried out.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1"),
        hint="deadline_ms is an epoch time, not a duration",
    ),
    Requirement(
        "COM-DEADLINE-7",
        "MUST",
        "A `deadline_ms` of zero or less is refused with BAD_REQUEST or DEADLINE_EXCEEDED.",
        ("SCHEMA 3.2", "R18"),
    ),
)

_OBSERVABILITY = (
    Requirement(
        "COM-OBS-1",
        "MUST",
        "A call that succeeds is observed exactly once.",
        ("SPECIFICATION 6.4", "BEHAVIORAL_CONFORMANCE 6.8", "R19"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-2",
        "MUST",
        "A call that fails is observed exactly once, refused and expired ones included.",
        ("SPECIFICATION 6.4", "BEHAVIORAL_CONFORMANCE 6.8", "R19"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-3",
        "MUST",
        "A stream is observed exactly once, whatever its outcome.",
        ("SPECIFICATION 6.4", "SPECIFICATION 11.2", "R19"),
        needs=("metrics", "supports_streaming"),
        components=STREAMING,
    ),
    Requirement(
        "COM-OBS-4",
        "MUST",
        "The `component` of an observation is the component, and that of any report is one of the four.",
        ("SPECIFICATION 6.4",),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-5",
        "MUST",
        "The `ok` of an observation is the outcome of the call.",
        ("SPECIFICATION 6.4",),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-6",
        "MUST",
        "The `code` of an observation, or of a stream's outcome, is OK or names the class of the failure.",
        ("ERRORS 5", "SPECIFICATION 6.4", "R20"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-7",
        "MUST",
        "The `ms` of an observation is a non-negative number.",
        ("SPECIFICATION 6.4", "SPECIFICATION 4.1"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-8",
        "MUST",
        "`tenant_hash` is there when a tenant was given.",
        ("BEHAVIORAL_CONFORMANCE 6.8", "R20"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-9",
        "MUST",
        "`tenant_hash` is stable for one tenant, in all operations, and differs between tenants.",
        ("SPECIFICATION 4", "R20"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-10",
        "MUST",
        "`deadline_bucket` is there when, and only when, a deadline was given.",
        ("BEHAVIORAL_CONFORMANCE 6.1", "BEHAVIORAL_CONFORMANCE 6.8", "R20"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-11",
        "MUST",
        "A stream counts `count_stream_final_outcome` exactly once, whatever its outcome.",
        ("BEHAVIORAL_CONFORMANCE 6.2", "ERRORS 6.1", "R19"),
        needs=("metrics", "supports_streaming"),
        components=("llm", "graph"),
    ),
    Requirement(
        "COM-OBS-12",
        "MUST",
        "Metrics are reported with the arguments of the interface, by keyword.",
        ("SPECIFICATION 6.4",),
        needs=("metrics",),
    ),
    Requirement(
        "COM-OBS-13",
        "MUST",
        "What a client made up (an unknown model) does not become a label.",
        ("SPECIFICATION 13.1", "R21"),
        needs=("metrics",),
        components=("llm", "embedding"),
    ),
    Requirement(
        "COM-OBS-14",
        "SHOULD",
        "Request ids and trace ids do not become labels.",
        ("BEHAVIORAL_CONFORMANCE 6.8", "SPECIFICATION 13.1"),
        needs=("metrics",),
    ),
)

_LEAKS = (
    Requirement(
        "COM-LEAK-1",
        "MUST",
        "No content of a request stands in the message or the details of an error.",
        ("ERRORS 2.1", "SPECIFICATION 15", "R21"),
        hint="name the field and the rule, never the value",
    ),
    Requirement(
        "COM-LEAK-2",
        "MUST",
        "No content of a request stands in metrics.",
        ("SPECIFICATION 6.4", "BEHAVIORAL_CONFORMANCE 6.8", "R21"),
        needs=("metrics",),
    ),
    Requirement(
        "COM-LEAK-3",
        "MUST",
        "No content of a request stands in a log record.",
        ("SPECIFICATION 15", "SPECIFICATION 11.2", "R21"),
        hint="log hashes and lengths",
    ),
    Requirement(
        "COM-LEAK-4",
        "MUST",
        "No raw tenant id stands in an error, in metrics or in a log record.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.8", "R21"),
        hint="use the tenant hash, in throttle_scope too",
    ),
    Requirement(
        "COM-LEAK-5",
        "MUST",
        "No idempotency key stands in an error, in metrics or in a log record.",
        ("R21",),
    ),
    Requirement(
        "COM-LEAK-6",
        "MUST",
        "No raw text of the provider stands in an answer, in metrics or in a log record.",
        ("ERRORS 8", "R6"),
        needs=("provider",),
        hint="write a message of your own for each class",
    ),
    Requirement(
        "COM-LEAK-7",
        "SHOULD",
        "Nor does it stand in debug records, when debug logging is switched on.",
        ("SPECIFICATION 15",),
    ),
)

_FAULTS = (
    Requirement(
        "COM-FAULT-1",
        "MUST",
        "A provider's rate limit or exhausted quota (429) is ResourceExhausted.",
        ("ERRORS 8", "SPECIFICATION 12.4"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-2",
        "MUST",
        "A provider that is overloaded or unavailable (503, 529) is Unavailable.",
        ("ERRORS 1", "SPECIFICATION 12.4"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-3",
        "MUST",
        "A network failure or gateway timeout (502, 504) is TransientNetwork.",
        ("ERRORS 6.1", "ERRORS 8", "SPECIFICATION 12.4"),
        needs=("provider",),
        hint="the provider's timeout is not the caller's deadline",
    ),
    Requirement(
        "COM-FAULT-4",
        "MUST",
        "A provider's refusal of credentials or permission (401, 403) is AuthError.",
        ("ERRORS 1", "SPECIFICATION 12.4"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-5",
        "MUST",
        "A provider's content filter is BadRequest or its subtype ContentFiltered.",
        ("ERRORS 6.1", "SPECIFICATION 8.5", "R12"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-6",
        "MUST",
        "A request that the provider finds invalid (400) is BadRequest.",
        ("ERRORS 1", "SPECIFICATION 12.4"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-7",
        "MUST",
        "An unexpected exception is Unavailable.",
        ("ERRORS 8", "R7"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-8",
        "MUST",
        "The provider's `retry_after_ms` is passed on.",
        ("ERRORS 4", "ERRORS 8"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-9",
        "MUST",
        "A stream classifies a provider's failure as the unary operation does.",
        ("ERRORS 6.1", "ERRORS 6.4"),
        needs=("provider", "supports_streaming"),
        components=STREAMING,
    ),
    Requirement(
        "COM-FAULT-10",
        "SHOULD",
        "A retryable error without `retry_after_ms` gives `details.suggested_backoff_ms`.",
        ("SPECIFICATION 12.1",),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-11",
        "SHOULD",
        "A content filter is reported as ContentFiltered.",
        ("SPECIFICATION 14.4", "ERRORS 6.1", "R12"),
        needs=("provider",),
        components=("llm", "embedding"),
    ),
    Requirement(
        "COM-FAULT-12",
        "MUST",
        "After a provider's failure the next call works again.",
        ("BEHAVIORAL_CONFORMANCE 6.3", "SPECIFICATION 12.3"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-13",
        "SHOULD",
        "A rate limit or exhausted quota gives `details.throttle_scope`.",
        ("SPECIFICATION 12.1", "SPECIFICATION 11.1", "R5"),
        needs=("provider",),
    ),
    Requirement(
        "COM-FAULT-14",
        "SHOULD",
        "`retry_after_ms` of an overloaded, unavailable or exhausted provider is passed on too.",
        ("ERRORS 7", "SPECIFICATION 11.1"),
        needs=("provider",),
    ),
)

_STATE = (
    Requirement(
        "COM-IDEM-1",
        "MUST",
        "The same idempotency key with other arguments is another request.",
        ("SPECIFICATION 6.1", "R24"),
        needs=("idempotent_writes",),
    ),
    Requirement(
        "COM-IDEM-2",
        "MUST",
        "The same idempotency key of another tenant is another request.",
        ("SPECIFICATION 6.1", "R24"),
        needs=("idempotent_writes", "provider"),
    ),
    Requirement(
        "COM-CACHE-1",
        "MUST",
        "A cached answer is not given to another tenant.",
        ("BEHAVIORAL_CONFORMANCE 6.6", "SPECIFICATION 11.6", "R27"),
        needs=("provider", "supports_caching"),
    ),
    Requirement(
        "COM-CONC-1",
        "MUST",
        "Calls that run at the same time do not disturb each other.",
        ("SPECIFICATION 1.3",),
        hint="keep the state of a call out of the adapter object",
    ),
)

REQUIREMENTS = (*_CAPABILITIES, *_HEALTH, *_DEADLINES, *_OBSERVABILITY, *_LEAKS, *_FAULTS, *_STATE)
