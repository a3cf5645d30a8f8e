"""`pytest-corpus report`: merge, diff, verify, badge and render, as a user meets them."""

import json
import random
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ledgers import MUSTS, RUN, SHOULDS, ledger, record, violation
from sound import DAY, sound, violated, written
from tables import read_json_rows

from pytest_corpus import cli
from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.verification import find_faults
from pytest_corpus.spec.requirements import chapter_titles
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.deviations import Deviation
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide


def built(found: Ledger | None = None, name: str = "a") -> dict[str, Any]:
    found = found or ledger()
    found.adapter = name
    return json_report.build_report(found, decide(found), RUN)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with reports: fine, faulty, partial."""
    monkeypatch.chdir(tmp_path)
    json_report.write_report(written(sound()), tmp_path / "fine.json")
    json_report.write_report(written(sound({MUSTS[0].id: violated(MUSTS[0].id)}, name="b")), tmp_path / "faulty.json")
    json_report.write_report(built(ledger(missing=(MUSTS[0].id,)), "c"), tmp_path / "partial.json")
    return tmp_path


def changed(path: Path, **members: Any) -> None:
    """Change members of a report and seal it again."""
    json_report.write_report(json_report.add_digest({**json.loads(path.read_text()), **members}), path)


def run(*given: str) -> int:
    return cli.main(["report", *given])


def test_verify_accepts_what_a_run_wrote(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report as it was written is whole and unaltered."""
    for name in ("fine.json", "faulty.json"):
        assert run("check", name) == 0
        assert capsys.readouterr().out == f"{name}: whole and unaltered\n"
    assert run("check", "fine.json", "--format=json") == 0
    assert json.loads(capsys.readouterr().out) == {"file": "fine.json", "valid": True, "faults": []}


def test_any_change_of_one_character_is_found(here: Path) -> None:
    """Whichever character of a report is changed, dropped, doubled or added, `verify` finds it."""
    original = (here / "fine.json").read_bytes()
    seeded = random.Random(5)
    target = here / "changed.json"
    places = [*seeded.sample(range(len(original)), 60), 0, len(original) - 1, original.index(b'"sha256": "') + 20]
    for place in places:
        before, char, after = original[:place], original[place : place + 1], original[place + 1 :]
        other = bytes([seeded.choice([byte for byte in b'0aA "},[\n-' if bytes([byte]) != char])])
        for data in (before + other + after, before + after, before + char + b" " + char + after):
            target.write_bytes(data)
            assert find_faults(target, DAY, inventory.tests), (place, char, other)


@pytest.mark.parametrize(("members", "said"), [
    ({"verdict": "nonconformant"}, "the verdict is nonconformant, but its components make conformant"),
    ({"complete": False, "gaps": ["x"], "verdict": "partial"}, "the run was not complete, so there is no verdict: x"),
    ({"requirements": []}, f"llm: {len(MUSTS) + len(SHOULDS)} requirements missing: COM-WIRE-1"),
    ({"level": "never"}, "level: "),
    ({"surprise": 1}, "surprise"),
    ({"spec": {**built()["spec"], "catalogue": "9.9"}}, "it is of catalogue 9.9"),
], ids=["verdict", "partial", "requirements", "level", "member", "catalogue"])  # fmt: skip
def test_verify_says_what_is_wrong(
    here: Path, capsys: pytest.CaptureFixture[str], members: dict[str, Any], said: str
) -> None:
    """A report that contradicts itself is refused even where its sha256 fits, each fault on a line."""
    changed(here / "fine.json", **members)
    assert run("check", "fine.json") == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("fine.json: ") for line in lines)
    assert any(said in line for line in lines)


