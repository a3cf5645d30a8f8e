"""Which streaming transports capabilities name (SPECIFICATION 4.2.4.5; R23, R90)."""

from __future__ import annotations

from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.requirements.model import Requirement

REQUIREMENTS = (
    Requirement(
        "TRA-ADV-1",
        "MUST",
        "Each transport that `streaming_transports` names works, where the address is one of it.",
        ("SPECIFICATION 4.2.4.5", "R23", "R90"),
        needs=("remote", "supports_streaming"),
        components=STREAMING,
        hint="name only what this address serves, or serve what you name",
    ),
    Requirement(
        "TRA-ADV-2",
        "SHOULD",
        "`streaming_transports` is a list of names of transports.",
        ("SPECIFICATION 4.2.4.5", "R90"),
        needs=("remote",),
        hint='write it as ["ndjson", "sse"] below `extensions`, with websocket, grpc or stdio where these work',
    ),
)
