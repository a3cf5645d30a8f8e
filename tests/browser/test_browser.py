"""The HTML pages in a real Chromium: filtered, searched, switched, printed, looked at, and accessible (axe-core)."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import bundle_pages
import pytest
from cli_runs import run_process

from pytest_corpus.reports import formats, json_report, matrix
from pytest_corpus.reports.difference import EarlierReport
from pytest_corpus.spec.requirements import applicable_requirements, chapter_titles
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord
from pytest_corpus.verdict.verdict import decide

HOSTILE = "<script>document.title = 'taken'</script>"
COMPONENTS = ("llm", "graph")


def report(name: str, **odd: str) -> dict[str, Any]:
    """A report on two components in which some requirements end oddly: `odd` is an outcome by an index."""
    found = Ledger(name, COMPONENTS, {"llm": {"server": HOSTILE, "version": "1"}})
    for component in COMPONENTS:
        for number, entry in enumerate(applicable_requirements(component)):
            outcome = odd.get(f"at_{number}", "satisfied")
            findings = (Finding(entry.id, "this", HOSTILE, "result.x"),) if outcome == "violated" else ()
            reason = "capabilities deny it" if outcome == "not_applicable" else "why"
            test = TestRecord(name, component, entry.id, f"{component}/t.py::{entry.id}", outcome, reason)  # type: ignore[arg-type]
            test = replace(test, findings=findings)
            found.expected.add(test.key)
            found.add_run(test)
            found.add_report(test, agrees=True)
    run = json_report.RunFacts("2026-01-01T00:00:00+00:00", 5.0, 0, "must", None, "a" * 40, {"name": "Jenkins"})
    return json_report.build_report(found, decide(found), run)


@cache
def faulty() -> dict[str, Any]:
    return report("faulty", at_0="violated", at_3="not_assessed", at_5="not_applicable")


@cache
def page_of(name: str) -> str:
    """A page: that of a report, or of a matrix of reports."""
    if name == "report":
        return formats.render(
            faulty(), ".html", earlier=EarlierReport.of(report("faulty", at_0="violated", at_1="violated"))
        )
    given = [("a.json", report("fine")), ("b.json", faulty()), ("c.json", report(HOSTILE)), ("d.json", faulty())]
    links = [file.replace(".json", ".html") for file, _ in given]
    return formats.render(matrix.build_matrix(given, links=links), ".html", formats.MATRIX_FORMATS)


PAGES = ("report", "matrix")


@pytest.fixture(scope="session", params=PAGES)
def seen(request: pytest.FixtureRequest, tools: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The view of a reader of a page, as `look.mjs` tells it, with the page's name and the folder of the pictures."""
    browser, folder = tools
    shown = tmp_path_factory.mktemp(request.param)
    page = shown / "page.html"
    page.write_text(page_of(request.param), encoding="utf-8")
    done = run_process("node", "look.mjs", browser, page, shown, cwd=folder)
    return {**json.loads(done.stdout), "page": request.param, "folder": shown}


def test_no_error_and_no_network(seen: dict[str, Any]) -> None:
    """The console stays empty, the content policy is never broken, and nothing is fetched."""
    assert seen["console"] == []
    assert seen["requests"] == []


def test_accessible(seen: dict[str, Any]) -> None:
    """axe-core finds nothing serious or critical, at both widths, in both themes, with a row opened."""
    assert len(seen["violations"]) >= 4
    assert {name: found for name, found in seen["violations"].items() if found} == {}


def test_nothing_is_wider_than_the_screen(seen: dict[str, Any]) -> None:
    """At 1280 and at 390 pixels nobody has to scroll sideways."""
    assert seen["widths"] == {"1280": 1280, "390": 390}


def test_filters(seen: dict[str, Any]) -> None:
    """Each value of each filter shows just the rows of that value, and reset shows all again."""
    entries = faulty()["requirements"]
    found = seen["filtered"]
    assert found["all"] == found["reset"] == len(entries)
    for name, of in (("component", "component"), ("level", "level")):
        counted = Counter(entry[of] for entry in entries)
        assert {value: number for value, number in found[name].items() if number} == counted
    chapters = Counter(chapter_titles()[entry["id"]] for entry in entries)
    assert found["chapter"] == chapters
    statuses = Counter(entry["status"] for entry in entries)
    if seen["page"] == "matrix":  # in two of the four reports every requirement is satisfied
        statuses["satisfied"] = len(entries)
    assert {value: number for value, number in found["status"].items() if number} == statuses


