"""`--corpus-transcript`: one file for a run, written as it happens, masked, and named by the attestation."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import pytest
from cli_runs import run_command
from inner_runs import REFERENCE, WRAPPED
from recording import FAULTY, FEW, KEY, lines_of, record

from pytest_corpus import resources
from pytest_corpus.evidence.recorder import Recorder
from pytest_corpus.evidence.transcript import Transcript, read
from pytest_corpus.validation.sealed_lines import Writer


def test_the_lines_of_a_run(recorded: Path) -> None:
    """A header, each exchange and test, the totals, and a last line with count and digest."""
    path = recorded / "t.jsonl"
    lines = lines_of(path)
    header, last = lines[0], lines[-1]
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert (header["kind"], header["seed"], header["options"]["requirement"]) == ("header", 7, FEW)
    assert header["adapters"][0]["capabilities"]["llm"]["server"]
    *before, _ = path.read_bytes().splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(before)).hexdigest()
    exchanges = sum(line["kind"] == "exchange" for line in lines)
    assert (last["lines"], last["exchanges"], last["sha256"]) == (len(before), exchanges, digest)
    assert sum(line["kind"] == "test" for line in lines) > 20
    report = json.loads((recorded / "r.json").read_text())
    assert report["transcript"] == {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_each_line_is_of_the_schema(recorded: Path) -> None:
    """`schemas/transcript/transcript.schema.json` describes each line, and no line with another member."""
    import jsonschema_rs

    schema = resources.folder("schemas") / "transcript" / "transcript.schema.json"
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text("utf-8")))
    lines = lines_of(recorded / "t.jsonl")
    kinds = {line["kind"] for line in lines}
    assert kinds == {"header", "adapter", "exchange", "test", "totals", "end"}
    for line in lines:
        assert [str(error) for error in validator.iter_errors(line)] == []
        assert not validator.is_valid({**line, "surprise": 1})
        assert not validator.is_valid({key: value for key, value in line.items() if key not in ("kind", "n")})


def test_secrets_are_masked_and_the_rerun_line_records_nothing(recorded: Path) -> None:
    """A key of the environment that the adapter logs is not in the file, although its log record is."""
    text = (recorded / "t.jsonl").read_text()
    assert "the key is " in text
    assert KEY not in text
    shown = (recorded / "out.txt").read_text()
    rerun = [line for line in shown.splitlines() if "rerun:" in line]
    assert rerun
    assert not any("transcript" in line for line in rerun)
    assert f"transcript: {recorded / 't.jsonl'}" in shown


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["alone", "workers"])
def test_gzip_and_workers(tmp_path: Path, more: tuple[str, ...]) -> None:
    """One file with the tests of every process, compressed if its name ends so."""
    (tmp_path / "mine.py").write_text(WRAPPED + FAULTY)
    record(tmp_path, "mine:Counts", FEW, "--corpus-transcript=t.jsonl.gz", *more)
    assert [path.name for path in tmp_path.glob("*.gz")] == ["t.jsonl.gz"]
    found = read(tmp_path / "t.jsonl.gz")
    assert found.complete
    assert {trace.process for trace in found.tests.values()} == ({"gw0", "gw1"} if more else {""})
    lines = [json.loads(line) for line in gzip.decompress((tmp_path / "t.jsonl.gz").read_bytes()).splitlines()]
    assert sum(line["kind"] == "exchange" for line in lines) == lines[-1]["exchanges"]


def test_words_of_the_format_stay(tmp_path: Path) -> None:
    """A secret that is a word of the format is masked in content, and the file can still be read and judged."""
    (tmp_path / "mine.py").write_text(WRAPPED + FAULTY)
    record(tmp_path, "mine:Counts", FEW, ACME_API_KEY="exchange", OTHER_TOKEN="frames", THIRD_SECRET="handle")
    assert read(tmp_path / "t.jsonl").complete
    assert "the key is exchange" not in (tmp_path / "t.jsonl").read_text()
    assert "judge:" not in run_command("judge", "t.jsonl", "--attestation", "r.json", cwd=tmp_path).err


def test_secrets_in_bytes() -> None:
    """A secret within bytes that are written in base64 is masked there."""
    hidden = base64.b64encode(b"\xff the key is " + KEY.encode() + b".").decode()
    line = Recorder("", [KEY]).encode_line({"kind": "exchange", "answer": {"pieces": [{"data": {"base64": hidden}}]}})
    shown = json.loads(line)["answer"]["pieces"][0]["data"]["base64"]
    assert base64.b64decode(shown) == b"\xff the key is ***."


def test_reruns_are_refused(tmp_path: Path) -> None:
    """A test that another plugin repeats has no single record, which is said at the start."""
    plugin = "def pytest_addoption(parser):\n    parser.addoption('--reruns', type=int)\n"
    (tmp_path / "repeats.py").write_text(plugin)
    ended = record(tmp_path, REFERENCE.partition("=")[2], FEW, "-p", "no:rerunfailures", "-p", "repeats", "--reruns=2")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("ERROR: ")]
    assert "a test that --reruns repeats has no single record" in line


def whole(found: Transcript) -> int:
    return sum(trace.last_line is not None for trace in found.tests.values())


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_a_killed_run_leaves_a_readable_part(recorded: Path, tmp_path: Path, zipped: bool) -> None:
    """Wherever the file was cut off, the tests before can be read, and it says that it is not complete."""
    data = (recorded / "t.jsonl").read_bytes()
    path = tmp_path / ("t.jsonl.gz" if zipped else "t.jsonl")
    kept = gzip.compress(data) if zipped else data
    first, counts = kept.index(b"\n") + 1 if not zipped else 3 * len(kept) // 4, []
    for end in [*range(first, len(kept) - 9, len(kept) // 40), len(kept) - 9]:
        path.write_bytes(kept[:end])
        found = read(path)
        counts.append(whole(found))
        assert zipped or not found.complete
    assert counts == sorted(counts)
    assert counts[-1] == whole(read(recorded / "t.jsonl"))


@pytest.mark.parametrize(
    ("path", "fault"),
    [("t.json", "the name must end in "), ("nowhere/t.jsonl", "there is no folder"), (".jsonl", "must end in ")],
)
def test_a_path_that_cannot_be(tmp_path: Path, path: str, fault: str) -> None:
    """It is refused in one sentence before anything runs."""
    ended = record(tmp_path, REFERENCE.partition("=")[2], FEW, f"--corpus-transcript={path}")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("ERROR: ")]
    assert f"--corpus-transcript={path}: " in line
    assert fault in line


def test_a_transcript_is_its_owners_alone(tmp_path: Path) -> None:
    """It holds requests and answers: its mode is 600, also where an older file is written anew."""
    path = tmp_path / "t.jsonl"
    path.touch(0o644)
    writer = Writer(path)
    writer.write({"kind": "header"})
    writer.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_fails_a_transcript_once() -> None:
    """A line that cannot be written is one error; closing the file afterwards is none."""
    writer = Writer(Path("/dev/full"))
    writer.write({"kind": "header"})
    with pytest.raises(OSError, match="No space left on device"):
        writer.close()
    writer.abandon()
    writer.abandon()
