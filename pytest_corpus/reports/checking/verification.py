"""Verifies a report: its shape, digest, numbers, verdicts and deviations, and the consistency of its parts."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.reconstruction import (
    ShippedTests,
    deviations_of,
    edition_of,
    rebuild_ledger,
    repetition_count,
    start_of,
    version_differences,
)
from pytest_corpus.reports.reading import ReportError, read_report
from pytest_corpus.reports.text import count_in_words, printable
from pytest_corpus.spec.requirements import HOOKS, LOGS, Requirement, applicable_requirements, catalogue
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.spec.transports import TRANSPORT_GROUPS
from pytest_corpus.verdict.verdict import STATUSES, decide, verdict_of, worst_verdict

PROFILES = ("dev", "ci", "stress")  # the profiles with which a run can be complete
CLIENT = "wire"  # the component name of a client library, which has no capabilities
NOT_IN_CAPABILITIES = (*HOOKS, LOGS, *TRANSPORT_GROUPS, "supports_caching")
"""The needs that the capabilities in a report say nothing about: hooks, logs, transports, caching."""

CLAIMED = "idempotent_writes"  # the only need that capabilities must claim; others must only not be denied
CHANGED = {
    "status": "it is said to be {given}, but its tests and findings make it {made}",
    "text": "its text or its source is not that of the catalogue",
    "source": "its text or its source is not that of the catalogue",
    "hint": "its hint is not that of the catalogue",
    "tests": "its tests are not as a run writes them",
    "blocked_by": "it is not blocked by what blocks its tests",
}
"""For each key of a requirement, the message if the key's value contradicts the tests or the catalogue."""

_DENIED = re.compile(r"capabilities deny ([a-z_]+)")


def first_names(names: Iterable[str]) -> str:
    """Return at most five of the names, with commas."""
    first = list(names)
    return ", ".join(first[:5]) + (" and others" if len(first) > 5 else "")


ContradictionCache = dict[bytes, list[str]]
"""A cache for reports that are verified together: the contradictions in their requirements, by `_requirements_key`."""


def find_contradictions(
    document: Mapping[str, Any], today: date, shipped: ShippedTests, known: ContradictionCache
) -> Iterator[str]:
    """Yield a sentence for each place where a complete run's report contradicts itself, the catalogue or the suite."""
    yield from _check_run_facts(document, today)
    yield from _check_capabilities(document)
    key = _requirements_key(document)
    found = known.get(key) if key else None
    if found is None:
        found = known[key] = list(_check_requirements(document, shipped))
    yield from found


def _requirements_key(document: Mapping[str, Any]) -> bytes:
    """Return a digest of everything that `_check_requirements` depends on; empty if the date of the run matters.

    Durations are left out if they have the format that runs write.
    """
    import orjson  # light commands do without it

    try:
        data = orjson.dumps([document.get(key) for key in _DECIDING])
    except TypeError:  # numbers and texts that orjson cannot write
        return b""
    return b"" if b'"deviation":' in data else hashlib.sha256(_DURATION.sub(b"", data)).digest()


_DECIDING = ("capabilities", "components", "level", "profile", "requirements", "settle_s", "spec")
_DURATION = re.compile(rb'"duration_s":(?!0\.0[,}])\d+\.\d{1,3}(?=[,}])')


def _check_requirements(document: Mapping[str, Any], shipped: ShippedTests) -> Iterator[str]:
    profile = document.get("profile")
    if profile in PROFILES:
        for component in document["components"]:
            yield from _check_tests(document, component, shipped(component, profile))
        yield from _check_entries(document, shipped)
    else:
        yield f"no run with the profile {printable(str(profile))} is complete"


