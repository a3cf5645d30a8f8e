"""The data of the site, `data/index.json` (`schemas/report/site.schema.json`), from verified attestations."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from multiprocessing import get_context
from typing import Any

from pytest_corpus.redaction import printable
from pytest_corpus.reports import json_report, view
from pytest_corpus.reports.checking.reconstruction import PACKAGE, ShippedTests, start_of
from pytest_corpus.reports.checking.verification import ContradictionCache, find_faults_in
from pytest_corpus.reports.difference import compare_requirements
from pytest_corpus.reports.reading import ReportError, parse_report, read_contents
from pytest_corpus.reports.signing import intoto
from pytest_corpus.reports.site.sources import ReportSource, read_sources
from pytest_corpus.spec.components import TITLES

CHUNK = 64  # the fewest files that a process examines at a time

Memory = Mapping[str, Mapping[str, Any]]
"""Results of earlier verifications, by the SHA-256 of the file: `{"kit": version, "faults": [...]}`."""


@dataclass(frozen=True, slots=True)
class SiteRun:
    """The parts of a verified attestation that the site shows.

    Attributes:
        source: the file.
        started: the start of the run, in UTC.
        facts: unchanged members of the report.
        shape: component, id and level of each requirement, one per line.
        statuses: the status of each requirement, one per line.
        signer: the known signer of its statement, or empty.
    """

    source: ReportSource
    started: datetime
    facts: Mapping[str, Any]
    shape: str
    statuses: str
    signer: str = ""

    def document(self) -> dict[str, Any]:
        """Return the report, reduced to the members that comparisons need."""
        pairs = zip(_requirements(self.shape), self.statuses.split("\n"), strict=True)
        return {**self.facts, "requirements": [{**entry, "status": status} for entry, status in pairs]}


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of examining one file: a run, or the reasons for refusing it.

    Attributes:
        file_sha256: the digest of the file; empty if it cannot be read.
        result: the result to remember; None if the result may be different on another day.
    """

    source: ReportSource
    file_sha256: str
    faults: tuple[str, ...] = ()
    run: SiteRun | None = None
    result: Mapping[str, Any] | None = None


Statements = Mapping[str, Sequence[tuple[bytes, str]]]
"""Statements with a valid signature, each with its signer, by the SHA-256 of the report that they describe."""


