"""Verify attestations, in several processes, and keep the part of each that the site shows."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from multiprocessing import get_context
from typing import Any

from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.coherence import Known
from pytest_corpus.reports.checking.reconstruction import PACKAGE, Shipped, start_of
from pytest_corpus.reports.checking.verification import faults_in
from pytest_corpus.reports.reading import ReportError, contents, parsed
from pytest_corpus.reports.site.sources import Source, texts

CHUNK = 64  # the sources that a process examines at a time, at least

Memory = Mapping[str, Mapping[str, Any]]
"""The results of earlier verifications by the SHA-256 of the file: `{"kit": version, "faults": [...]}`."""


@dataclass(frozen=True, slots=True)
class Run:
    """The part of a verified attestation that the site shows.

    Attributes:
        source: the attestation.
        started: the start of the run, in UTC.
        facts: members of the report as they stand there.
        shape: the component, id and level of each requirement, one a line.
        statuses: the status of each, one a line.
    """

    source: Source
    started: datetime
    facts: Mapping[str, Any]
    shape: str
    statuses: str

    def document(self) -> dict[str, Any]:
        """The report, with the members that comparing needs."""
        pairs = zip(_requirements(self.shape), self.statuses.split("\n"), strict=True)
        return {**self.facts, "requirements": [{**entry, "status": status} for entry, status in pairs]}


@dataclass(frozen=True, slots=True)
class Examined:
    """The result for one source: a run, or the reasons why it is refused.

    Attributes:
        file_sha256: the digest of all its bytes; empty if it cannot be read.
        result: the result to remember; None if it may be different on another day.
    """

    source: Source
    file_sha256: str
    faults: tuple[str, ...] = ()
    run: Run | None = None
    result: Mapping[str, Any] | None = None


def examine(sources: Sequence[Source], memory: Memory, today: date, shipped: Shipped) -> Iterator[Examined]:
    """Each source with its result, by file name, so that the runs of an adapter are verified together.

    Args:
        memory: earlier results. One counts if this version found it, or the version that wrote the report did.
        shipped: the tests that the suite of this version has.
    """
    sources = sorted(sources, key=lambda source: source.name.rpartition("/")[2])
    cores = os.cpu_count() or 1
    size = max(CHUNK, len(sources) // (8 * cores))
    chunks = [sources[at : at + size] for at in range(0, len(sources), size)]
    one = partial(_chunk, memory=memory, today=today, shipped=shipped)
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


def _chunk(sources: Sequence[Source], memory: Memory, today: date, shipped: Shipped) -> list[Examined]:
    found, blobs = [], [source for source in sources if source.blob]
    one = partial(_examined, memory=memory, today=today, shipped=shipped, known={})
    for source in (source for source in sources if not source.blob):
        try:
            found.append(one(source, contents(source.path)))
        except ReportError as error:
            found.append(Examined(source, "", (error.why,)))
    return [*found, *(one(source, data) for source, data in texts(blobs))]


def _examined(source: Source, data: bytes, *, memory: Memory, today: date, shipped: Shipped, known: Known) -> Examined:
    own, sha256 = json_report.environment()[PACKAGE], hashlib.sha256(data).hexdigest()
    try:
        document = parsed(source.path, data)
        started = start_of(document)
        started = (started if started.tzinfo else started.replace(tzinfo=UTC)).astimezone(UTC)
    except ReportError as error:
        return Examined(source, sha256, (error.why,))
    except (ValueError, OverflowError):
        return Examined(source, sha256, (f"{document['started_at']} is not a valid time",))
    result = memory.get(sha256)
    if result is None or result["kit"] not in (own, document["environment"].get(PACKAGE)):
        found = faults_in(document, data, min(started.date(), today), shipped, known)
        result = {"kit": own, "faults": found}
    faults = tuple(result["faults"])
    run = None if faults else _run(source, started, document)
    return Examined(source, sha256, faults, run, result if started.date() <= today else None)


def _run(source: Source, started: datetime, document: Mapping[str, Any]) -> Run:
    entries = document["requirements"]
    return Run(
        source,
        started,
        {key: document[key] for key in FACTS if key in document},
        "\n".join(f"{entry['component']} {entry['id']} {entry['level']}" for entry in entries),
        "\n".join(entry["status"] for entry in entries),
    )


FACTS = (
    "adapter", "commit", "complete", "components", "environment", "level", "sha256", "spec", "started_at", "verdict",
)  # fmt: skip


@lru_cache(maxsize=512)
def _requirements(shape: str) -> tuple[Mapping[str, str], ...]:
    rows = (line.split(" ") for line in shape.split("\n") if line)
    return tuple({"component": component, "id": name, "level": level, "text": ""} for component, name, level in rows)