def _check_entries(document: Mapping[str, Any], shipped: ShippedTests) -> Iterator[str]:
    """Yield contradictions in single requirements; requirements with the same fault share one sentence."""
    found: dict[tuple[str, str], list[str]] = {}
    ledger, runs = rebuild_ledger(document, shipped), repetition_count(document)
    with suppress(ValueError):
        day = start_of(document).date()
        verdict = decide(ledger, document["level"], dict.fromkeys(deviations_of(document)), day, edition_of(document))
        made = {(each["component"], each["id"]): each for each in json_report.requirement_entries(verdict)}
        yield from (f"it is said to be complete, and {gap}" for gap in verdict.gaps)
        for entry in document["requirements"]:
            component = entry["component"]
            if (component, entry["id"]) in made:
                of = Capabilities(component, document["capabilities"].get(component, {}))
                for said in _check_entry(entry, made[component, entry["id"]], of, runs):
                    found.setdefault((component, said), []).append(entry["id"])
    yield from (
        f"{component}: {first_names(dict.fromkeys(names))}: {said}" for (component, said), names in found.items()
    )


def _check_run_facts(document: Mapping[str, Any], today: date) -> Iterator[str]:
    if set(document["environment"]) != set(json_report.software_versions()) or not all(
        document["environment"].values()
    ):
        yield "its environment does not name the versions that a run names"
    try:
        end = start_of(document) + timedelta(seconds=document["duration_s"])
    except (ValueError, OverflowError):
        yield f"{document['started_at']}, or {document['duration_s']} s later, is not a valid time"
    else:
        # Clocks differ a little, but by less than a day.
        if end.date() > today + timedelta(days=1):
            yield f"its run ended on {end.date()}, which is still to come"
        if not document["duration_s"]:
            yield "its run took no time"
    met = document["spec"]["schema_versions_met"]
    if met != [edition for edition in SCHEMA_VERSIONS if edition in met]:
        yield "its schema versions are not in their order"
    if not document["adapter"]["name"]:
        yield "its adapter has no name"
    for component in document["components"]:
        given = [entry["id"] for entry in document["requirements"] if entry["component"] == component]
        if given != [each.id for each in applicable_requirements(component) if each.id in given]:
            yield f"{component}: its requirements are not in the order of the catalogue"


def _check_capabilities(document: Mapping[str, Any]) -> Iterator[str]:
    components, stated = document["components"], document["capabilities"]
    if strange := sorted(set(stated) - (set(components) - {CLIENT})):
        yield f"it has capabilities of {', '.join(strange)}, which it does not judge"
    if strange := sorted(set(document.get("settle_s", ())) - set(components)):
        yield f"it has the settle time of {', '.join(strange)}, which it does not judge"
    if CLIENT in components and len(components) > 1:
        yield "a client library has no components of an adapter"
    for component, facts in stated.items():
        if facts != json_report.documented_facts(component, facts):
            yield f"{component}: its capabilities hold what no run repeats"
    for key in ("server", "version"):
        said = document["adapter"].get(key)
        if said not in ([facts.get(key) for facts in stated.values()] or [None]):
            yield f"its adapter states another {key} than its capabilities"
    for component, part in components.items():
        if component not in stated and component != CLIENT and part["verdict"].startswith("conformant"):
            yield f"{component}: it is {part['verdict']}, but its capabilities did not answer"


def _check_tests(document: Mapping[str, Any], component: str, shipped: Mapping[str, str]) -> Iterator[str]:
    """Check that a complete run has each test once, in the entry of the requirement that the test decides."""
    pairs = [
        (test["test"], entry["id"])
        for entry in document["requirements"]
        if entry["component"] == component
        for test in entry["tests"]
    ]
    given = dict(pairs)
    if twice := [name for name, many in Counter(name for name, _ in pairs).items() if many > 1]:
        yield f"{component}: {count_in_words(len(twice), 'test')} more than once: {first_names(twice)}"
    if missing := [name for name in shipped if name not in given]:
        yield f"{component}: {count_in_words(len(missing), 'test')} of the suite missing: {first_names(missing)}"
    if unknown := [name for name in given if name not in shipped]:
        yield f"{component}: the suite does not have {first_names(unknown)}"
    if elsewhere := [name for name, of in pairs if shipped.get(name, of) != of]:
        yield f"{component}: {count_in_words(len(elsewhere), 'test')} of another requirement: {first_names(elsewhere)}"


