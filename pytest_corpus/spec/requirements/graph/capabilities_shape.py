"""Capabilities and their truth (SPECIFICATION 6.2, 7.3.3; BEHAVIORAL_CONFORMANCE 5.2; R22, R23)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("graph",))
BATCH = ("supports_batch",)

REQUIREMENTS = (
    R(
        "GRA-CAP-1",
        "SHOULD",
        "Where batches are offered, `extensions` list the operations that they take.",
        ("SPECIFICATION 7.3.3", "R33"),
        needs=BATCH,
        hint="list the operations that a batch takes under a key of `extensions`, for example acme:batch_ops",
    ),
    R(
        "GRA-CAP-2",
        "SHOULD",
        "Where batches are offered, capabilities state `max_batch_ops`.",
        ("SPECIFICATION 16.2", "SPECIFICATION 7.2"),
        needs=BATCH,
        hint="state the max_batch_ops that batches enforce",
    ),
)
