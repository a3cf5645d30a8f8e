"""The files of the site, built from the examined attestations, with an Atom feed of changes (RFC 4287)."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pytest_corpus.reports import formats, json_report
from pytest_corpus.reports.difference import KINDS, Earlier
from pytest_corpus.reports.site import pages
from pytest_corpus.reports.site.index import Examined, Memory, SiteRun, turning_points
from pytest_corpus.reports.site.sources import texts
from pytest_corpus.reports.text import VERDICT_WORDS, count, printable
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.evidence import first_flaw

MOST = 100  # entries
NONE = ("1970-01-01T00:00:00Z", "")  # the time and the digest of a feed without entries


def render(index: Mapping[str, Any], address: str) -> str:
    """Render the feed.

    Args:
        address: the address of the site, which makes links absolute; may be empty.
    """
    entries = list(islice(turning_points(index), MOST))
    times = [(run["started_at"], run["sha256"]) for adapter in index["adapters"] for run in adapter["runs"]]
    first, newest = min(times, default=NONE), max(times, default=NONE)
    listed = "".join(_entry(adapter, run, address) for adapter, run in entries)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>{_id(address or first[1])}</id>
<title>Corpus Protocol v1.0 conformance: changes</title>
<updated>{newest[0]}</updated>
<author><name>pytest-corpus</name></author>
<link rel="self" type="application/atom+xml" href="{_text(address)}feed.xml"/>
<link rel="alternate" type="text/html" href="{_text(address)}index.html"/>
{listed}</feed>
"""


def _entry(adapter: Mapping[str, Any], run: Mapping[str, Any], address: str) -> str:
    said = VERDICT_WORDS[run["verdict"]]
    if (was := VERDICT_WORDS[run["before"]["verdict"]]) != said:
        said += f" (was {was})"
    lines = [f"regression: {why}" for why in run["regression"]]
    lines += [f"{count(len(names), 'requirement')} {KINDS[kind]}" for kind, names in run["changes"].items()]
    return f"""<entry>
<id>{_id(adapter["slug"] + run["sha256"])}</id>
<title>{_text(f"{adapter['name']}: {said}")}</title>
<updated>{run["started_at"]}</updated>
<link rel="alternate" type="text/html" href="{_text(address + adapter["page"])}"/>
<summary>{_text("; ".join(lines) or said)}</summary>
</entry>
"""


def _id(name: str) -> str:
    """Return a URN that depends on the name only."""
    return f"urn:uuid:{uuid5(NAMESPACE_URL, name)}"


def _text(value: str) -> str:
    return escape(printable(value), quote=True)


MEMORY = "data/verified.json"
MOST_REMEMBERED = 64 * 2**20  # bytes of that file


def read_memory(folder: Path) -> Memory | None:
    """Return the results that an earlier site in a folder contains; None without an earlier site."""
    try:
        known = bounded.read_document(folder / MEMORY, MOST_REMEMBERED)
    except bounded.FileRefused:
        return None
    verified: Memory | None = None if first_flaw("report/verified", known) else known["verified"]
    return verified


def files(
    index: Mapping[str, Any], runs: Mapping[str, list[SiteRun]], examined: Iterable[Examined], address: str
) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of the site."""
    for entry in index["adapters"]:
        yield from _adapter(entry, runs[entry["slug"]])
    yield "index.html", pages.overview(index)
    yield "refused.html", pages.refused(index)
    yield "feed.xml", render(index, address)
    yield "data/index.json", json_report.render(index)
    known = {each.file_sha256: each.result for each in examined if each.result is not None}
    yield MEMORY, json_report.render({"format": "1.0", "verified": known})


def _adapter(entry: Mapping[str, Any], runs: list[SiteRun]) -> Iterator[tuple[str, str]]:
    place, newest = f"adapters/{entry['slug']}", runs[-1]
    ((_, data),) = texts([newest.source])
    report = json_report.parse_canonical(data)
    before = next(
        (run for run in runs if run.facts["sha256"] == entry["runs"][-1].get("before", {}).get("sha256")), None
    )
    earlier = Earlier.of(before.document()) if before else None
    badge = formats.render(report, ".svg")
    yield f"{place}/index.html", pages.adapter(entry, badge)
    yield f"{place}/report.html", formats.render(report, ".html", earlier=earlier)
    yield f"{place}/report.json", data.decode()
    yield f"{place}/badge.svg", badge
    yield f"{place}/badge.json", formats.render(report, ".badge.json")
