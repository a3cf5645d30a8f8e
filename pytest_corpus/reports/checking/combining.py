"""The reports of all shards of a suite as the one report that a run of the whole suite would have written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from pytest_corpus.reports import json_report, view
from pytest_corpus.reports.checking.coherence import BLOCKED, Shipped, some
from pytest_corpus.reports.checking.verification import PACKAGE
from pytest_corpus.reports.text import count, printable
from pytest_corpus.spec.requirements import CATALOGUE_VERSION
from pytest_corpus.verdict.deviations import Deviation
from pytest_corpus.verdict.ledger import Finding, Ledger, TestRecord, ledger_key
from pytest_corpus.verdict.shards import Shard
from pytest_corpus.verdict.verdict import decide

ALIKE = {
    "adapter": "adapter",
    "seed": "seed",
    "profile": "profile",
    "level": "level",
    "environment": "environment",
    "capabilities": "capabilities of the adapter",
    "commit": "commit",
}
"""The keys of a report that all shards share, with a word for each."""


class Unfit(Exception):
    """Reports that are not the shards of one suite; one sentence names them and the reason."""


@dataclass(frozen=True, slots=True)
class Part:
    """One report to combine, with the name of its file."""

    name: str
    document: view.Document

    @property
    def shard(self) -> Shard:
        """The shard of the report."""
        return Shard(**self.document["shard"])


def build(reports: Sequence[tuple[str, view.Document]], shipped: Shipped) -> dict[str, Any]:
    """The report of the whole suite.

    Args:
        reports: the name of each file, and what it holds.
        shipped: the tests that the suite of this version has.

    Raises:
        Unfit: they are not all shards of one suite, each of them once and whole.
    """
    given = [Part(printable(name), document) for name, document in reports]
    for part in given:
        _check(part)
    parts = sorted(given, key=lambda part: part.shard.number)
    _check_together(parts)
    components = list(dict.fromkeys(entry["component"] for entry in parts[0].document["requirements"]))
    suites = {name: list(shipped(name, parts[0].document["profile"])) for name in components}
    ledger = Ledger(parts[0].document["adapter"]["name"])
    ledger.components = tuple(components)
    ledger.capabilities.update({name: each for name in components if (each := _stated(parts[0], name)) is not None})
    ledger.expected.update(ledger_key(name, test) for name, tests in suites.items() for test in tests)
    for part in parts:
        _check_tests(part, suites)
        _add(part, ledger)
    return _written(parts, ledger)


def _check(part: Part) -> None:
    """Refuse a report unless it is an unaltered one of a shard, by this version."""
    document = part.document
    if view.altered(document):
        raise Unfit(f"{part.name}: its sha256 does not match its content; it was altered")
    if "shard" not in document:
        raise Unfit(f"{part.name} is not the report of a shard; run pytest with --corpus-shard=1/2 and the like")
    if document["spec"]["catalogue"] != CATALOGUE_VERSION:
        said = f"it is of catalogue {document['spec']['catalogue']} and this version knows {CATALOGUE_VERSION}"
        raise Unfit(f"{part.name}: {said}; combine it with the version that wrote it")
    wrote, own = document["environment"].get(PACKAGE, "an unknown version"), json_report.environment()[PACKAGE]
    if wrote != own:
        said = f"it was written by {PACKAGE} {printable(wrote)} and this is {own}"
        raise Unfit(f"{part.name}: {said}; combine it with that version")


def _check_together(parts: Sequence[Part]) -> None:
    """Refuse shards unless each is there once and all have one adapter and the same options."""
    first, by_number = parts[0], dict[int, Part]()
    for part in parts:
        if part.shard.of != first.shard.of:
            said = f"{first.name} is shard {first.shard} and {part.name} is shard {part.shard} of another division"
            raise Unfit(said)
        if (other := by_number.get(part.shard.number)) is not None:
            raise Unfit(f"{other.name} and {part.name} are both shard {part.shard}; leave one of them out")
        by_number[part.shard.number] = part
    if missing := [f"{number}/{first.shard.of}" for number in range(1, first.shard.of + 1) if number not in by_number]:
        shards = "shards" if len(missing) > 1 else "shard"
        raise Unfit(f"{shards} {some(missing)} missing: name the report of each shard")
    for part in parts[1:]:
        for words, one, other in _shared(first, part):
            if one != other:
                raise Unfit(f"{first.name} and {part.name} differ in the {words}{_how(one, other)}: run them alike")


def _shared(first: Part, part: Part) -> Iterator[tuple[str, Any, Any]]:
    """The values of two shards that must be equal."""
    for key, words in ALIKE.items():
        yield words, first.document.get(key), part.document.get(key)
    yield "components", sorted(first.document["components"]), sorted(part.document["components"])
    for key, words in (("pinned_edition", "pinned schema edition"), ("protocol", "protocol")):
        yield words, first.document["spec"][key], part.document["spec"][key]


def _how(one: Any, other: Any) -> str:
    """The two values, where they are short, or the keys in which they differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
        if len(keys) == 1 and not isinstance(one.get(keys[0]), Mapping):
            return f" ({printable(keys[0])}{_how(one.get(keys[0]), other.get(keys[0]))})"
        return f" ({printable(some(keys))})"
    return f" ({printable(str(one))[:60]} and {printable(str(other))[:60]})"