def test_search(seen: dict[str, Any]) -> None:
    """A search leaves the rows that have its words, says how many, and hides chapters without any."""
    found = seen["filtered"]
    assert set(found["search"]) >= {"COM-WIRE-1", "COM-WIRE-10"}
    assert found["said"] == f"{len(found['search'])} of {found['all']} requirements"
    assert (found["nothing"], found["groups"]) == (0, 0)


def test_since(seen: dict[str, Any]) -> None:
    """The page can be filtered by what became of a requirement since an earlier run: fixed, or violated still."""
    if seen["page"] == "report":
        assert seen["filtered"]["change"] == {"same": len(COMPONENTS), "new": 0, "fixed": len(COMPONENTS)}


def test_links_open_what_they_lead_to(seen: dict[str, Any]) -> None:
    """A source leads to its passage, which is unfolded; a cell of the matrix opens and leads to the report."""
    if seen["page"] == "report":
        assert seen["passage"] == {"visible": True, "heading": faulty()["requirements"][0]["source"][0]}
    else:
        assert seen["cell"].startswith("b.html#llm-")


def test_themes(seen: dict[str, Any]) -> None:
    """The switch turns the page dark, and the choice is kept when it is opened again."""
    before, after, again = seen["themes"]
    assert (before["name"], after["name"]) == ("", "dark")
    assert before["ground"] != after["ground"]
    assert again == after


def test_rows_open(seen: dict[str, Any]) -> None:
    """A row of the report opens with the keyboard."""
    assert seen.get("opened", 1) == 1


def test_printed(seen: dict[str, Any]) -> None:
    """On paper there are all rows and no controls."""
    assert seen["printed"] == {"controls": 0, "rows": seen["filtered"]["all"]}
    assert (seen["folder"] / "page.pdf").read_bytes().startswith(b"%PDF-")
    assert seen["pdf"] > 10_000


def test_pictures(seen: dict[str, Any]) -> None:
    """There is a picture at 1280 and at 390 pixels, in both themes."""
    for width in (1280, 390):
        for theme in ("light", "dark"):
            assert (seen["folder"] / f"{width}-{theme}.png").stat().st_size > 5_000


def test_the_pages_hold_the_hostile_name() -> None:
    """The pages that were opened did have the hostile text in them, as text."""
    for page in map(page_of, PAGES):
        assert HOSTILE not in page
        assert HOSTILE in unescape(page)


BUNDLES = {
    "variants": lambda: bundle_pages.page({"short/small": 0.95, "long/small": 0.5}, 40),
    "many": lambda: bundle_pages.page({"": 0.9}, 5_000),
}


@pytest.mark.parametrize(("name", "themes"), [("variants", ["light", "dark"]), ("many", ["light"])])
def test_bundles(name: str, themes: list[str], tools: tuple[str, Path], tmp_path: Path) -> None:
    """The table of cases is filtered, searched, sorted and unfolded; 5,000 cases with their answers load at once."""
    browser, folder = tools
    (tmp_path / "page.html").write_text(BUNDLES[name](), encoding="utf-8")
    done = run_process("node", "cases.mjs", browser, tmp_path / "page.html", tmp_path, *themes, cwd=folder)
    seen = json.loads(done.stdout)
    assert (seen["console"], seen["requests"]) == ([], [])
    assert {where: found for where, found in seen["violations"].items() if found} == {}
    assert seen["widths"] == {"1280": 1280, "390": 390}
    total = {"variants": 40, "many": 5_000}[name]
    assert seen["first"] == [f"{total} of {total} cases", min(total, 100)]
    assert seen["more"] == min(total, 200)
    assert 0 < int(seen["failed"].split()[0]) < total
    assert 0 < int(seen["searched"].split()[0]) < int(seen["failed"].split()[0])
    assert seen["reset"] == f"{total} of {total} cases"
    assert [seen[way][0] for way in ("ascending", "descending")] == ["ascending", "descending"]
    if name == "many":
        assert float(seen["ascending"][1]) < float(seen["descending"][1])
        assert "taken" not in seen["title"]
        assert seen["loaded"] < 10_000  # under one second on a free machine
    assert bundle_pages.HOSTILE in seen["details"]
    assert min(seen["parts"]) >= 1
