"""gRPC: a message a frame (SPECIFICATION 4.2.4.4; ERRORS 3.2; R89)."""

from __future__ import annotations

from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.requirements.model import Requirement

REQUIREMENTS = (
    Requirement(
        "TRA-GRPC-1",
        "MUST",
        "Each message of gRPC is a `Frame` that holds exactly one JSON frame.",
        ("SPECIFICATION 4.2.4.4", "R89"),
        needs=("grpc",),
        hint="fill the field `json` of one `Frame` with one frame; do not collect frames in a message",
    ),
    Requirement(
        "TRA-GRPC-2",
        "MUST",
        "No message follows the terminal frame of a stream over gRPC.",
        ("SPECIFICATION 4.2.4.4", "SPECIFICATION 4.2.3.2", "SCHEMA 5.3"),
        needs=("grpc", "supports_streaming"),
        components=STREAMING,
        hint="end the call right after the terminal frame; trailing metadata is the place for all else",
    ),
    Requirement(
        "TRA-GRPC-3",
        "SHOULD",
        "A status of gRPC that is not OK is one of the class of the envelope that goes with it.",
        ("ERRORS 3.2", "R89"),
        needs=("grpc",),
        hint="derive the status from the class of the envelope by the table of ERRORS 3.2, or answer with OK",
    ),
)
