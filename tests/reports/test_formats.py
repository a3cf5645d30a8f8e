"""Every format is a function of the JSON document, and none says more than the document does."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from ledgers import ALL, MUSTS, RUN, SHOULDS, ledger, ledgers, record, violation

from pytest_corpus.reports import formats, json_report, view
from pytest_corpus.reports.reading import schema_flaws
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

FEW = settings(max_examples=25)


def built(found: Ledger, level: str = "must") -> dict[str, Any]:
    return json_report.build_report(found, decide(found, level), RUN)


def deviating() -> dict[str, Any]:
    """A report with a declared deviation, as one with deviations is written."""
    report = built(ledger())
    (entry,) = [entry for entry in report["requirements"] if entry["id"] == MUSTS[0].id]
    entry["status"] = "deviated"
    entry["deviation"] = {"reason": "old provider", "removal_plan": "upgrade", "issue": "T-1", "expires": "2030-01-31"}
    totals = report["components"]["llm"]["totals"]["must"]
    totals["satisfied"], totals["deviated"] = totals["satisfied"] - 1, 1
    report["components"]["llm"]["verdict"] = report["verdict"] = "conformant_with_deviations"
    return json_report.add_digest(report)


EXAMPLES = {
    "conformant": built(ledger()),
    "deviating": deviating(),
    "incomplete": built(ledger(record(MUSTS[0], "not_assessed", keyword="metrics", reason="no keyword"))),
    "nonconformant": built(ledger(violation(MUSTS[0]), violation(SHOULDS[0]))),
    "partial": built(ledger(missing=(MUSTS[0].id,))),
}


@pytest.mark.parametrize(("name", "suffix"), [
    ("r.json", ".json"),
    ("r.intoto.json", ".intoto.json"),
    ("R.BADGE.JSON", ".badge.json"),
    ("r.x.svg", ".svg"),
    ("r.txt", None),
    (".json", None),
    (".intoto.json", ".json"),
    ("json", None),
])  # fmt: skip
def test_the_longest_suffix_wins(name: str, suffix: str | None) -> None:
    """The suffix decides, the longest that fits, and a file has a name before it."""
    assert formats.suffix_of(name) == suffix


@FEW
@given(ledgers())
def test_the_schema_accepts_every_report(found: Ledger) -> None:
    """`schemas/report/report.schema.json` describes whatever is built."""
    assert schema_flaws(built(found)) == []


def test_the_schema_is_closed() -> None:
    """A member that the schema does not know is refused, at every level."""
    paths = ((), ("adapter",), ("spec",), ("components", "llm"), ("requirements", 0), ("requirements", 0, "tests", 0))
    for path in paths:
        report = json.loads(json.dumps(EXAMPLES["nonconformant"]))
        inner = report
        for part in path:
            inner = inner[part]
        inner["surprise"] = 1
        assert schema_flaws(report)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("suffix", formats.FORMATS)
def test_the_same_document_gives_the_same_bytes(example: str, suffix: str) -> None:
    """Rendering is pure: the document stays as it is, and twice is the same; read back from its file it is too."""
    document = EXAMPLES[example]
    before = json_report.render(document)
    text = formats.render(document, suffix)
    assert text == formats.render(json.loads(before), suffix)
    assert json_report.render(document) == before
    assert text.endswith("\n")


@FEW
@given(ledgers())
def test_every_format_renders_every_report(found: Ledger) -> None:
    """There is no report that a format cannot show, and a partial one claims nothing in any."""
    document = built(found)
    for suffix in formats.FORMATS:
        text = formats.render(document, suffix)
        if not document["complete"] and suffix != ".json":
            assert "Behavioral Conformant" not in text
            assert "PASSED" not in text
            assert "brightgreen" not in text
    if not document["complete"]:
        assert "no verdict" in formats.render(document, ".md").splitlines()[0]
        assert "No verdict" in formats.render(document, ".html")
        assert ": no verdict</title>" in formats.render(document, ".svg")


@pytest.mark.parametrize(("example", "message", "color"), [
    ("conformant", "conformant: LLM", "brightgreen"),
    ("deviating", "conformant with 1 deviation: LLM", "yellow"),
    ("incomplete", "incomplete, 1 MUST not assessed: LLM", "yellow"),
    ("nonconformant", "not conformant, 1 MUST violated: LLM", "red"),
    ("partial", "no verdict", "lightgrey"),
])  # fmt: skip
def test_badges(example: str, message: str, color: str) -> None:
    """The badge says the verdict and of what; only one without reservation is green; the picture says the same."""
    badge = json.loads(formats.render(EXAMPLES[example], ".badge.json"))
    assert (badge["schemaVersion"], badge["label"]) == (1, "Corpus Protocol 1.0")
    assert (badge["message"], badge["color"]) == (message, color)
    picture = ElementTree.fromstring(formats.render(EXAMPLES[example], ".svg"))
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == f"Corpus Protocol 1.0: {message}"
    assert [each.text for each in picture.iter("{http://www.w3.org/2000/svg}title")] == [picture.get("aria-label")]


@pytest.mark.parametrize(
    ("example", "result"), list(zip(EXAMPLES, ["PASSED", "WARNED", "WARNED", "FAILED", "FAILED"], strict=True))
)
def test_the_statement(example: str, result: str) -> None:
    """An in-toto Statement v1 on the adapter, with the digest of the report, and each requirement at most once."""
    document = EXAMPLES[example]
    statement = json.loads(formats.render(document, ".intoto.json"))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert statement["subject"] == [{"name": "a", "digest": {"sha256": document["sha256"]}}]
    predicate = statement["predicate"]
    assert predicate["result"] == result
    lists = [predicate[name] for name in ("passedTests", "warnedTests", "failedTests")]
    names = [name for each in lists for name in each]
    assert len(names) == len(set(names))
    applicable = {f"llm/{entry['id']}" for entry in document["requirements"] if entry["status"] != "not_applicable"}
    assert set(names) == applicable
    assert all(set(each) & {"uri", "digest", "content"} for each in predicate["configuration"])


def test_a_should_fails_the_statement_only_where_it_counts() -> None:
    """A violated SHOULD is a warning, and a failure with --corpus-level=should."""
    found = ledger(violation(SHOULDS[0]))
    name = f"llm/{SHOULDS[0].id}"
    for level, where in (("must", "warnedTests"), ("should", "failedTests")):
        document = json_report.build_report(
            found, decide(found, level), json_report.RunFacts("2026-01-01T00:00:00Z", 1, 0, level, None)
        )
        assert json.loads(formats.render(document, ".intoto.json"))["predicate"][where] == [name]


@pytest.mark.parametrize("example", EXAMPLES)
def test_numbers_stand_beside_each_other(example: str) -> None:
    """No format gives a share alone: there is no percentage, and satisfied / applicable has its company."""
    document = EXAMPLES[example]
    for suffix in (".md", ".html", ".svg", ".badge.json"):
        text = formats.render(document, suffix).partition("<body>")[2] or formats.render(document, suffix)
        assert "%" not in text.replace("data:image/svg+xml,%3C", "")
    (row, _) = view.level_numbers(document, "llm")
    table = formats.render(document, ".md")
    assert (
        f"| MUST | {row.satisfied} / {row.applicable} | {row.violated} | {row.deviated} | {row.not_assessed} |" in table
    )
    assert row.satisfied + row.violated + row.deviated + row.not_assessed == row.applicable


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_altered_document_has_no_verdict(example: str) -> None:
    """If the sha256 does not fit the content every format says so, and none is green."""
    document = {**EXAMPLES[example], "seed": 8}
    assert "altered" in formats.render(document, ".md").splitlines()[0]
    assert "Altered" in formats.render(document, ".html")
    assert json.loads(formats.render(document, ".badge.json"))["message"] == "altered"
    assert json.loads(formats.render(document, ".intoto.json"))["predicate"]["result"] == "FAILED"


def test_the_attestation_follows_the_template() -> None:
    """BEHAVIORAL_CONFORMANCE 12: headline, components, commit, CI run, notes."""
    told = {"name": "GitHub Actions", "id": "7", "url": "https://github.com/me/mine/actions/runs/7"}
    run = json_report.RunFacts("2026-01-01T00:00:00Z", 1, 0, "must", None, "a" * 40, told, "ci", ("COV_FAIL_UNDER=80",))
    found = ledger()
    lines = formats.render(json_report.build_report(found, decide(found), run), ".md").splitlines()
    assert lines[0] == "## ✅ Corpus Protocol (v1.0) — Behavioral Conformant"
    assert "- **Components:** LLM" in lines
    assert f"- **Commit:** `{'a' * 40}`" in lines
    assert "- **CI Run:** `GitHub Actions 7` <https://github.com/me/mine/actions/runs/7>" in lines
    assert "  - All suites ran unmodified and whole." in lines
    assert any("COV" in line and "80" in line for line in lines)


def test_a_deviation_is_shown_everywhere() -> None:
    """Reason, removal plan and expiry of a deviation stand in every format for people."""
    for suffix in (".md", ".html"):
        text = formats.render(EXAMPLES["deviating"], suffix)
        for said in ("old provider", "upgrade", "T-1", "2030-01-31", MUSTS[0].id):
            assert said in text


def test_every_requirement_is_on_the_page() -> None:
    """The HTML report has one row for each requirement, whatever its status."""
    assert formats.render(EXAMPLES["nonconformant"], ".html").count('<details class="row"') == len(ALL)


def test_the_page_has_the_times_of_each_operation() -> None:
    """A column for each doubling of the time, and the times within which half of the calls and all of them ended."""
    found = ledger()
    found.add_calls({"llm": 5}, {}, {"llm.complete 2048": 1, "llm.complete 8": 3, "llm.health 1": 1})
    document = built(found)
    assert schema_flaws(document) == []
    complete, health = view.operation_times(document)
    assert (complete.op, complete.calls, complete.half, complete.every) == ("llm.complete", 4, "8 ms", "2.05 s")
    assert complete.heights == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0.333]
    assert health.heights == [1, *[0] * 11]
    page = formats.render(document, ".html")
    assert "4 calls: half within 8 ms, all within 2.05 s" in page
    assert page.count("<rect x=") >= 3
    assert "Response times" not in formats.render(built(ledger()), ".html")


@pytest.mark.parametrize(("got", "shown"), [
    ("3 items <b>", "<mark>3</mark> items<mark> &lt;b&gt;</mark>"),
    ("an error of class BadRequest", "an error of class BadRequest"),
])  # fmt: skip
def test_what_differs_is_marked_by_word(got: str, shown: str) -> None:
    """Unless the two texts have too little in common; foreign text stays text."""
    found = replace(violation(MUSTS[0]), findings=(Finding(MUSTS[0].id, "4 items", got),))
    assert f"<code>{shown}</code>" in formats.render(built(ledger(found)), ".html")
