"""Verdicts computed again from a transcript; an edited transcript or attestation is recognised."""

import copy
import hashlib
import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command, run_command
from inner_runs import WRAPPED, without_times
from recording import FAULTY, FEW, lines_of, record
from served_adapters import served

from pytest_corpus.commands import judge
from pytest_corpus.reports import json_report

Lines = list[dict[str, Any]]


def first(lines: Lines, kind: str, has: str = "kind") -> int:
    """The place of the first line of a kind that has a member."""
    return next(place for place, line in enumerate(lines) if line["kind"] == kind and line.get(has))


def counts(line: dict[str, Any]) -> bool:
    """True for a call of `count_tokens` that was answered, wrongly."""
    return line.get("request", {}).get("op") == "llm.count_tokens" and "result" in line["frames"][0]["body"]


def counting(lines: Lines) -> dict[str, Any]:
    """The first of these calls."""
    return next(filter(counts, lines))


def put(line: dict[str, Any], **members: Any) -> None:
    line.update(members)


def without_test(lines: Lines) -> None:
    """Leave out a test with all of its exchanges, as if it had never run."""
    last = first(lines, "test")
    lines[:] = [line for line in lines if line.get("test") != lines[last]["test"]]


DEVIATION = f"""
[[deviation]]
requirement = "LLM-TOKENS-1"
reason = "agreed"
removal_plan = "next release"
expires = {date.today() + timedelta(days=30)}
"""

