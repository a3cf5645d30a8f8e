"""Builds the files of the site from the verified attestations, with an Atom feed of changes (RFC 4287)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pytest_corpus.reports import formats, json_report
from pytest_corpus.reports.difference import EarlierReport
from pytest_corpus.reports.html.page import render_template
from pytest_corpus.reports.site import pages
from pytest_corpus.reports.site.index import Examination, Memory, SiteRun, iterate_turning_points
from pytest_corpus.reports.site.sources import read_sources
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.evidence import first_flaw

MOST = 100  # the most entries of the feed
NONE = ("1970-01-01T00:00:00Z", "")  # the time and the digest of a feed without entries


def render_feed(index: Mapping[str, Any], address: str) -> str:
    """Return the feed as XML.

    Args:
        address: the address of the site, which makes links absolute; may be empty.
    """
    times = [(run["started_at"], run["sha256"]) for adapter in index["adapters"] for run in adapter["runs"]]
    return render_template(
        "feed.xml",
        address=address,
        first=min(times, default=NONE),
        newest=max(times, default=NONE),
        entries=islice(iterate_turning_points(index), MOST),
        urn=lambda name: f"urn:uuid:{uuid5(NAMESPACE_URL, name)}",
    )


MEMORY = "data/verified.json"
MOST_REMEMBERED = 64 * 2**20  # the largest size of the file, in bytes


def read_memory(folder: Path) -> Memory | None:
    """Return the verification results that an earlier site in a folder contains; None without an earlier site."""
    try:
        known = bounded.read_document(folder / MEMORY, MOST_REMEMBERED)
    except bounded.FileRefused:
        return None
    verified: Memory | None = None if first_flaw("report/verified", known) else known["verified"]
    return verified


def render_files(
    index: Mapping[str, Any], runs: Mapping[str, list[SiteRun]], examined: Iterable[Examination], address: str
) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of the site."""
    for entry in index["adapters"]:
        yield from _adapter_files(entry, runs[entry["slug"]])
    yield "index.html", pages.render_overview(index)
    yield "refused.html", pages.render_refused(index)
    yield "feed.xml", render_feed(index, address)
    yield "data/index.json", json_report.render(index)
    known = {each.file_sha256: each.result for each in examined if each.result is not None}
    yield MEMORY, json_report.render({"format": "1.0", "verified": known})


def _adapter_files(entry: Mapping[str, Any], runs: list[SiteRun]) -> Iterator[tuple[str, str]]:
    place, newest = f"adapters/{entry['slug']}", runs[-1]
    ((_, data),) = read_sources([newest.source])
    report = json_report.parse_canonical(data)
    before = next(
        (run for run in runs if run.facts["sha256"] == entry["runs"][-1].get("before", {}).get("sha256")), None
    )
    earlier = EarlierReport.of(before.document()) if before else None
    badge = formats.render(report, ".svg")
    yield f"{place}/index.html", pages.render_adapter(entry, badge)
    yield f"{place}/report.html", formats.render(report, ".html", earlier=earlier)
    yield f"{place}/report.json", data.decode()
    yield f"{place}/badge.svg", badge
    yield f"{place}/badge.json", formats.render(report, ".badge.json")