def test_verify_recounts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A status that was turned from violated to satisfied shows in the numbers and in the verdict."""
    report = json.loads((here / "faulty.json").read_text())
    for entry in report["requirements"]:
        entry["status"] = "satisfied"
    changed(here / "faulty.json", requirements=report["requirements"])
    assert run("check", "faulty.json") == 1
    said = capsys.readouterr().out
    assert "llm: 1 MUST are said to be violated, 0 are" in said
    assert "llm: the verdict is nonconformant, but its statuses make conformant" in said


def test_deviations_expire(here: Path) -> None:
    """A report stands until the day on which a deviation of it expires, and no day longer."""
    name = MUSTS[0].id
    declared = Deviation(name, "a reason", "a plan", date(2025, 6, 30))
    path = here / "deviating.json"
    json_report.write_report(written(sound({name: violated(name)}), [declared]), path)
    assert find_faults(path, date(2025, 6, 30), inventory.tests) == []
    (fault,) = find_faults(path, date(2025, 7, 1), inventory.tests)
    assert fault == f"llm: the deviation from {name} expired on 2025-06-30"


WRONG = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\xff", "is not UTF-8 at byte 1"),
    "no json": (b"hello", "expected a JSON value at line 1, column 1"),
    "cut short": (b'{"verdict": "conf', "ends in the middle of the JSON document, after 17 bytes"),
    "list": (b"[]", "is not a report of pytest-corpus"),
    "other json": (b'{"name": "x"}', "is not a report of pytest-corpus"),
    "older": (b'{"verdict": "x", "requirements": [], "format": "0.9"}', "is a report of format 0.9, and this version"),
    "no sha256": (b'{"verdict": "x", "requirements": [], "format": "1.0"}', "has no sha256"),
    "broken": (b'{"verdict": "x", "requirements": [], "format": "1.0", "sha256": "0"}', "is not a sound report: "),
    "deep": (b"[" * 100_000, "is nested deeper than 200 levels"),
    "twice": (b'{"verdict": 1, "verdict": 2}', "verdict appears twice in one object"),
    "nan": (b'{"verdict": NaN}', "verdict is not finite"),
    "huge": (b'{"verdict": 1e999}', "verdict is not finite"),
    "digits": (b'{"verdict": ' + b"1" * 5000 + b"}", "verdict is not finite"),
    "surrogate": (b'{"verdict": "\\ud800"}', "a lone surrogate"),
}


@pytest.mark.parametrize("case", WRONG)
def test_files_that_are_no_reports(here: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    """Each command refuses them in one line with the file and the reason; `verify` finds a fault of the file."""
    data, said = WRONG[case]
    (here / "bad.json").write_bytes(data)
    for action in (("merge",), ("diff", "fine.json"), ("badge",), ("render", "-o", "x.md")):
        assert run(*action, "bad.json") == 2
        shown = capsys.readouterr()
        assert (shown.out, shown.err.count("\n")) == ("", 1)
        assert shown.err.startswith(f"pytest-corpus report {action[0]}: bad.json: ")
        assert said in shown.err
        assert not (here / "x.md").exists()
    assert run("check", "bad.json") == 1
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("given", "said"), read_json_rows(Path(__file__).with_name("report_mistakes.txt")))
def test_what_cannot_be(here: Path, capsys: pytest.CaptureFixture[str], given: list[str], said: str) -> None:
    """A path that makes no sense is a usage error of one line."""
    (here / "folder.md").mkdir()
    assert run(*given) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert said in shown.err


def test_merge(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The matrix has a column for each report, in order, a row for each requirement, grouped by chapter."""
    assert run("merge", "fine.json", "faulty.json", "partial.json", "-o", "m.json") == 0
    assert capsys.readouterr().out == "written: m.json\n"
    found = json.loads((here / "m.json").read_text())
    verdicts = {each["label"]: each["verdict"] for each in found["reports"]}
    assert verdicts == {"a": "conformant", "b": "nonconformant", "c": "partial"}
    rows = {row["id"]: (chapter, row) for chapter in found["chapters"] for row in chapter["rows"]}
    assert len(rows) == len(MUSTS) + len(SHOULDS)
    assert all(chapter_titles()[name] == chapter["chapter"] for name, (chapter, _) in rows.items())
    _, first = rows[MUSTS[0].id]
    assert first["statuses"] == ["satisfied", "violated", "not_assessed"]
    fine, faulty, partial = first["cells"]
    assert fine is None
    assert faulty["findings"]
    assert partial["reason"]
    assert [each["link"] for each in found["reports"]] == ["fine.json", "faulty.json", "partial.json"]
    assert found["reports"][1]["totals"]["must"]["violated"] == 1


def test_a_matrix_leads_to_the_pages_of_its_reports(here: Path) -> None:
    """If the page of a report lies beside it, the matrix leads there, from whatever folder it is in."""
    assert run("render", "faulty.json", "-o", "faulty.html") == 0
    (here / "out").mkdir()
    assert run("merge", "fine.json", "faulty.json", "-o", "out/m.html") == 0
    page = (here / "out" / "m.html").read_text()
    assert 'href="../fine.json"' in page
    assert f'href="../faulty.html#{MUSTS[0].components[0]}-{MUSTS[0].id}"' in page