def _check_entry(entry: Mapping[str, Any], made: Mapping[str, Any], of: Capabilities, runs: int) -> Iterator[str]:
    """Yield differences between an entry and `made`, which follows from its tests, and values that no test causes."""
    tests, known = entry["tests"], catalogue()[entry["id"]]
    keys = {*entry, *made}
    if runs:  # repeated tests report only some of their reasons
        open_for = (
            {"reason", "keyword", "blocked_by"} if entry["status"] in ("not_applicable", "not_assessed") else set()
        )
        keys -= {"repeats", *open_for}
        if not set(made.get("blocked_by", ())) <= set(entry.get("blocked_by", ())):
            yield CHANGED["blocked_by"]
    for key in sorted(key for key in keys if entry.get(key) != made.get(key)):
        said = CHANGED.get(key, f"its {key} is not what its tests make it")
        yield said.format(given=entry.get(key), made=made.get(key))
    for test in tests:
        open_or_not = test["outcome"] in ("not_applicable", "not_assessed")
        if bool(test.get("reason")) != open_or_not and test["outcome"] != "error":
            yield f"a test of it that is {test['outcome']} has {'a' if test.get('reason') else 'no'} reason"
    blocking = entry.get("blocked_by", ())
    own = {each.id for each in applicable_requirements(entry["component"])} - {entry["id"]} if blocking else ()
    if strange := [name for name in blocking if name not in own]:
        yield f"it cannot be blocked by {first_names(strange)}"
    yield from _check_needs(tests, known, of)
    if runs:
        yield from _check_repeats(entry, runs)


def _check_needs(tests: Iterable[Mapping[str, Any]], known: Requirement, of: Capabilities) -> Iterator[str]:
    """Check that no test judged a requirement that the capabilities exclude, and that reported exclusions are true."""
    stated = [need for need in known.needs if need not in NOT_IN_CAPABILITIES]
    denied = [need for need in stated if of.flag(need) is False or (need == CLAIMED and of.flag(need) is None)]
    decided = {test["outcome"] for test in tests} & {"satisfied", "violated"}
    if denied and decided:
        yield f"a test of it is {first_names(sorted(decided))}, but its capabilities do not offer {first_names(denied)}"
    for test in tests:
        said = _DENIED.fullmatch(test.get("reason", ""))
        if said and said[1] in stated and of.flag(said[1]) is not False:
            yield f"a test of it is not applicable because of {said[1]}, which its capabilities do not deny"


def _check_repeats(entry: Mapping[str, Any], runs: int) -> Iterator[str]:
    """Check that the reported numbers of repetitions and of passed repetitions match the tests."""
    tests = entry["tests"]
    passed = [test["repeats"]["passed"] for test in tests if "repeats" in test]
    rounds = entry.get("repeats", {"runs": 0, "passed": 0})
    outcomes, most = {test["outcome"] for test in tests}, max(passed, default=0)
    fits = most <= rounds["runs"] <= runs and rounds["passed"] <= rounds["runs"]
    fits &= bool(rounds["runs"]) == ("repeats" in entry)
    if "violated" in outcomes:
        fits &= rounds["passed"] < rounds["runs"]
    elif "error" not in outcomes:
        fits &= rounds["passed"] == rounds["runs"]
    if len(passed) == 1:
        fits &= rounds["passed"] == most
    if not fits:
        yield f"{rounds['passed']} of {rounds['runs']} rounds are said to have passed, which its tests do not say"


def find_faults(path: Path, today: date, shipped: ShippedTests) -> list[str]:
    """Return all faults of a report, one sentence each; an empty list if it is valid.

    Args:
        today: the day (UTC) on which the report must be valid.
        shipped: returns the tests in this version's suite.

    Raises:
        ReportError: the file does not exist or cannot be read.
    """
    try:
        document, data = read_report(path)
    except ReportError as error:
        if error.missing:
            raise
        return [error.why]
    return find_faults_in(document, data, today, shipped)