def examine_sources(
    sources: Sequence[ReportSource],
    memory: Memory,
    today: date,
    shipped: ShippedTests,
    statements: Statements | None = None,
) -> Iterator[Examination]:
    """Examine the files, ordered by file name, so that the runs of an adapter are checked together.

    Args:
        memory: earlier results. A result counts if it comes from this version or the version that wrote the report.
        shipped: returns the tests in this version's suite.
        statements: the signed statements on reports.
    """
    sources = sorted(sources, key=lambda source: source.name.rpartition("/")[2])
    cores = os.cpu_count() or 1
    size = max(CHUNK, len(sources) // (8 * cores))
    chunks = [sources[at : at + size] for at in range(0, len(sources), size)]
    one = partial(_examine_chunk, memory=memory, today=today, shipped=shipped, statements=statements or {})
    workers = min(len(chunks), cores)
    if workers < 2:
        for chunk in chunks:
            yield from one(chunk)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        try:
            for found in pool.map(one, chunks):
                yield from found
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _examine_chunk(
    sources: Sequence[ReportSource], memory: Memory, today: date, shipped: ShippedTests, statements: Statements
) -> list[Examination]:
    found = [Examination(source, "", (source.refusal,)) for source in sources if source.refusal]
    blobs = [source for source in sources if source.blob and not source.refusal]
    one = partial(_examine, memory=memory, today=today, shipped=shipped, known={}, statements=statements)
    for source in (source for source in sources if not source.blob):
        try:
            found.append(one(source, read_contents(source.path)))
        except ReportError as error:
            found.append(Examination(source, "", (error.why,)))
    return [*found, *(one(source, data) for source, data in read_sources(blobs))]


def _examine(
    source: ReportSource,
    data: bytes,
    *,
    memory: Memory,
    today: date,
    shipped: ShippedTests,
    known: ContradictionCache,
    statements: Statements,
) -> Examination:
    own, sha256 = json_report.software_versions()[PACKAGE], hashlib.sha256(data).hexdigest()
    try:
        document = parse_report(source.path, data)
        started = start_of(document)
        started = (started if started.tzinfo else started.replace(tzinfo=UTC)).astimezone(UTC)
    except ReportError as error:
        return Examination(source, sha256, (error.why,))
    except (ValueError, OverflowError):
        return Examination(source, sha256, (f"{document['started_at']} is not a valid time",))
    result = memory.get(sha256)
    if result is None or result["kit"] not in (own, document["environment"].get(PACKAGE)):
        found = find_faults_in(document, data, min(started.date(), today), shipped, known)
        result = {"kit": own, "faults": found}
    faults = tuple(result["faults"])
    run = None if faults else _make_run(source, started, document, _signer(document, statements))
    return Examination(source, sha256, faults, run, result if started.date() <= today else None)


def _signer(document: Mapping[str, Any], statements: Statements) -> str:
    """Return the signer of a statement on a report, or an empty text."""
    said = statements.get(document["sha256"], ())
    payload = intoto.render(document).encode("utf-8", "backslashreplace") if said else b""
    return next((signer for each, signer in said if each == payload), "")


def _make_run(source: ReportSource, started: datetime, document: Mapping[str, Any], signer: str) -> SiteRun:
    entries = document["requirements"]
    return SiteRun(
        source,
        started,
        {key: document[key] for key in FACTS if key in document},
        "\n".join(f"{entry['component']} {entry['id']} {entry['level']}" for entry in entries),
        "\n".join(entry["status"] for entry in entries),
        signer,
    )


FACTS = (
    "adapter", "commit", "complete", "components", "environment", "level", "sha256", "spec", "started_at", "verdict",
)  # fmt: skip


@lru_cache(maxsize=512)
def _requirements(shape: str) -> tuple[Mapping[str, str], ...]:
    rows = (line.split(" ") for line in shape.split("\n") if line)
    return tuple({"component": component, "id": name, "level": level, "text": ""} for component, name, level in rows)


FORMAT = "1.0"

WORST = ("violated", "not_assessed", "deviated", "satisfied", "not_applicable")
"""The statuses of a feature (a chapter of a component), worst first."""

_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9](?:[a-z0-9._:-]{0,62}[a-z0-9])?")
"""Names that every system accepts as a file name if colons are replaced."""


def build_index(examined: Iterable[Examination]) -> tuple[dict[str, Any], dict[str, list[SiteRun]]]:
    """Return the data, and the runs of each adapter by its slug, oldest first. Identical reports count once."""
    once = {each.file_sha256 or each.source.name: each for each in reversed(list(examined))}
    runs: dict[str, list[SiteRun]] = {}
    refused = []
    for each in once.values():
        if each.run:
            runs.setdefault(str(each.run.facts["adapter"]["name"]), []).append(each.run)
        else:
            refused.append({"file": each.source.name, "sha256": each.file_sha256, "why": list(each.faults)})
    for name, found in runs.items():
        signed = min(((run.started, run.signer) for run in found if run.signer), default=None)
        owner = signed[1] if signed else ""  # the signer of the earliest signed run
        refused += [
            {"file": run.source.name, "sha256": run.facts["sha256"], "why": [FOREIGN.format(printable(name), owner)]}
            for run in found
            if run.signer != owner
        ]
        found[:] = [run for run in found if run.signer == owner]
    named = {name: sorted(runs[name], key=lambda run: (run.started, run.facts["sha256"])) for name in sorted(runs)}
    document = {
        "format": FORMAT,
        "kind": "site",
        "adapters": [_adapter_entry(name, found) for name, found in named.items()],
        "refused": sorted(refused, key=lambda each: (str(each["file"]), str(each["sha256"]))),
    }
    return document, {make_slug(name): found for name, found in named.items()}


FOREIGN = "the name {} belongs to {}, who did not sign this report"