@pytest.mark.parametrize(("new", "old", "said"), [
    ("faulty", "fine", "UTC: 1 newly violated.</p>"),
    ("fine", "faulty", "UTC: 1 fixed.</p>"),
    ("faulty", "faulty", 'data-change="same"'),
    ("fine", "fine", "UTC: nothing changed.</p>"),
])  # fmt: skip
def test_since_an_earlier_report(here: Path, new: str, old: str, said: str) -> None:
    """A page shows what is newly violated, still violated and fixed since another report."""
    assert run("render", f"{new}.json", "-o", "x.html", "--since", f"{old}.json") == 0
    assert said in (here / "x.html").read_text()


def test_merge_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file the part that is not satisfied is printed as Markdown, or all of it as JSON."""
    assert run("merge", "fine.json", "faulty.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# Corpus Protocol 1.0: conformance matrix"
    assert "| `b` | ❌ not conformant, 1 MUST violated | not conformant |" in lines
    assert [line for line in lines if " | MUST | " in line] == [f"| {MUSTS[0].id} | MUST | ✓ | ✗ |"]
    assert lines[-1].startswith("What every adapter satisfies is left out")
    assert run("merge", "fine.json", "faulty.json", "--format=json") == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "matrix"


def test_merge_of_adapters_with_one_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Adapters of one name are told apart by their file, and the same file twice by number."""
    json_report.write_report(built(), here / "again.json")
    assert run("merge", "fine.json", "again.json", "again.json", "--format=json") == 0
    labels = [each["label"] for each in json.loads(capsys.readouterr().out)["reports"]]
    assert labels == ["a (fine.json)", "a (again.json) #1", "a (again.json) #2"]


