"""How pytest shows the end of one conformance test: its outcome, its message, its letter."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.integration import messages
from pytest_corpus.integration.options import Options
from pytest_corpus.integration.run import Trial
from pytest_corpus.spec.requirements import catalogue

PROPERTY = "corpus"
"""The user property in which a test's record travels."""

STATUS = "corpus_status"

LETTERS: dict[str, tuple[str, str, Any]] = {
    "violated": ("SHOULD not kept", "w", ("SHOULD", {"yellow": True})),
    "deviated": ("deviated", "d", ("DEVIATED", {"yellow": True})),
    "not_applicable": ("not applicable", "-", ("NOT APPLICABLE", {"cyan": True})),
    "not_assessed": ("not assessed", "?", ("NOT ASSESSED", {"yellow": True})),
}
"""For a test that neither passed nor failed: what pytest counts it as, its letter, its word."""

KIT_FAULT = "This is a fault of pytest-corpus, not of the adapter. Please report it with the traceback above."


def conclude(trial: Trial, report: pytest.TestReport, options: Options, rerun: str) -> None:
    """Put into a test's report what its trial came to; `rerun` has a place for the id, ``{id}``."""
    record = trial.record()
    counting = [each for each in record.findings if not options.deviates(each.requirement, record.adapter)]
    status = "deviated" if record.findings and not counting else record.outcome
    told = {"corpus_requirement": record.requirement, "corpus_level": trial.requirement.level, STATUS: status}
    report.user_properties += [*told.items(), (PROPERTY, record.dump())]
    # JUnit takes the properties of a test from its teardown, and a test may have run before.
    own = trial.item.user_properties
    own[:] = [*(pair for pair in own if pair[0] not in told), *told.items()]
    if record.outcome == "error":
        report.sections.append(("pytest-corpus", KIT_FAULT))
        return
    where = (str(trial.item.path), trial.item.location[1] or 0)
    if record.findings:
        levels = {catalogue()[finding.requirement].level for finding in counting}
        said = messages.failure(record.findings, trial.evidence, rerun)
        if options.traceback and report.longrepr is not None:
            said = f"{report.longreprtext}\n\n{said}"
        counts = "MUST" in levels or (options.level == "should" and bool(levels))
        report.outcome = "failed" if counts else "skipped"
        report.longrepr = said if counts else (*where, said)
    elif trial.undecided is not None:
        report.outcome = "skipped"
        report.longrepr = (*where, f"{trial.requirement.id}: {trial.undecided.reason}")


def letter(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """How the terminal shows a test that neither passed nor failed; None for any other."""
    if report.when != "call":
        return None
    status = next((str(value) for name, value in report.user_properties if name == STATUS), None)
    if status is None or report.outcome != "skipped":
        return None
    return LETTERS[status if status in LETTERS else "not_assessed"]