def make_slug(name: str) -> str:
    """Return a folder name for an adapter: its name with ``~`` for colons. A digest is added for other characters.

    The folder name depends on the name only, so addresses do not change when adapters are added.
    """
    if _PLAIN.fullmatch(name) and not re.search("-[0-9a-f]{16}$", name):
        return name.replace(":", "~")
    plain = re.sub("[^a-z0-9]+", "-", name.lower())[:40].strip("-")
    return f"{plain or 'adapter'}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


def _adapter_entry(name: str, runs: Sequence[SiteRun]) -> dict[str, Any]:
    listed = [_run_entry(run, _previous_run(run, runs[:number])) for number, run in enumerate(runs)]
    place = f"adapters/{make_slug(name)}"
    newest = runs[-1].facts
    components = {}
    for component in TITLES:
        if run := next((run for run in reversed(runs) if component in run.facts["components"]), None):
            part = run.facts["components"][component]
            components[component] = {
                "verdict": part["verdict"],
                "must": count_musts([part]),
                "started_at": _time_text(run),
                "features": _features(run, component),
            }
    return {
        "name": name,
        "slug": make_slug(name),
        "page": f"{place}/index.html",
        "report": f"{place}/report.json",
        "badge": f"{place}/badge.svg",
        "verdict": newest["verdict"],
        **({"owner": runs[-1].signer} if runs[-1].signer else {}),
        "components": components,
        **{key: newest["adapter"][key] for key in ("server", "version") if key in newest["adapter"]},
        "runs": listed,
    }


def count_musts(parts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the numbers of satisfied and of applicable MUSTs in some components of a report."""
    totals = [part["totals"]["must"] for part in parts]
    return {
        "satisfied": sum(each["satisfied"] for each in totals),
        "applicable": sum(view.count_applicable(each) for each in totals),
    }


def _previous_run(run: SiteRun, earlier: Sequence[SiteRun]) -> SiteRun | None:
    """Return the latest earlier run that tested one of the same components, or None."""
    own = set(run.facts["components"])
    return next((each for each in reversed(earlier) if own.intersection(each.facts["components"])), None)


def _run_entry(run: SiteRun, before: SiteRun | None) -> dict[str, Any]:
    facts = run.facts
    row: dict[str, Any] = {
        "started_at": _time_text(run),
        "sha256": facts["sha256"],
        "verdict": facts["verdict"],
        "components": [name for name in TITLES if name in facts["components"]],
        "must": count_musts(facts["components"].values()),
        "kit": facts["environment"].get("pytest-corpus", ""),
        **({"commit": facts["commit"]} if "commit" in facts else {}),
    }
    if before:
        row |= {"before": {"sha256": before.facts["sha256"], "verdict": before.facts["verdict"]}}
        same = (before.shape, before.statuses, before.facts["verdict"]) == (run.shape, run.statuses, facts["verdict"])
        kinds, why = ({}, []) if same else compare_requirements(before.document(), run.document(), facts["level"])
        named = {
            kind: [f"{each['component']}/{each['id']}" for each in found] for kind, found in kinds.items() if found
        }
        row |= {"changes": named, "regression": why}
    return row


def _features(run: SiteRun, component: str) -> dict[str, str]:
    """Return, for each chapter of a component, the worst status of its MUSTs."""
    found: dict[str, set[str]] = {}
    for entry in run.document()["requirements"]:
        if entry["component"] == component and entry["level"] == "MUST":
            found.setdefault(view.chapter_title(entry["id"]), set()).add(entry["status"])
    return {chapter: min(statuses, key=WORST.index) for chapter, statuses in found.items()}


def _time_text(run: SiteRun) -> str:
    return run.started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iterate_turning_points(index: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each run that changed the verdict or is a regression, with its adapter, newest first."""
    found = [
        (adapter, run)
        for adapter in index["adapters"]
        for run in adapter["runs"]
        if "before" in run and (run["before"]["verdict"] != run["verdict"] or run["regression"])
    ]
    yield from sorted(found, key=lambda pair: (pair[1]["started_at"], pair[1]["sha256"]), reverse=True)
