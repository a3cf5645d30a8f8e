"""Rules between the parts of a report of a complete run; each yields the contradictions that it finds."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.reports import json_report
from pytest_corpus.reports.text import count, printable
from pytest_corpus.spec.requirements import HOOKS, LOGS, Requirement, applicable
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.spec.transports import TRANSPORT_GROUPS
from pytest_corpus.verdict.verdict import HELD_BACK

Shipped = Callable[[str, str], Mapping[str, str]]
"""The tests that a component has with a profile, each with the id of its requirement."""

PROFILES = ("dev", "ci", "stress")  # the profiles with which a run can be complete
CLIENT = "wire"  # the component name of a client library, which has no capabilities
NOT_IN_CAPABILITIES = (*HOOKS, LOGS, *TRANSPORT_GROUPS, "supports_caching")
"""Needs that the capabilities in a report do not decide: hooks, logs, transports, a cache that is an object."""

CLAIMED = "idempotent_writes"  # the need that has to be claimed; any other has only not to be denied
_OPEN = ("not_assessed", "error")
BLOCKED = re.compile(r"blocked by ([A-Z]+(?:-[A-Z]+)*-[0-9]+): ")  # the beginning of the reason of a blocked test
_DENIED = re.compile(r"capabilities deny ([a-z_]+)")


def some(names: Iterable[str]) -> str:
    """The first of some names."""
    first = list(names)
    return ", ".join(first[:5]) + (" and others" if len(first) > 5 else "")


def contradictions(document: Mapping[str, Any], today: date, shipped: Shipped) -> Iterator[str]:
    """Contradictions within the report of a complete run, or with catalogue and suite, one sentence each."""
    yield from _about(document, today)
    yield from _capabilities(document)
    profile = document.get("profile")
    if profile in PROFILES:
        for component in document["components"]:
            yield from _tests(document, component, shipped(component, profile))
    else:
        yield f"no run with the profile {printable(str(profile))} is complete"
    yield from _deviations(document)
    yield from _entries(document)


def _entries(document: Mapping[str, Any]) -> Iterator[str]:
    """Contradictions in single requirements; requirements with the same fault share a sentence."""
    found: dict[tuple[str, str], list[str]] = {}
    runs = _runs(document)
    for component in document["components"]:
        known = {each.id: each for each in applicable(component)}
        stated = Capabilities(component, document["capabilities"].get(component, {}))
        entries = [entry for entry in document["requirements"] if entry["component"] == component]
        blocking = {by for entry in entries for by in entry.get("blocked_by", ())}
        for entry in entries:
            if entry["id"] in known:
                blocks = entry["id"] in blocking
                for said in _entry(entry, known[entry["id"]], stated, runs, known, blocks=blocks):
                    found.setdefault((component, said), []).append(entry["id"])
    yield from (f"{component}: {some(names)}: {said}" for (component, said), names in found.items())


def _about(document: Mapping[str, Any], today: date) -> Iterator[str]:
    if set(document["environment"]) != set(json_report.environment()) or not all(document["environment"].values()):
        yield "its environment does not name the versions that a run names"
    try:
        start = datetime.fromisoformat(document["started_at"].replace("Z", "+00:00"))
        end = start + timedelta(seconds=document["duration_s"])
    except (ValueError, OverflowError):
        yield f"there is no such time as {document['started_at']}, or none {document['duration_s']} s later"
    else:
        # Clocks differ a little, days by less than one.
        if end.date() > today + timedelta(days=1):
            yield f"its run ended on {end.date()}, which is still to come"
        if not document["duration_s"]:
            yield "its run took no time"
    met = document["spec"]["editions_met"]
    if met != [edition for edition in EDITIONS if edition in met]:
        yield "its schema editions are not in their order"
    if not document["adapter"]["name"]:
        yield "its adapter has no name"
    for component in document["components"]:
        given = [entry["id"] for entry in document["requirements"] if entry["component"] == component]
        if given != [each.id for each in applicable(component) if each.id in given]:
            yield f"{component}: its requirements are not in the order of the catalogue"


def _capabilities(document: Mapping[str, Any]) -> Iterator[str]:
    components, stated = document["components"], document["capabilities"]
    if strange := sorted(set(stated) - (set(components) - {CLIENT})):
        yield f"it has capabilities of {', '.join(strange)}, which it does not judge"
    if strange := sorted(set(document.get("settle_s", ())) - set(components)):
        yield f"it has the settle time of {', '.join(strange)}, which it does not judge"
    if CLIENT in components and len(components) > 1:
        yield "a client library has no components of an adapter"
    for component, facts in stated.items():
        if facts != json_report.facts(component, facts):
            yield f"{component}: its capabilities hold what no run repeats"
    for key in ("server", "version"):
        said = document["adapter"].get(key)
        if said not in ([facts.get(key) for facts in stated.values()] or [None]):
            yield f"its adapter states another {key} than its capabilities"
    for component, part in components.items():
        if component not in stated and component != CLIENT and part["verdict"].startswith("conformant"):
            yield f"{component}: it is {part['verdict']}, but its capabilities did not answer"


def _tests(document: Mapping[str, Any], component: str, shipped: Mapping[str, str]) -> Iterator[str]:
    """A complete run has each test of the suite once, below the requirement that the test decides."""
    pairs = [
        (test["test"], entry["id"])
        for entry in document["requirements"]
        if entry["component"] == component
        for test in entry["tests"]
    ]
    given = dict(pairs)
    if twice := [name for name, many in Counter(name for name, _ in pairs).items() if many > 1]:
        yield f"{component}: {count(len(twice), 'test')} more than once: {some(twice)}"
    if missing := [name for name in shipped if name not in given]:
        yield f"{component}: {count(len(missing), 'test')} of the suite missing: {some(missing)}"
    if unknown := [name for name in given if name not in shipped]:
        yield f"{component}: the suite does not have {some(unknown)}"
    if elsewhere := [name for name, of in pairs if shipped.get(name, of) != of]:
        yield f"{component}: {count(len(elsewhere), 'test')} of another requirement: {some(elsewhere)}"


def _deviations(document: Mapping[str, Any]) -> Iterator[str]:
    """A deviation is declared of a requirement, whichever component does not keep it."""
    declared = {entry["id"]: entry["deviation"] for entry in document["requirements"] if "deviation" in entry}
    for entry in document["requirements"]:
        deviation = declared.get(entry["id"])
        if deviation and (entry["status"] == "violated" or entry.get("deviation", deviation) != deviation):
            yield f"{entry['component']}: {entry['id']} does not have the deviation that another component has"
    for name, deviation in declared.items():
        if not fnmatchcase(document["adapter"]["name"], deviation.get("adapter", "*")):
            yield f"the deviation from {name} is declared of another adapter"


def _runs(document: Mapping[str, Any]) -> int:
    """The number of repetitions by `--corpus-repeat`; 0 if tests were not repeated."""
    tests = (test for entry in document["requirements"] for test in entry["tests"])
    return next((test["repeats"]["runs"] for test in tests if "repeats" in test), 0)


def _entry(
    entry: Mapping[str, Any],
    known: Requirement,
    of: Capabilities,
    runs: int,
    every: Mapping[str, Requirement],
    *,
    blocks: bool,
) -> Iterator[str]:
    tests = entry["tests"]
    made = _status(entry)
    held_back = blocks and made in ("satisfied", "not_applicable")
    made = "not_assessed" if held_back else made
    if entry["status"] not in ((made, "deviated") if made == "violated" else (made,)):
        yield f"it is said to be {entry['status']}, but its tests and findings make it {made}"
    if entry["text"] != printable(known.text) or entry["source"] != [printable(each) for each in known.source]:
        yield "its text or its source is not that of the catalogue"
    if entry.get("hint", "") != (printable(known.hint) if "findings" in entry else ""):
        yield "its hint is not that of the catalogue"
    if [test["test"] for test in tests] != sorted(test["test"] for test in tests):
        yield "its tests are not in their order"
    for test in tests:
        open_or_not = test["outcome"] in ("not_applicable", "not_assessed")
        if bool(test.get("reason")) != open_or_not and test["outcome"] != "error":
            yield f"a test of it that is {test['outcome']} has {'a' if test.get('reason') else 'no'} reason"
    if any(test["outcome"] == "error" for test in tests):
        yield "a test of it ended in a fault of pytest-corpus, and the run is said to be complete"
    if not held_back:
        yield from _reasons(entry, runs, every)
    elif not fnmatchcase(entry.get("reason", ""), HELD_BACK.format("*")) or {"keyword", "blocked_by"} & set(entry):
        yield "it blocks another requirement, and does not say so"
    yield from _needs(tests, known, of)
    yield from _repeats(entry, runs)


def _status(entry: Mapping[str, Any]) -> str:
    outcomes = {test["outcome"] for test in entry["tests"]}
    if any(test.get("repeats", {}).get("passed") for test in entry["tests"]):
        outcomes.add("satisfied")  # of repetitions the worst is told
    if "findings" in entry or "violated" in outcomes:
        return "violated"
    if not outcomes or outcomes & set(_OPEN):
        return "not_assessed"
    return "satisfied" if "satisfied" in outcomes else "not_applicable"


def _reasons(entry: Mapping[str, Any], runs: int, every: Mapping[str, Requirement]) -> Iterator[str]:
    """The reasons of an open requirement are those of its tests; repeated tests report only some of theirs."""
    status, tests = entry["status"], entry["tests"]
    own = [
        test for test in tests if test["outcome"] == status or (status == "not_assessed" and test["outcome"] in _OPEN)
    ]
    if status not in ("not_applicable", "not_assessed"):
        if {"reason", "keyword", "blocked_by"} & set(entry):
            yield f"it is {status} and has a reason why it is not"
        return
    if not runs and entry.get("reason", "") not in [test.get("reason", "") for test in own]:
        yield "its reason is none of its tests"
    if status == "not_applicable" and {"keyword", "blocked_by"} & set(entry):
        yield "it is not applicable, and something is said to stand in the way"
    blockers = entry.get("blocked_by", [])
    stated = {match[1] for test in own if (match := BLOCKED.match(test.get("reason", "")))}
    if blockers != sorted(set(blockers)) or not (stated <= set(blockers) if runs else stated == set(blockers)):
        yield "it is not blocked by what blocks its tests"
    if strange := [name for name in blockers if name not in every or name == entry["id"]]:
        yield f"it cannot be blocked by {some(strange)}"


def _needs(tests: Iterable[Mapping[str, Any]], known: Requirement, of: Capabilities) -> Iterator[str]:
    """Denied capabilities are not tested, and reported denials match the capabilities."""
    stated = [need for need in known.needs if need not in NOT_IN_CAPABILITIES]
    denied = [need for need in stated if not _offered(need, of)]
    decided = {test["outcome"] for test in tests} & {"satisfied", "violated"}
    if denied and decided:
        yield f"a test of it is {some(sorted(decided))}, but its capabilities do not offer {some(denied)}"
    for test in tests:
        said = _DENIED.fullmatch(test.get("reason", ""))
        if said and said[1] in stated and of.flag(said[1]) is not False:
            yield f"a test of it is not applicable because of {said[1]}, which its capabilities do not deny"


def _offered(need: str, of: Capabilities) -> bool:
    return of.flag(need) is True if need == CLAIMED else of.flag(need) is not False


def _repeats(entry: Mapping[str, Any], runs: int) -> Iterator[str]:
    tests = entry["tests"]
    stated = [test["repeats"] for test in tests if "repeats" in test]
    if len(stated) != (len(tests) if runs else 0) or any(each["runs"] != runs for each in stated):
        yield "its tests did not run equally often"
        return
    if not runs:
        if "repeats" in entry:
            yield "its tests were not repeated, and it says how often they passed"
        return
    for test, each in zip(tests, stated, strict=False):
        if each["passed"] > runs or (each["passed"] == runs) != (test["outcome"] == "satisfied"):
            yield f"a test of it is {test['outcome']} and passed {each['passed']} times of {runs}"
    rounds = entry.get("repeats", {"runs": 0, "passed": 0})
    outcomes = {test["outcome"] for test in tests}
    most = max((each["passed"] for each in stated), default=0)
    fits = most <= rounds["runs"] <= runs and rounds["passed"] <= rounds["runs"]
    fits &= bool(rounds["runs"]) == ("repeats" in entry)
    if "violated" in outcomes:
        fits &= rounds["passed"] < rounds["runs"]
    elif "error" not in outcomes:
        fits &= rounds["passed"] == rounds["runs"]
    if len(stated) == 1:
        fits &= rounds["passed"] == most
    if not fits:
        yield f"{rounds['passed']} of {rounds['runs']} rounds are said to have passed, which its tests do not say"
