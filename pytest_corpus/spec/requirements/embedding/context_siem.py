"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("embedding",))

REQUIREMENTS = (
    R(
        "EMB-OBS-1",
        "SHOULD",
        "A stream counts `count_stream_final_outcome` exactly once, whatever its outcome.",
        ("BEHAVIORAL_CONFORMANCE 6.2", "R19"),
        needs=("metrics", "supports_streaming"),
        hint="count the outcome where the stream ends, in one `finally` that refusals and failures pass too",
    ),
)
