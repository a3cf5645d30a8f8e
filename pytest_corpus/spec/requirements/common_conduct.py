"""What every component shares in conduct: capabilities, health, deadlines."""

from __future__ import annotations

from pytest_corpus.spec.requirements.common_wire import STREAMING
from pytest_corpus.spec.requirements.model import Requirement

_CAPABILITIES = (
    Requirement(
        "COM-CAP-1",
        "MUST",
        "`capabilities` answers with an object.",
        ("SPECIFICATION 6.2",),
        hint="return an object, not a list, and answer `capabilities` as often as it is asked",
    ),
    Requirement(
        "COM-CAP-2",
        "MUST",
        "Capabilities state `server`, `version` and `protocol` as non-empty strings.",
        ("SPECIFICATION 6.2", "R22"),
        hint="state the three as strings at the top of the result, the version of your adapter included",
    ),
    Requirement(
        "COM-CAP-3",
        "MUST",
        "`protocol` is the component's protocol, e.g. llm/v1.0.",
        ("SPECIFICATION 4.2.2", "SPECIFICATION 6.2"),
        hint="state `<component>/v1.0` as `protocol`, the minor version included, for example vector/v1.0",
    ),
    Requirement(
        "COM-CAP-4",
        "MUST",
        "Flags are booleans, limits are numbers and listings are lists, wherever they are stated.",
        ("SPECIFICATION 6.2", "SPECIFICATION 8.4", "R22"),
        hint='state 8192, not "8192 tokens", and a list, not a joined string; leave out what you do not know',
    ),
    Requirement(
        "COM-CAP-5",
        "SHOULD",
        "Keys under `extensions` are namespaced, e.g. vendor:name.",
        ("SPECIFICATION 6.2",),
        hint="put a namespace before each key under `extensions`, for example acme:routing",
    ),
    Requirement(
        "COM-CAP-6",
        "MUST",
        "An operation that capabilities claim works.",
        ("BEHAVIORAL_CONFORMANCE 5.3", "R23"),
        hint="claim only operations that you serve, or mend the one that is claimed",
    ),
    Requirement(
        "COM-CAP-7",
        "MUST",
        "An operation that capabilities deny answers NOT_SUPPORTED (or simply works).",
        ("BEHAVIORAL_CONFORMANCE 5.3", "ERRORS 6", "R23"),
        hint="answer NOT_SUPPORTED as soon as the flag of the operation is false, before its arguments are read",
    ),
    Requirement(
        "COM-CAP-8",
        "SHOULD",
        "An operation that works is not denied by capabilities.",
        ("R23",),
        hint="set the flag of the operation to true, or answer NOT_SUPPORTED",
    ),
    Requirement(
        "COM-CAP-9",
        "MUST",
        "`handle_stream` is there where streaming is claimed.",
        ("SPECIFICATION 4.2.3", "R22"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="add handle_stream to the wire handler, or deny streaming in `capabilities`",
    ),
)

_HEALTH = (
    Requirement(
        "COM-HEALTH-1",
        "MUST",
        "`health` answers with an object, or with an error envelope where the backend is down.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 7.6", "R35"),
        hint='return an object, for example {"ok": true, "status": "ok"}, not a bare word',
    ),
    Requirement(
        "COM-HEALTH-2",
        "SHOULD",
        "A healthy report says `ok`, `status` (ok, degraded or down), `server` and `version`.",
        ("SPECIFICATION 7.6", "R35"),
        hint="translate the backend's own words into ok, degraded or down, and add `ok`, `server` and `version`",
    ),
    Requirement(
        "COM-HEALTH-3",
        "SHOULD",
        "A degraded or down report gives a `reason`.",
        ("SPECIFICATION 7.6", "SPECIFICATION 10.3", "R35"),
        hint="add a short `reason` wherever `status` is degraded or down",
    ),
    Requirement(
        "COM-HEALTH-4",
        "MUST",
        "With its provider down, `health` still answers: with an object or a retryable error.",
        ("SPECIFICATION 7.6", "BEHAVIORAL_CONFORMANCE 5", "R35"),
        needs=("provider",),
        hint="catch backend failures in `health`, and report down or a retryable class such as UNAVAILABLE",
    ),
    Requirement(
        "COM-HEALTH-5",
        "SHOULD",
        "With its provider down, `health` does not report everything fine.",
        ("SPECIFICATION 7.6", "R35"),
        needs=("provider",),
        hint="ask the backend in `health`, and say `ok` false or a `status` of degraded or down where it fails",
    ),
)

_DEADLINES = (
    Requirement(
        "COM-DEADLINE-1",
        "MUST",
        "A call whose deadline has passed is refused with DEADLINE_EXCEEDED.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1", "R16"),
        hint="compare ctx.deadline_ms, absolute epoch milliseconds, with the clock first thing in every operation",
    ),
    Requirement(
        "COM-DEADLINE-2",
        "MUST",
        "A call whose deadline has passed causes no backend work.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1", "R16"),
        needs=("provider",),
        hint="check the deadline before the first call of the provider, not after its answer",
    ),
    Requirement(
        "COM-DEADLINE-3",
        "MUST",
        "A stream whose deadline has passed is one DEADLINE_EXCEEDED error and no data.",
        ("SPECIFICATION 6.1", "R16"),
        needs=("supports_streaming",),
        components=STREAMING,
        hint="check the deadline before the first frame, and yield one DEADLINE_EXCEEDED error envelope",
    ),
    Requirement(
        "COM-DEADLINE-4",
        "MUST",
        "A call ends with DEADLINE_EXCEEDED promptly when its budget runs out on the way.",
        ("BEHAVIORAL_CONFORMANCE 6.1", "R17"),
        needs=("provider", "supports_deadline"),
        hint="bound every provider call by what remains of the budget, and map that timeout to DeadlineExceeded",
    ),
    Requirement(
        "COM-DEADLINE-5",
        "MUST",
        "A stream ends with DEADLINE_EXCEEDED promptly when its budget runs out on the way.",
        ("BEHAVIORAL_CONFORMANCE 6.1", "R17"),
        needs=("provider", "supports_deadline", "supports_streaming"),
        components=STREAMING,
        hint="bound the wait for each chunk, not for the first alone, by what remains of the budget",
    ),
    Requirement(
        "COM-DEADLINE-6",
        "MUST",
        "A call well within its deadline is carried out.",
        ("SPECIFICATION 6.1", "BEHAVIORAL_CONFORMANCE 6.1"),
        hint="read deadline_ms as an epoch time, not a duration, and give the provider all that remains of it",
    ),
    Requirement(
        "COM-DEADLINE-7",
        "MUST",
        "A `deadline_ms` of zero or less is refused with BAD_REQUEST or DEADLINE_EXCEEDED.",
        ("SCHEMA 3.2", "R18"),
        hint="test whether `deadline_ms` is None, not whether it is true: zero is a deadline that has passed",
    ),
)

REQUIREMENTS = (*_CAPABILITIES, *_HEALTH, *_DEADLINES)
