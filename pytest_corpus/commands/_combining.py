"""The reports of all shards of a run of bundles as the one report that a run in one process writes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pytest_corpus.bundles.reporting.section import Head, build
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.coherence import some
from pytest_corpus.reports.checking.combining import Part, Unfit, check, check_numbers
from pytest_corpus.reports.checking.reconstruction import start_of
from pytest_corpus.reports.text import printable
from pytest_corpus.text.records import rebuilt


def combined(reports: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], dict[str, list[CaseResult]]]:
    """The report of the whole run, and the results of all cases by bundle.yaml.

    Raises:
        Unfit: they are not all shards of one run, each of them once and whole.
    """
    parts = sorted((check(name, document) for name, document in reports), key=lambda each: each.shard.number)
    check_numbers(parts)
    first = parts[0]
    for each in parts[1:]:
        if each.document.get("budget") != first.document.get("budget"):
            raise Unfit(f"{first.name} and {each.name} differ in --corpus-budget: run them alike")
    keys = dict.fromkeys(
        (each["file"], each["provider"]) for part in parts for each in part.document.get("bundles", ())
    )
    if not keys:
        raise Unfit("no behaviour bundle ran in these shards; `report combine` joins the shards of a suite")
    sections: list[dict[str, Any]] = []
    every: dict[str, list[CaseResult]] = {}
    for key in keys:
        section, results = _bundle(key, parts)
        sections.append(section)
        every.setdefault(section["file"], []).extend(results)
    start = start_of(min((each.document for each in parts), key=start_of))
    end = max(start_of(each.document) + timedelta(seconds=each.document["duration_s"]) for each in parts)
    run = json_report.Run(
        start.isoformat(timespec="seconds"),
        (end - start).total_seconds(),
        first.document["seed"],
        first.document["level"],
        first.document["spec"]["pinned_edition"],
        profile=first.document.get("profile", ""),
        bundles=tuple(sections),
    )
    own = {"environment": first.document["environment"], "combined": [each.document["sha256"] for each in parts]}
    return json_report.sealed({**json_report.without_adapter(run), **own}), every


def _bundle(key: tuple[str, str], parts: Sequence[Part]) -> tuple[dict[str, Any], list[CaseResult]]:
    """The section of one bundle with one provider, and the results of its cases."""
    found = list(_sections(key, parts))
    (first, whole), name = found[0], printable(f"{key[0]} ({key[1]})")
    results: dict[str, CaseResult] = {}
    owners: dict[str, Part] = {}
    for part, section in found:
        for words, member in (("versions of", "digest"), ("options for", "head")):
            if section["shard"][member] != whole["shard"][member]:
                raise Unfit(f"{first.name} and {part.name} used different {words} {name}: run them alike")
        given = section["shard"]["results"]
        if open_ := section["cases"]["selected"] - len(given):
            said = f"{open_} of its cases of {name} have no result"
            raise Unfit(f"{part.name}: shard {part.shard} is not whole: {said}; run it again")
        for result in (rebuilt(CaseResult, each) for each in given):
            if (other := owners.setdefault(result.case, part)) is not part:
                raise Unfit(f"{other.name} and {part.name} both have the case {printable(result.case)} of {name}")
            results[result.case] = result
    head = rebuilt(Head, whole["shard"]["head"])
    if missing := [case for case in head.cases if case not in results]:
        said = "run each shard without a selection of cases (-k, -m, --lf)"
        raise Unfit(f"{len(missing)} cases of {name} are in no shard: {printable(some(missing))}; {said}")
    ordered = [results[case] for case in head.cases]
    section = build(head, ordered)
    if unused := whole.get("cassettes", {}).get("unused"):
        section["cassettes"]["unused"] = unused
    return section, ordered


def _sections(key: tuple[str, str], parts: Sequence[Part]) -> Iterator[tuple[Part, dict[str, Any]]]:
    for part in parts:
        for section in part.document.get("bundles", ()):
            if (section["file"], section["provider"]) == key:
                yield part, section