def test_merge_of_different_catalogues(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reports of different catalogue versions are refused, unless that is allowed; missing places stay empty."""
    changed(here / "faulty.json", spec={**built()["spec"], "catalogue": "0.9"}, requirements=[])
    assert run("merge", "fine.json", "faulty.json", "-o", "m.html") == 2
    assert "different catalogue versions (a of 1.0, b of 0.9); --allow-mixed" in capsys.readouterr().err
    assert not (here / "m.html").exists()
    assert run("merge", "fine.json", "faulty.json", "--format=json", "--allow-mixed") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["catalogues"] == ["0.9", "1.0"]
    assert {tuple(row["statuses"]) for chapter in found["chapters"] for row in chapter["rows"]} == {("satisfied", None)}


def difference(here: Path, old: Ledger | None, new: Ledger | None, capsys: Any) -> tuple[int, dict[str, Any]]:
    """The exit code of `diff`, and what it found."""
    json_report.write_report(built(old), here / "old.json")
    json_report.write_report(built(new), here / "new.json")
    return run("diff", "old.json", "new.json", "--format=json"), json.loads(capsys.readouterr().out)


def test_nothing_changed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Between equal reports there is no difference."""
    code, found = difference(here, None, None, capsys)
    assert (code, found["regression"]) == (0, False)
    assert not any(value for value in found.values() if isinstance(value, list))
    assert run("diff", "old.json", "new.json") == 0
    assert capsys.readouterr().out == "verdict: conformant\nno regression\n"


@pytest.mark.parametrize("entry", [MUSTS[0], SHOULDS[0]], ids=["MUST", "SHOULD"])
def test_a_new_violation_is_a_regression(here: Path, capsys: pytest.CaptureFixture[str], entry: Any) -> None:
    """A new violation fails the command if it fails a run; the other way it is fixed."""
    code, found = difference(here, None, ledger(violation(entry)), capsys)
    assert (code, [each["id"] for each in found["newly_violated"]]) == (int(entry.level == "MUST"), [entry.id])
    code, found = difference(here, ledger(violation(entry)), None, capsys)
    assert (code, [each["id"] for each in found["fixed"]]) == (0, [entry.id])


def test_a_worse_verdict_is_a_regression(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verdict that is worse because less is assessed fails the command; a partial run too."""
    code, found = difference(here, None, ledger(record(MUSTS[0], "not_assessed")), capsys)
    assert (code, [each["id"] for each in found["no_longer_satisfied"]]) == (1, [MUSTS[0].id])
    code, found = difference(here, None, ledger(missing=(MUSTS[0].id,)), capsys)
    assert (code, found["why"]) == (1, ["the verdict is partial and was conformant"])
    code, found = difference(here, ledger(missing=(MUSTS[0].id,)), None, capsys)
    assert (code, [each["id"] for each in found["changed"]]) == (0, [MUSTS[0].id])


def test_added_and_gone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A requirement that only one report has is added or gone; one that is added and violated is a regression."""
    changed(here / "fine.json", requirements=built()["requirements"][1:])
    assert run("diff", "fine.json", "faulty.json", "--format=json") == 1
    found = json.loads(capsys.readouterr().out)
    first = built()["requirements"][0]["id"]
    assert [each["id"] for each in found["added"]] == [first]
    assert [each["id"] for each in found["newly_violated"]] == [MUSTS[0].id]
    json_report.write_report(built(), here / "whole.json")
    assert run("diff", "whole.json", "fine.json") == 0
    assert f"gone: 1\n  {first} (MUST, LLM): satisfied -> not in the new report" in capsys.readouterr().out


def test_a_component_that_is_no_longer_tested(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A component that is left out is a regression, even where the verdict stays."""
    json_report.write_report(built(), here / "whole.json")
    changed(here / "fine.json", components={}, requirements=[])
    assert run("diff", "whole.json", "fine.json") == 1
    assert capsys.readouterr().out.endswith("regression: LLM no longer tested\n")


def test_badge(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The badge is printed, or written in the format of its suffix."""
    assert run("badge", "faulty.json") == 0
    assert capsys.readouterr().out == "Corpus Protocol 1.0: not conformant, 1 MUST violated: LLM\n"
    assert run("badge", "faulty.json", "--format=json") == 0
    assert json.loads(capsys.readouterr().out)["color"] == "red"
    assert run("badge", "faulty.json", "-o", "x.svg") == 0
    assert run("badge", "faulty.json", "-o", "x.badge.json", "--format=json") == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2]) == {"written": "x.badge.json"}
    assert "<title>Corpus Protocol 1.0: not conformant, 1 MUST violated: LLM</title>" in (here / "x.svg").read_text()


def test_render(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report rendered again as JSON is the same file; as any other format it is written whole."""
    for suffix in (".json", ".md", ".html", ".intoto.json"):
        assert run("render", "fine.json", "-o", f"x{suffix}") == 0
    assert (here / "x.json").read_bytes() == (here / "fine.json").read_bytes()
    assert {path.name for path in here.iterdir() if path.name.startswith(".")} == set()
    assert capsys.readouterr().err == ""


def test_an_altered_report_is_told_of(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report that was altered is rendered as altered, with a warning, and never as conformant."""
    (here / "fine.json").write_text((here / "fine.json").read_text().replace('"seed": 7', '"seed": 8'))
    assert run("badge", "fine.json") == 0
    shown = capsys.readouterr()
    assert shown.out == "Corpus Protocol 1.0: altered\n"
    assert shown.err == "warning: fine.json: its sha256 does not match its content; it was altered\n"


def test_as_a_process(here: Path) -> None:
    """The command ends with its exit code and without a traceback, and loads neither pytest nor hypothesis."""
    code = (
        "import sys; from pytest_corpus.cli import main; ended = main(sys.argv[1:]);"
        "print([name for name in ('pytest', 'hypothesis', 'jsonschema') if name in sys.modules], file=sys.stderr);"
        "sys.exit(ended)"
    )
    command = [sys.executable, "-c", code, "report", "diff", "fine.json", "faulty.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    assert (done.returncode, done.stderr) == (1, "[]\n")


def test_the_level_of_a_regression(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `--level=must` a SHOULD that is newly violated is told and fails nothing."""
    for entry, codes in ((SHOULDS[0], [1, 0]), (MUSTS[0], [1, 1])):
        difference(here, None, ledger(violation(entry)), capsys)
        for level, code in zip(("should", "must"), codes, strict=True):
            assert run("diff", "old.json", "new.json", f"--level={level}") == code
            assert "newly violated: 1" in capsys.readouterr().out


def test_merging_editions_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A matrix of reports that different editions judged says so, in each format and on stderr."""
    monkeypatch.chdir(tmp_path)
    one = written(sound(name="one"))
    spec = {**one["spec"], "edition": {**one["spec"]["edition"], "name": "2.0"}}
    two = json_report.add_digest({**one, "adapter": {**one["adapter"], "name": "two"}, "spec": spec})
    for name, document in (("one", one), ("two", two)):
        json_report.write_report(document, tmp_path / f"{name}.json")
    for output in ("m.md", "m.html", "m.json"):
        assert run("merge", "one.json", "two.json", "-o", output) == 0
        assert "different editions of the requirements: one by 1.0, two by 2.0" in capsys.readouterr().err
    assert "different editions" in (tmp_path / "m.md").read_text()
    assert "different editions" in (tmp_path / "m.html").read_text()
    assert run("merge", "one.json", "one.json") == 0
    assert "different editions" not in capsys.readouterr().err
