"""The files of the site, from the attestations that were examined."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.reports import formats, json_report
from pytest_corpus.reports.difference import Earlier
from pytest_corpus.reports.site import feed, pages
from pytest_corpus.reports.site.examination import Examined, Memory, Run
from pytest_corpus.reports.site.sources import texts

MEMORY = "data/verified.json"


def remembered(folder: Path) -> Memory | None:
    """The results that an earlier site in a folder holds; None if there is no site."""
    try:
        known = json.loads((folder / MEMORY).read_text(encoding="utf-8"))
        return {
            sha256: {"kit": str(each["kit"]), "faults": [str(fault) for fault in each["faults"]]}
            for sha256, each in known["verified"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def files(
    index: Mapping[str, Any], runs: Mapping[str, list[Run]], examined: Iterable[Examined], address: str
) -> Iterator[tuple[str, str]]:
    """The path and the text of each file of the site."""
    for entry in index["adapters"]:
        yield from _adapter(entry, runs[entry["slug"]])
    yield "index.html", pages.overview(index)
    yield "refused.html", pages.refused(index)
    yield "feed.xml", feed.render(index, address)
    yield "data/index.json", json_report.render(index)
    known = {each.file_sha256: each.result for each in examined if each.result is not None}
    yield MEMORY, json_report.render({"format": "1.0", "verified": known})


def _adapter(entry: Mapping[str, Any], runs: list[Run]) -> Iterator[tuple[str, str]]:
    place, newest = f"adapters/{entry['slug']}", runs[-1]
    ((_, data),) = texts([newest.source])
    report = json_report.parsed(data)
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