def _check_tests(part: Part, suites: Mapping[str, Sequence[str]]) -> None:
    """Refuse a shard that lacks tests of its own, or is partial for another reason."""
    given = [(entry["component"], test["test"]) for entry in part.document["requirements"] for test in entry["tests"]]
    own = part.shard.tests(suites)
    every = sum(map(len, suites.values()))
    gaps = {part.shard.gap, f"{every - len(own)} of {every} tests did not run"}
    if others := [gap for gap in part.document["gaps"] if gap not in gaps]:
        raise Unfit(f"{part.name}: shard {part.shard} is not whole: {printable('; '.join(others))}; run it again")
    if missing := sorted(own - set(given)):
        said = f"{count(len(missing), 'test')} of shard {part.shard} missing: {some(test for _, test in missing)}"
        raise Unfit(f"{part.name}: {said}; run it again")
    if strange := sorted(set(given) - own):
        raise Unfit(f"{part.name}: {printable(some(test for _, test in strange))} is not of shard {part.shard}")
    if len(given) != len(own):
        raise Unfit(f"{part.name}: it has tests twice")


def _stated(part: Part, component: str) -> dict[str, Any] | None:
    stated: dict[str, Any] | None = part.document["capabilities"].get(component)
    return stated


def _add(part: Part, ledger: Ledger) -> None:
    """Take down what a shard found out, as the run of it did."""
    document = part.document
    for component, used in document["components"].items():
        ledger.called({component: used.get("calls", 0)}, {component: used.get("tokens", 0)})
    ledger.settled(document.get("settle_s", {}))
    ledger.runs.update(document.get("runs", ()))
    found: dict[str, list[Finding]] = {}
    for entry in document["requirements"]:
        findings = [
            Finding(entry["id"], each["expected"], each["got"], each["path"]) for each in entry.get("findings", ())
        ]
        found.setdefault(entry["component"], []).extend(findings)
    for entry in document["requirements"]:
        # Of tests that are open, the one that the requirement's reason was taken from goes first, as it did in the run.
        tests = sorted(entry["tests"], key=lambda test: test.get("reason", "") != entry.get("reason", ""))
        for test in tests:
            # The first record of a component has all its findings, whichever test saw them.
            own = tuple(found.pop(entry["component"], ()))
            record = _record(ledger.adapter, entry, test, tuple(document["spec"]["editions_met"]), own)
            ledger.ran(record)
            ledger.reported(record, agrees=True)


def _record(
    adapter: str,
    entry: Mapping[str, Any],
    test: Mapping[str, Any],
    editions: tuple[str, ...],
    findings: tuple[Finding, ...],
) -> TestRecord:
    reason = test.get("reason", "")
    blocked = BLOCKED.match(reason)
    return TestRecord(
        adapter=adapter,
        component=entry["component"],
        requirement=entry["id"],
        test=test["test"],
        outcome=test["outcome"],
        reason=reason,
        keyword=entry.get("keyword", "") if reason == entry.get("reason", "") else "",
        blocked_by=blocked[1] if blocked else "",
        editions=editions,
        duration_s=test.get("duration_s", 0.0),
        calls=test.get("calls", 0),
        findings=findings,
    )


def _written(parts: Sequence[Part], ledger: Ledger) -> dict[str, Any]:
    documents = [part.document for part in parts]
    first = documents[0]
    started = min(documents, key=_start)
    end = max(_start(document) + timedelta(seconds=document["duration_s"]) for document in documents)
    deviations = [
        _deviation(entry) for document in documents for entry in document["requirements"] if "deviation" in entry
    ]
    day = _start(started).date()
    verdict = decide(ledger, first["level"], dict.fromkeys(deviations), day)
    ci = first.get("ci", {}).items()
    shared = {key: value for key, value in ci if all(each.get("ci", {}).get(key) == value for each in documents)}
    run = json_report.Run(
        started["started_at"],
        (end - _start(started)).total_seconds(),
        first["seed"],
        first["level"],
        first["spec"]["pinned_edition"],
        commit=first.get("commit"),
        ci=shared if "name" in shared else {},
        profile=first["profile"],
        notes=tuple(dict.fromkeys(note for document in documents for note in document.get("notes", ()))),
        command=_command(parts[0]),
    )
    whole = json_report.build(ledger, verdict, run)
    own = {"environment": first["environment"], "combined": [document["sha256"] for document in documents]}
    return json_report.sealed({**whole, **own})


def _start(document: view.Document) -> datetime:
    return datetime.fromisoformat(document["started_at"].replace("Z", "+00:00"))


def _deviation(entry: Mapping[str, Any]) -> Deviation:
    said = dict(entry["deviation"])
    return Deviation(requirement=entry["id"], expires=date.fromisoformat(said.pop("expires")), **said)


def _command(part: Part) -> str:
    """The command that runs the whole suite: that of a shard without its option for the shard."""
    return str(part.document.get("command", "")).replace(f" --corpus-shard={part.shard}", "")
