"""Rebuilds the records of a run, its ledger and deviations, from the report of the run."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime

from pytest_corpus.reports import json_report
from pytest_corpus.reports.text import printable
from pytest_corpus.reports.view import Document
from pytest_corpus.spec.requirements import CATALOGUE_VERSION
from pytest_corpus.verdict import editions
from pytest_corpus.verdict.deviations import Deviation
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord, ledger_key

PACKAGE = "pytest-corpus"  # the name of this package in a report's `environment`
BLOCKED = re.compile(r"blocked by ([A-Z]+(?:-[A-Z]+)*-[0-9]+): ")  # the reason of a blocked test


ShippedTests = Callable[[str, str], Mapping[str, str]]
"""Returns the tests of a component with a profile, each with the id of its requirement."""


def version_differences(document: Document) -> Iterator[str]:
    """Yield a sentence for each difference between a report and this version: catalogue, edition or package version."""
    version = document["spec"]["catalogue"]
    if version != CATALOGUE_VERSION:
        yield f"it is of catalogue {version} and this version knows {CATALOGUE_VERSION}"
    if (name := document["spec"]["edition"]["name"]) not in editions.names():
        yield f"it was judged by edition {printable(name)}, which is not known here"
    wrote, own = document["environment"].get(PACKAGE, "an unknown version"), json_report.software_versions()[PACKAGE]
    if wrote != own:
        yield f"it was written by {PACKAGE} {printable(wrote)} and this is {own}"


def edition_of(document: Document) -> editions.Edition:
    """Return the edition of the requirements by which a run was judged. Raises an error for an unknown edition."""
    return editions.edition(document["spec"]["edition"]["name"])


def repetition_count(document: Document) -> int:
    """Return the number of repetitions by `--corpus-repeat`; 0 if tests were not repeated."""
    tests = (test for entry in document["requirements"] for test in entry["tests"])
    return next((test["repeats"]["runs"] for test in tests if "repeats" in test), 0)


def rebuild_ledger(document: Document, shipped: ShippedTests) -> Ledger:
    """Return the ledger (the records of all tests) of the complete run that a report describes."""
    components = tuple(dict.fromkeys(entry["component"] for entry in document["requirements"]))
    stated = document["capabilities"]
    ledger = Ledger(
        document["adapter"]["name"], components, {name: stated[name] for name in components if name in stated}
    )
    runs = range(1, n + 1) if (n := repetition_count(document)) else (0,)
    for name in components:
        for test in shipped(name, document["profile"]):
            ledger.expected.update(ledger_key(name, test, number) for number in runs)
    add_results(document, ledger)
    return ledger


def start_of(document: Document) -> datetime:
    """Return the start of a run. Raises ValueError if the report contains no valid time."""
    return datetime.fromisoformat(document["started_at"].replace("Z", "+00:00"))


def add_results(document: Document, ledger: Ledger) -> None:
    """Add the results in a report to a ledger."""
    for component, used in document["components"].items():
        times = used.get("took_ms", {})
        took = {f"{component}.{op} {ms}": number for op, found in times.items() for ms, number in found.items()}
        ledger.add_calls({component: used.get("calls", 0)}, {component: used.get("tokens", 0)}, took)
    ledger.add_delays(document.get("settle_s", {}))
    ledger.runs.update(document.get("runs", ()))
    ledger.lacking.update(document.get("provider_lacks", ()))
    ledger.recorded.update(document.get("provider", ()))
    found: dict[str, list[Finding]] = {}
    for entry in document["requirements"]:
        for each in entry.get("findings", ()):
            finding = Finding(entry["id"], each["expected"], each["got"], each["path"])
            found.setdefault(entry["component"], []).append(finding)
    for entry in document["requirements"]:
        # If several tests are not assessed, the one whose reason the requirement has comes first, as in the run.
        for test in sorted(entry["tests"], key=lambda test: test.get("reason", "") != entry.get("reason", "")):
            reason = test.get("reason", "")
            blocked = BLOCKED.match(reason)
            record = TestRecord(
                adapter=ledger.adapter,
                component=entry["component"],
                requirement=entry["id"],
                test=test["test"],
                outcome=test["outcome"],
                reason=reason,
                keyword=entry.get("keyword", "") if reason == entry.get("reason", "") else "",
                blocked_by=blocked[1] if blocked else "",
                editions=tuple(document["spec"]["schema_versions_met"]),
                duration_s=test.get("duration_s", 0.0),
                calls=test.get("calls", 0),
                # The first record of a component gets all its findings; reports do not say which test found them.
                findings=tuple(found.pop(entry["component"], ())),
            )
            for each in _split_repetitions(record, test.get("repeats")):
                ledger.add_run(each)
                ledger.add_report(each, agrees=True)


def _split_repetitions(record: TestRecord, repeats: Mapping[str, int] | None) -> Iterator[TestRecord]:
    """Yield one record for each repetition of a test, passed repetitions last; one record for an unrepeated test."""
    if repeats is None:
        yield record
        return
    runs, passed = repeats["runs"], repeats["passed"]
    for number in range(1, max(runs, passed) + 1):
        each = replace(record, repetition=number)
        if number > 1:
            each = replace(each, duration_s=0.0, calls=0, findings=())
        if number > runs - passed:
            each = replace(each, outcome="satisfied", reason="", keyword="", blocked_by="")
        yield each


def deviations_of(document: Document) -> Iterator[Deviation]:
    """Yield the declared deviations in a report, without those that have no valid date."""
    for entry in document["requirements"]:
        said = dict(entry.get("deviation", {"expires": ""}))
        try:
            expires = date.fromisoformat(said.pop("expires"))
        except ValueError:
            continue
        yield Deviation(requirement=entry["id"], expires=expires, **said)
