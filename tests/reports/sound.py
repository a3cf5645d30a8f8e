"""Reports as complete runs write them: every test of the suite, and what it came to."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from ledgers import RUN, take

from pytest_corpus.reports import json_report
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.deviations import Deviation
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord
from pytest_corpus.verdict.verdict import STATUSES, decide, verdict_of, worst_verdict

FACTS = {
    "llm": {
        "server": "s",
        "version": "1",
        "protocol": "llm/v1.0",
        "idempotent_writes": True,
        "supports_streaming": True,
    }
}
DAY = date(2025, 1, 2)  # the day after the run


def sound(changed: dict[str, dict[str, Any]] | None = None, *, times: int = 0, name: str = "a") -> Ledger:
    """The ledger of a whole run for LLM in which all tests pass but those of the requirements in `changed`.

    Args:
        times: how often each test ran, with `--corpus-repeat`; what is changed is so the last time.
    """
    found = Ledger(name, ("llm",), dict(FACTS))
    for test, requirement in inventory.tests("llm", "dev").items():
        for number in range(1, times + 1) if times else (0,):
            record = TestRecord(name, "llm", requirement, test, "satisfied", repetition=number)
            if number == times:
                record = replace(record, **(changed or {}).get(requirement, {}))
            take(found, record)
    return found


def violated(requirement: str) -> dict[str, Any]:
    """The changes of `sound` for a requirement that is violated."""
    return {"outcome": "violated", "findings": (Finding(requirement, "this", "that", "result.x"),)}


def blocked(by: str) -> dict[str, Any]:
    """The changes for one that another requirement blocks."""
    return {"outcome": "not_assessed", "reason": f"blocked by {by}: it does not answer", "blocked_by": by}


def written(found: Ledger, deviations: Iterable[Deviation] = ()) -> dict[str, Any]:
    """The report on a ledger."""
    run = replace(RUN, started_at="2025-01-01T00:00:00+00:00", profile="dev")
    return json_report.build_report(found, decide(found, deviations=deviations, day=DAY), run)


def recounted(document: dict[str, Any]) -> dict[str, Any]:
    """A report whose numbers, verdicts and digest were made to fit its statuses again."""
    for component, part in document["components"].items():
        entries = [entry for entry in document["requirements"] if entry["component"] == component]
        for level in ("must", "should"):
            totals = Counter(entry["status"] for entry in entries if entry["level"] == level.upper())
            part["totals"][level] = {status: totals[status] for status in STATUSES}
        pairs = [(entry["level"], entry["status"]) for entry in entries]
        part["verdict"] = verdict_of(pairs, document["level"], partial=not document["complete"])
    document["verdict"] = worst_verdict(part["verdict"] for part in document["components"].values())
    return json_report.add_digest(document)