def find_faults_in(
    document: dict[str, Any], data: bytes, today: date, shipped: ShippedTests, known: ContradictionCache | None = None
) -> list[str]:
    """Like `find_faults`, for a report that was already read: its document and the bytes of its file.

    Args:
        known: a cache for reports that are verified together; initially empty.
    """
    found = list(_check_digest(document, data))
    if not document["complete"]:
        found.append(f"the run was not complete, so there is no verdict: {'; '.join(document['gaps'])}")
    if other := list(version_differences(document)):
        found += (f"{said}: whether anything is missing cannot be verified here; use that version" for said in other)
    else:
        found += _check_catalogue(document)
        if document["complete"]:
            found += find_contradictions(document, today, shipped, {} if known is None else known)
    return [*found, *_check_totals(document), *_check_verdicts(document), *_check_deviations(document, today)]


def _check_digest(document: dict[str, Any], data: bytes) -> Iterator[str]:
    canonical = data
    if not json_report.is_canonical(document, data):
        canonical = json_report.render(document).encode("utf-8", "backslashreplace")
    found = json_report.digest_of_text(canonical)
    if found != document["sha256"]:
        yield f"its content has the sha256 {found}, not the one that it states: it was changed after it was written"
    elif data != canonical:
        yield "it is not in canonical form: its text, though not its values, was changed after it was written"


def _check_catalogue(document: dict[str, Any]) -> Iterator[str]:
    found = Counter((entry["component"], entry["id"]) for entry in document["requirements"])
    yield from (f"{of}: {name} stands {many} times" for (of, name), many in found.items() if many > 1)
    for component in document["components"]:
        known = {
            entry.id: entry.level for entry in map(edition_of(document).with_level, applicable_requirements(component))
        }
        given = {entry["id"]: entry["level"] for entry in document["requirements"] if entry["component"] == component}
        if missing := [name for name in known if name not in given]:
            yield f"{component}: {count_in_words(len(missing), 'requirement')} missing: {first_names(missing)}"
        if unknown := [name for name in given if name not in known]:
            yield f"{component}: the catalogue does not know {first_names(unknown)}"
        if wrong := [name for name, level in given.items() if known.get(name, level) != level]:
            yield f"{component}: the catalogue gives another level to {first_names(wrong)}"
    if strange := {of for of, _ in found} - set(document["components"]):
        yield f"it has requirements of {', '.join(sorted(strange))} and no verdict of it"


def _check_totals(document: dict[str, Any]) -> Iterator[str]:
    found = Counter((entry["component"], entry["level"], entry["status"]) for entry in document["requirements"])
    for component, part in document["components"].items():
        for level, totals in part["totals"].items():
            for status in STATUSES:
                if (actual := found[component, level.upper(), status]) != totals[status]:
                    yield f"{component}: {totals[status]} {level.upper()} are said to be {status}, {actual} are"


def _check_verdicts(document: dict[str, Any]) -> Iterator[str]:
    partial = not document["complete"]
    expected = {}
    for component, part in document["components"].items():
        pairs = [(each["level"], each["status"]) for each in document["requirements"] if each["component"] == component]
        expected[component] = verdict_of(pairs, document["level"], partial=partial)
        if part["verdict"] != expected[component]:
            yield f"{component}: the verdict is {part['verdict']}, but its statuses make {expected[component]}"
    overall = "partial" if partial else worst_verdict(expected.values())
    if document["verdict"] != overall:
        yield f"the verdict is {document['verdict']}, but its components make {overall}"


def _check_deviations(document: dict[str, Any], today: date) -> Iterator[str]:
    for entry in document["requirements"]:
        if deviation := entry.get("deviation"):
            of = f"{entry['component']}: the deviation from {entry['id']}"
            try:
                expires = date.fromisoformat(deviation["expires"])
            except ValueError:
                yield f"{of} expires on {deviation['expires']}, which is not a day"
                continue
            if expires < today:
                yield f"{of} expired on {expires}"
