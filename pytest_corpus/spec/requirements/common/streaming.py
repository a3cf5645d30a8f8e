"""What every component that streams shares: frames and terminals."""

from __future__ import annotations

from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.requirements.model import Requirement

REQUIREMENTS = (
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
