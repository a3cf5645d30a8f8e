"""`pytest-corpus judge`: the verdict of a run, computed again from its transcript."""

import json
from pathlib import Path

import pytest
from cli_runs import called, ran
from inner_runs import WRAPPED, without_times
from recording import FAULTY, FEW, record
from served_adapters import served

REFERENCE = "pytest_corpus.reference:llm"


def compared(folder: Path, code: int, transcript: str = "t.jsonl") -> None:
    """The transcript shows what the report says."""
    ended = ran("judge", transcript, "--attestation", "r.json", "-o", "j.json", cwd=folder, CI="true")
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
    ended = ran("judge", "t.jsonl", "--format", "json", cwd=tmp_path)
    (report,) = json.loads(ended.out)["attestations"]
    assert report["complete"] is False
    assert any("the transcript was cut off" in gap for gap in report["gaps"])


@pytest.mark.parametrize("content", [None, "", "{}", "[]\n", "\x00\x01", '{"n":1,"kind":"header","format":"9"}\n'])
def test_a_file_that_is_not_a_transcript(tmp_path: Path, content: str | None) -> None:
    """One sentence and exit code 2."""
    for name in ("t.jsonl", "t.jsonl.gz"):
        if content is not None:
            (tmp_path / name).write_text(content)
        ended = called("judge", tmp_path / name)
        assert ended.code == 2, ended
        assert len(ended.err.splitlines()) == 1
