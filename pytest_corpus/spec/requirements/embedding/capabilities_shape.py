"""Capabilities and their truth, and statistics (SPECIFICATION 6.2, 10.5; R22, R23, R29)."""

from __future__ import annotations

from functools import partial

from pytest_corpus.spec.requirements.model import Requirement

R = partial(Requirement, components=("embedding",))

REQUIREMENTS = (
    R(
        "EMB-CAP-1",
        "SHOULD",
        "Capabilities list the supported models.",
        ("SPECIFICATION 10.5", "R13"),
        hint="state `supported_models`, the names that `model` may have",
    ),
    R(
        "EMB-CAP-2",
        "SHOULD",
        "Capabilities state every flag of the component.",
        ("SPECIFICATION 10.5", "R22", "R71"),
        hint="state every flag of EmbeddingCapabilities (SPECIFICATION 10.2), false ones included",
    ),
    R(
        "EMB-STATS-1",
        "MUST",
        "`get_stats` answers with an object whose documented counters are numbers that are not negative.",
        ("SPECIFICATION 4.2.6", "SPECIFICATION 4.1"),
        hint="return an object of plain numbers, and leave out a counter that you do not keep",
    ),
    R(
        "EMB-STATS-2",
        "SHOULD",
        "Statistics move with the work: their totals grow and never fall.",
        ("SPECIFICATION 4.2.6", "R29"),
        hint="count every request and every text of a batch, and reset nothing when statistics are read",
    ),
    R(
        "EMB-STATS-3",
        "MUST",
        "Statistics tell no text that was embedded.",
        ("SPECIFICATION 14.1", "SPECIFICATION 15"),
        hint="they speak of the work for all tenants: count it, do not show it",
    ),
)