EDITS: dict[str, Callable[[Lines], object]] = {
    "answer": lambda lines: put(counting(lines)["frames"][0]["body"], result=3),
    "answers": lambda lines: [put(line["frames"][0]["body"], result=3) for line in lines if counts(line)],
    "no answer": lambda lines: counting(lines)["frames"].clear(),
    "request": lambda lines: put(counting(lines)["request"]["args"], text="another"),
    "entry point": lambda lines: put(counting(lines), entry_point="handle_stream"),
    "fault": lambda lines: put(counting(lines), fault={"kind": "timeout", "text": "no answer"}),
    "later": lambda lines: put(counting(lines), at=counting(lines)["at"] + 0.0001),
    "backwards": lambda lines: put(lines[first(lines, "exchange") + 2], at=1.0),
    "duration": lambda lines: put(counting(lines), elapsed_s=9.0),
    "observations": lambda lines: put(counting(lines), observations=[]),
    "calls of the provider": lambda lines: put(counting(lines), arrivals=[], provider_calls=0),
    "removed": lambda lines: lines.pop(first(lines, "exchange")),
    "doubled": lambda lines: lines.insert(first(lines, "exchange"), copy.deepcopy(lines[first(lines, "exchange")])),
    "swapped": lambda lines: lines.insert(1 + first(lines, "exchange"), lines.pop(first(lines, "exchange"))),
    "in another test": lambda lines: put(lines[first(lines, "exchange")], test="llm/test_x.py::test_y"),
    "a test removed": lambda lines: lines.pop(first(lines, "test")),
    "a test never run": without_test,
    "outcome": lambda lines: put(lines[first(lines, "test", "findings")], outcome="satisfied", findings=[]),
    "readings": lambda lines: put(lines[first(lines, "test", "readings")], readings={}),
    "seed": lambda lines: put(lines[0], seed=8),
    "run": lambda lines: put(lines[0], run="0000000000"),
    "date": lambda lines: put(lines[0], started_at="2020-01-01T00:00:00+00:00"),
    "options": lambda lines: put(lines[0]["options"], requirement="COM-CAP-*"),
    "profile": lambda lines: put(lines[0]["options"], profile="stress"),
    "edition": lambda lines: put(lines[0]["options"], edition="2.0"),
    "capabilities of the header": lambda lines: put(lines[0]["adapters"][0]["capabilities"]["llm"], models=[]),
    "deviations": lambda lines: put(lines[0], deviations=DEVIATION),
    "catalogue": lambda lines: put(lines[0], catalogue="0.1"),
    "the package": lambda lines: put(lines[0], **{"pytest-corpus": "0.0.1"}),
    "call limit": lambda lines: put(lines[0], call_timeout_s=0.001),
    "story": lambda lines: put(
        lines[first(lines, "test", "findings")]["findings"][0], story={"said": "2", "exchanges": [1]}
    ),
    "format": lambda lines: put(lines[0], format="2.0"),
    "no header": lambda lines: lines.pop(0),
    "label": lambda lines: put(lines[1], adapter="another"),
    "capabilities": lambda lines: put(lines[1]["capabilities"]["llm"], supports_count_tokens=False),
    "no adapter": lambda lines: lines.pop(1),
    "totals": lambda lines: put(lines[first(lines, "totals")]["calls"], llm=1),
    "end": lambda lines: lines.pop(),
    "cut off": lambda lines: lines.__delitem__(slice(len(lines) // 2, None)),
    "appended": lambda lines: lines.append(copy.deepcopy(lines[first(lines, "exchange")])),
    "digest": lambda lines: put(lines[-1], sha256="0" * 64),
}
"""Edits of a transcript, by name."""

DEEP = (
    "answers", "no answer", "request", "fault", "removed", "a test never run", "seed", "run", "date", "options",
    "profile", "capabilities of the header", "deviations", "catalogue", "the package", "label", "capabilities",
    "totals", "cut off",
)  # fmt: skip
"""Edits that are also made with every number, count and digest put right, in the attestation as well."""


def write(folder: Path, lines: Lines, *, resealed: bool) -> None:
    """Write a transcript; `resealed`: its numbers, counts and digest are put right."""
    if resealed:
        held: dict[tuple[Any, ...], int] = {}
        for number, line in enumerate(lines, 1):
            of = tuple(line.get(name) for name in ("adapter", "test", "repetition"))
            held[of] = held.get(of, 0) + (line["kind"] == "exchange")
            line["n"] = number
            if line["kind"] == "test":
                line["exchanges"] = held[of]
            elif line["kind"] == "end":
                line |= {"lines": number - 1, "exchanges": sum(held.values())}
                line["sha256"] = hashlib.sha256(text(lines[: number - 1])).hexdigest()
    (folder / "t.jsonl").write_bytes(text(lines))


def text(lines: Lines) -> bytes:
    return "".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines).encode()


def seal(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the attestation, and put its digest right."""
    report = json.loads((folder / "r.json").read_text("utf-8"))
    change(report)
    json_report.write_report(json_report.add_digest(report), folder / "r.json")


@pytest.fixture
def pair(recorded: Path, tmp_path: Path) -> Path:
    """A copy of the transcript and the attestation."""
    return Path(shutil.copytree(recorded, tmp_path / "pair"))


def recognised(code: int, err: str, *, many: bool = False) -> None:
    """The command ended with 1 or 2, and said why in a sentence."""
    said = [line for line in err.splitlines() if line.startswith("pytest-corpus")]
    assert code in (1, 2), err
    assert said if many else len(said) == 1, err
    assert "Traceback" not in err


@pytest.mark.parametrize("resealed", [False, True], ids=["plainly", "resealed"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_transcript(pair: Path, edit: str, resealed: bool) -> None:
    """It does not agree with itself, or with the digest in the attestation."""
    lines = lines_of(pair / "t.jsonl")
    EDITS[edit](lines)
    write(pair, lines, resealed=resealed and edit != "digest")
    ended = call_command("judge", pair / "t.jsonl", "--attestation", pair / "r.json")
    recognised(ended.code, ended.err)


@pytest.mark.slow
@pytest.mark.parametrize("edit", DEEP)
def test_an_edited_transcript_that_the_attestation_names(pair: Path, edit: str) -> None:
    """Its answers do not give the statuses of the attestation, or its requests are not those of the suite."""
    lines = lines_of(pair / "t.jsonl")
    EDITS[edit](lines)
    write(pair, lines, resealed=True)
    sha256 = hashlib.sha256((pair / "t.jsonl").read_bytes()).hexdigest()
    seal(pair, lambda report: report["transcript"].update(sha256=sha256))
    ended = run_command("judge", "t.jsonl", "--attestation", "r.json", cwd=pair)
    recognised(ended.code, ended.err, many=True)


def at(report: dict[str, Any], status: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in report["requirements"] if entry["status"] == status)
    return found


REPORT: dict[str, Callable[[dict[str, Any]], object]] = {
    "status": lambda report: put(at(report, "violated"), status="satisfied"),
    "reason": lambda report: put(at(report, "not_assessed"), reason="no time"),
    "finding": lambda report: put(at(report, "violated")["tests"][0], outcome="satisfied"),
    "a requirement removed": lambda report: report["requirements"].pop(),
    "totals": lambda report: put(report["components"]["llm"]["totals"]["must"], violated=0),
    "verdict": lambda report: put(report, verdict="conformant"),
    "complete": lambda report: put(report, complete=True, gaps=[]),
    "level": lambda report: put(report, level="should"),
    "seed": lambda report: put(report, seed=8),
    "date": lambda report: put(report, started_at="2020-01-01T00:00:00+00:00"),
    "run": lambda report: put(report, runs=["0000000000"]),
    "capabilities": lambda report: put(report["capabilities"]["llm"], supports_count_tokens=False),
    "adapter": lambda report: put(report["adapter"], name="another"),
    "server": lambda report: put(report["adapter"], server="another"),
    "another transcript": lambda report: put(report["transcript"], sha256="0" * 64),
    "no transcript": lambda report: report.pop("transcript"),
}
"""Edits of an attestation, by name."""


@pytest.fixture(scope="module")
def judged(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report that the unchanged transcript gives."""
    path = tmp_path_factory.mktemp("judged") / "j.json"
    ended = run_command("judge", "t.jsonl", "--attestation", "r.json", "--report", path, cwd=recorded)
    assert "pytest-corpus judge" not in ended.err
    return path


@pytest.mark.parametrize("sealed", [False, True], ids=["plainly", "sealed"])
@pytest.mark.parametrize("edit", REPORT)
def test_an_edited_attestation(
    pair: Path, judged: Path, edit: str, sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its digest is another one, or the transcript does not show what it says."""

    def run_pytest(_command: str, _passed: list[str], folder: Path, _output: object) -> int:
        shutil.copy(judged, folder / "attestation.json")
        return 1

    monkeypatch.setattr(judge, "run_pytest", run_pytest)
    if sealed:
        seal(pair, REPORT[edit])
    else:
        report = json.loads((pair / "r.json").read_text("utf-8"))
        REPORT[edit](report)
        (pair / "r.json").write_text(json_report.render(report), "utf-8")
    ended = call_command("judge", pair / "t.jsonl", "--attestation", pair / "r.json")
    recognised(ended.code, ended.err, many=sealed)


def test_swapped_files(recorded: Path, pair: Path) -> None:
    """Neither file can be taken for the other."""
    for one, other in (("r.json", "t.jsonl"), ("t.jsonl", "t.jsonl"), ("r.json", "r.json")):
        ended = call_command("judge", pair / one, "--attestation", recorded / other)
        recognised(ended.code, ended.err)


REFERENCE = "pytest_corpus.reference:llm"


def compared(folder: Path, code: int, transcript: str = "t.jsonl") -> None:
    """The transcript shows what the report says."""
    ended = run_command("judge", transcript, "--attestation", "r.json", "--report", "j.json", cwd=folder, CI="true")
    assert ended.code == code, ended
    assert "judge:" not in ended.err
    judged, claimed = (without_times(json.loads((folder / name).read_text())) for name in ("j.json", "r.json"))
    del claimed["transcript"]
    assert judged == claimed


@pytest.mark.parametrize(("adapter", "few", "more", "code"), [
    (REFERENCE, "LLM-STREAM-*,COM-WIRE-*,COM-OBS-*", (), 0),
    ("mine:Counts", FEW, ("-n", "2"), 1),
    ("mine:Counts", FEW, ("--corpus-strict", "--corpus-repeat=2"), 1),
], ids=["reference", "faulty", "repeated"])  # fmt: skip
def test_the_report_is_the_same(tmp_path: Path, adapter: str, few: str, more: tuple[str, ...], code: int) -> None:
    """But for its dates and digest, also if several processes ran the tests."""
    (tmp_path / "mine.py").write_text(WRAPPED + FAULTY)
    assert record(tmp_path, adapter, few, *more).returncode == code
    compared(tmp_path, code)


def test_an_address_need_not_be_there(tmp_path: Path) -> None:
    """A run against an address is judged after the server has ended."""
    with served(REFERENCE) as (place, _):
        ended = record(tmp_path, f"a=http://{place}/", "LLM-STREAM-*,COM-WIRE-*,TRA-*", "--corpus-components=llm")
    assert ended.returncode == 0, ended.stdout
    compared(tmp_path, 0)


def test_declared_deviations_are_those_of_the_run(tmp_path: Path) -> None:
    """The judge applies what the run was given, whatever lies in the current folder by then."""
    (tmp_path / "mine.py").write_text(WRAPPED + FAULTY)
    declared = tmp_path / "corpus-deviations.toml"
    reason = 'reason = "a known fault"\nremoval_plan = "release 2"\nexpires = 2999-01-01\n'
    declared.write_text("".join(f'[[deviation]]\nrequirement = "LLM-TOKENS-{n}"\n{reason}' for n in range(1, 9)))
    ended = record(tmp_path, "mine:Counts", FEW)
    declared.unlink()
    assert '"deviated"' in (tmp_path / "r.json").read_text()
    compared(tmp_path, ended.returncode)


def test_json_and_a_part(recorded: Path, tmp_path: Path) -> None:
    """The differences are in the JSON document, and what a killed run lost is not assessed."""
    lines = (recorded / "t.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "t.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    ended = run_command("judge", "t.jsonl", "--format", "json", cwd=tmp_path)
    (report,) = json.loads(ended.out)["attestations"]
    assert report["complete"] is False
    assert any("the transcript was cut off" in gap for gap in report["gaps"])


@pytest.mark.parametrize("content", [None, "", "{}", "[]\n", "\x00\x01", '{"n":1,"kind":"header","format":"9"}\n'])
def test_a_file_that_is_not_a_transcript(tmp_path: Path, content: str | None) -> None:
    """One sentence and exit code 2."""
    for name in ("t.jsonl", "t.jsonl.gz"):
        if content is not None:
            (tmp_path / name).write_text(content)
        ended = call_command("judge", tmp_path / name)
        assert ended.code == 2, ended
        assert len(ended.err.splitlines()) == 1
