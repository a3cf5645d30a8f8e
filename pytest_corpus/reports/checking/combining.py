"""Combines the reports of all shards into the report that one run of the whole suite would have written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pytest_corpus.reports import json_report, view
from pytest_corpus.reports.checking.reconstruction import (
    ShippedTests,
    add_results,
    deviations_of,
    edition_of,
    rebuild_ledger,
    start_of,
    version_differences,
)
from pytest_corpus.reports.checking.verification import first_names
from pytest_corpus.reports.text import count_in_words, printable
from pytest_corpus.text.problems import PlainError
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.shards import Shard
from pytest_corpus.verdict.verdict import decide

EQUAL_KEYS = {
    "adapter": "adapter",
    "seed": "seed",
    "profile": "profile",
    "level": "level",
    "environment": "environment",
    "capabilities": "capabilities of the adapter",
    "commit": "commit",
}
"""The keys that must have the same value in the reports of all shards, each with a noun for messages."""


class NotCombinable(PlainError):
    """Reports that are not all shards of one suite. The message names the reports and the reason."""


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The report of one shard, with the name of its file."""

    name: str
    document: view.Document

    @property
    def shard(self) -> Shard:
        """The shard of the report."""
        return Shard(**self.document["shard"])


def combine_reports(reports: Sequence[tuple[str, view.Document]], shipped: ShippedTests) -> dict[str, Any]:
    """Return the report of the whole suite.

    Args:
        reports: the name and the document of each file.
        shipped: returns the tests in this version's suite.

    Raises:
        NotCombinable: the reports are not all shards of one suite, each complete and present once.
    """
    parts = sorted((to_shard_report(name, document) for name, document in reports), key=lambda part: part.shard.number)
    check_shard_numbers(parts)
    _check_options(parts)
    first, *others = parts
    suites = {name: list(shipped(name, first.document["profile"])) for name in first.document["components"]}
    for part in parts:
        _check_tests(part, suites)
    ledger = rebuild_ledger(first.document, shipped)
    for part in others:
        add_results(part.document, ledger)
    return _combine_documents(parts, ledger)


def to_shard_report(name: str, document: view.Document) -> ShardReport:
    """Return the report of a shard. Raises NotCombinable if it was altered or comes from another version."""
    part = ShardReport(printable(name), document)
    if view.is_altered(document):
        raise NotCombinable(f"{part.name}: its sha256 does not match its content; it was altered")
    if "shard" not in document:
        raise NotCombinable(
            f"{part.name} is not the report of a shard; run pytest with --corpus-shard=1/2 and the like"
        )
    for said in version_differences(document):
        raise NotCombinable(f"{part.name}: {said}; combine it with the version that wrote it")
    return part


def check_shard_numbers(parts: Sequence[ShardReport]) -> None:
    """Raise NotCombinable unless each shard is present exactly once."""
    first, by_number = parts[0], dict[int, ShardReport]()
    for part in parts:
        if part.shard.of != first.shard.of:
            said = f"{first.name} is shard {first.shard} and {part.name} is shard {part.shard} of another division"
            raise NotCombinable(said)
        if (other := by_number.get(part.shard.number)) is not None:
            raise NotCombinable(f"{other.name} and {part.name} are both shard {part.shard}; leave one of them out")
        by_number[part.shard.number] = part
    if missing := [f"{number}/{first.shard.of}" for number in range(1, first.shard.of + 1) if number not in by_number]:
        shards = "shards" if len(missing) > 1 else "shard"
        raise NotCombinable(f"{shards} {first_names(missing)} missing: name the report of each shard")


def _check_options(parts: Sequence[ShardReport]) -> None:
    """Raise NotCombinable unless all shards have the same adapter and options."""
    first = parts[0]
    for part in parts[1:]:
        for words, one, other in _shared_values(first, part):
            if one != other:
                raise NotCombinable(
                    f"{first.name} and {part.name} differ in the {words}{_describe_difference(one, other)}: "
                    "run them alike"
                )


def _shared_values(first: ShardReport, part: ShardReport) -> Iterator[tuple[str, Any, Any]]:
    """Yield each value that must be equal in two shards: a noun, the first value, the second value."""
    for key, words in EQUAL_KEYS.items():
        yield words, first.document.get(key), part.document.get(key)
    yield "components", sorted(first.document["components"]), sorted(part.document["components"])
    for key, words in (
        ("edition", "edition of the requirements"),
        ("pinned_schema_version", "pinned schema version"),
        ("protocol", "protocol"),
    ):
        yield words, first.document["spec"][key], part.document["spec"][key]


def _describe_difference(one: Any, other: Any) -> str:
    """Describe how two values differ; for objects, name the keys with different values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
        if len(keys) == 1 and not isinstance(one.get(keys[0]), Mapping):
            return f" ({printable(keys[0])}{_describe_difference(one.get(keys[0]), other.get(keys[0]))})"
        return f" ({printable(first_names(keys))})"
    return f" ({printable(str(one))[:60]} and {printable(str(other))[:60]})"


def _check_tests(part: ShardReport, suites: Mapping[str, Sequence[str]]) -> None:
    """Raise NotCombinable if a shard lacks some of its tests or is partial for another reason."""
    given = [(entry["component"], test["test"]) for entry in part.document["requirements"] for test in entry["tests"]]
    own = part.shard.tests(suites)
    every = sum(map(len, suites.values()))
    gaps = {part.shard.gap, f"{every - len(own)} of {every} tests did not run"}
    if others := [gap for gap in part.document["gaps"] if gap not in gaps]:
        raise NotCombinable(
            f"{part.name}: shard {part.shard} is not whole: {printable('; '.join(others))}; run it again"
        )
    if missing := sorted(own - set(given)):
        names = first_names(test for _, test in missing)
        said = f"{count_in_words(len(missing), 'test')} of shard {part.shard} missing: {names}"
        raise NotCombinable(f"{part.name}: {said}; run it again")
    if strange := sorted(set(given) - own):
        raise NotCombinable(
            f"{part.name}: {printable(first_names(test for _, test in strange))} is not of shard {part.shard}"
        )
    if len(given) != len(own):
        raise NotCombinable(f"{part.name}: it has tests twice")


def _combine_documents(parts: Sequence[ShardReport], ledger: Ledger) -> dict[str, Any]:
    documents = [part.document for part in parts]
    first = documents[0]
    started = min(documents, key=start_of)
    end = max(start_of(document) + timedelta(seconds=document["duration_s"]) for document in documents)
    deviations = [each for document in documents for each in deviations_of(document)]
    day = start_of(started).date()
    verdict = decide(ledger, first["level"], dict.fromkeys(deviations), day, edition_of(first))
    ci = first.get("ci", {}).items()
    shared = {key: value for key, value in ci if all(each.get("ci", {}).get(key) == value for each in documents)}
    run = json_report.RunFacts(
        started["started_at"],
        (end - start_of(started)).total_seconds(),
        first["seed"],
        first["level"],
        first["spec"]["pinned_schema_version"],
        commit=first.get("commit"),
        ci=shared if "name" in shared else {},
        profile=first["profile"],
        notes=tuple(dict.fromkeys(note for document in documents for note in document.get("notes", ()))),
        command=str(first.get("command", "")).replace(f" --corpus-shard={parts[0].shard}", ""),
    )
    whole = json_report.build_report(ledger, verdict, run)
    own = {"environment": first["environment"], "combined": [document["sha256"] for document in documents]}
    return json_report.add_digest({**whole, **own})
