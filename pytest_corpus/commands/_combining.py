"""Combines the reports of all shards of a bundle run into the report that a single process would write."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pytest_corpus.bundles.reporting.section import Head, build_sections
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.reports import bundle_view, json_report
from pytest_corpus.reports.checking.combining import NotCombinable, ShardReport, check_shard_numbers, to_shard_report
from pytest_corpus.reports.checking.reconstruction import start_of
from pytest_corpus.reports.checking.verification import first_names
from pytest_corpus.reports.text import printable
from pytest_corpus.text.values import from_json_value

Run = tuple[Head, Sequence[CaseResult]]


def combine_reports(reports: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], list[Run]]:
    """Combine reports; return the report of the complete run, and its runs (one bundle with one provider each).

    Raises:
        NotCombinable: the reports are not all shards of one run, each complete and present once.
    """
    parts = sorted((to_shard_report(name, document) for name, document in reports), key=lambda each: each.shard.number)
    check_shard_numbers(parts)
    first = parts[0]
    for each in parts[1:]:
        if each.document.get("budget") != first.document.get("budget"):
            raise NotCombinable(f"{first.name} and {each.name} differ in --corpus-budget: run them alike")
    found: dict[str, list[tuple[ShardReport, dict[str, Any]]]] = {}
    for part in parts:
        for section in part.document.get("bundles", ()):
            found.setdefault(f"{section['file']} | {bundle_view.label_of(section)}", []).append((part, section))
    if not found:
        raise NotCombinable("no behaviour bundle ran in these shards; `report combine` joins the shards of a suite")
    runs = {key: _combine_run(f"{key.replace(' | ', ' (', 1)})", sections) for key, sections in found.items()}
    sections = build_sections(runs, runs)
    for key, section in sections.items():
        section["results"] = [result.numbers for result in runs[key][1]]
        if unused := found[key][0][1].get("cassettes", {}).get("unused"):
            section["cassettes"]["unused"] = unused
    return _build_report(parts, list(sections.values())), list(runs.values())


def _build_report(parts: Sequence[ShardReport], sections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = parts[0].document
    start = min(start_of(each.document) for each in parts)
    end = max(start_of(each.document) + timedelta(seconds=each.document["duration_s"]) for each in parts)
    run = json_report.RunFacts(
        start.isoformat(timespec="seconds"),
        (end - start).total_seconds(),
        first["seed"],
        first["level"],
        first["spec"]["pinned_schema_version"],
        profile=first.get("profile", ""),
        bundles=tuple(sections),
    )
    own = {"environment": first["environment"], "combined": [each.document["sha256"] for each in parts]}
    return json_report.add_digest({**json_report.build_bundle_report(run), **own})


def _combine_run(name: str, sections: Sequence[tuple[ShardReport, dict[str, Any]]]) -> Run:
    """Combine the sections of one bundle with one provider: its head, and the results of all its cases in order."""
    name, (first, whole) = printable(name), sections[0]
    results: dict[str, CaseResult] = {}
    owners: dict[str, ShardReport] = {}
    for part, section in sections:
        for words, member in (("versions of", "digest"), ("options for", "head")):
            if section["shard"][member] != whole["shard"][member]:
                raise NotCombinable(f"{first.name} and {part.name} used different {words} {name}: run them alike")
        if missing := section["cases"]["selected"] - len(section["results"]):
            said = f"{missing} of its cases of {name} have no result"
            raise NotCombinable(f"{part.name}: shard {part.shard} is not whole: {said}; run it again")
        for result in (from_json_value(CaseResult, each) for each in section["results"]):
            if (other := owners.setdefault(result.case, part)) is not part:
                raise NotCombinable(
                    f"{other.name} and {part.name} both have the case {printable(result.case)} of {name}"
                )
            results[result.case] = result
    head = from_json_value(Head, whole["shard"]["head"])
    if absent := [case for case in head.cases if case not in results]:
        said = "run each shard without a selection of cases (-k, -m, --lf)"
        raise NotCombinable(f"{len(absent)} cases of {name} are in no shard: {printable(first_names(absent))}; {said}")
    return replace(head, selected=len(head.cases)), [results[case] for case in head.cases]
