"""Every reader of files that others wrote refuses what it cannot read: in a sentence, soon, in little memory."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from cli_runs import call_command, environment
from fuzzed_readers import DOCUMENTED, READERS, fuzz
from hostile_files import sealed

from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.output_schema import read_schema
from pytest_corpus.bundles.running import shards
from pytest_corpus.bundles.running.store import AnswerJournal
from pytest_corpus.schema_registry import SchemaRegistry, SchemaValidationError, json_problems
from pytest_corpus.stream_validator import validate_frames
from pytest_corpus.text import bounded, strict_json
from pytest_corpus.verdict import deviations

LONGEST_S = 10.0
MOST_MIB = 300


@pytest.mark.parametrize("kind", READERS)
def test_hostile_shapes(tmp_path: Path, kind: str) -> None:
    """No other exception than the documented ones, and soon."""
    assert fuzz(kind, 25 if kind == "bundle" else 50, tmp_path) < LONGEST_S


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_twenty_thousand_hostile_shapes(tmp_path: Path, kind: str) -> None:
    """As above, for as many as the issue asks for, in a process whose memory is measured."""
    code = f"import fuzzed_readers as readers; readers.measured({kind!r}, 20_000, {str(tmp_path)!r})"
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(PYTHONPATH=path), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    figures = json.loads(done.stdout)
    assert figures["longest_s"] < LONGEST_S
    assert figures["mib"] < MOST_MIB


HUGE = '[{"a":' * 3_000_000


def big_files(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Files that are small on the disk or cheap to write and take much memory, with the commands that read them."""
    packed = folder / "t.jsonl.gz"
    with gzip.open(packed, "wb", 1) as file:
        for _ in range(40):
            file.write(b" " * 2**23)
    yield packed, ("judge", "replay", "audit --component llm")
    many = folder / "m.jsonl.gz"
    many.write_bytes(gzip.compress(b"", 1) * 50_000)
    yield many, ("judge",)
    for name in ("h.jsonl", "h.json", "h.har", "h.dsse.json"):
        (folder / name).write_text(HUGE)
    yield folder / "h.jsonl", ("judge",)
    yield folder / "h.json", ("report check", "report render -o o.md", "judge x --attestation")
    yield folder / "h.har", ("audit --component llm",)
    flat = folder / "f.json"
    flat.write_text("[" + "{}," * 4_000_000 + "{}]")
    yield flat, ("report check", "bundle diff x")


# A process inherits the peak of getrusage from the one that started it.
RUN = """
import sys
from pytest_corpus.cli import main
code = main(sys.argv[1:])
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
sys.stderr.write("\\nMIB %d" % (int(peak) // 1024))
sys.exit(code)
"""


def run_bounded(folder: Path, *words: object) -> tuple[int, str]:
    """Run a command in a process of its own; it ends soon, in little memory, with a sentence."""
    began = time.monotonic()
    given = [sys.executable, "-c", RUN, *map(str, words)]
    done = subprocess.run(given, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    text, _, mib = done.stderr.rpartition("\nMIB ")
    assert "Traceback" not in done.stderr, done.stderr
    assert int(mib) < MOST_MIB, (words, mib)
    assert time.monotonic() - began < 2 * LONGEST_S, words
    return done.returncode, text


@pytest.mark.slow
def test_files_that_unpack_to_much(tmp_path: Path) -> None:
    """A file of many gigabytes, of many empty parts, or of many short values is refused."""
    (tmp_path / "x").write_bytes(sealed(list(hostile_files.LINES)))
    for path, commands in big_files(tmp_path):
        for command in commands:
            first, *rest = command.split()
            at = {"report": 1, "bundle": 1}.get(first, 0)
            words = [first, *rest[:at], *([] if "--attestation" in rest else [path]), *rest[at:]]
            words += [path] if "--attestation" in rest else []
            code, said = run_bounded(tmp_path, *words)
            assert code in (1, 2), (command, said)


@pytest.mark.parametrize("kind", ["zero", "pipe", "folder"])
def test_what_is_not_a_file(tmp_path: Path, kind: str) -> None:
    """A device, a pipe and a folder are refused at once, also behind a link, by each command that reads evidence."""
    folder = tmp_path / "all"
    folder.mkdir()
    names = ("t.jsonl", "t.jsonl.gz", "r.json", "a.har", "durations.json", "bundle.yaml", "d.toml", "c.json",
             "llm_complete_request.json", "answers.jsonl")  # fmt: skip
    for name in names:
        if kind == "zero":
            (folder / name).symlink_to("/dev/zero")
        elif kind == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).mkdir()
    (tmp_path / ".corpus").mkdir()
    (tmp_path / ".corpus" / "r.jsonl").symlink_to(folder / "t.jsonl")
    said: list[tuple[int, str]] = []

    def ask() -> None:
        for words in (
            ("judge", folder / "t.jsonl"), ("judge", folder / "t.jsonl.gz"), ("replay", folder / "t.jsonl"),
            ("audit", folder / "t.jsonl", "--component", "llm"), ("audit", folder / "a.har", "--component", "llm"),
            ("report", "check", folder / "r.json"), ("report", "merge", folder / "r.json"),
            ("report", "diff", folder / "r.json", folder / "r.json"), ("bundle", "check", folder / "bundle.yaml"),
            ("bundle", "diff", folder / "c.json", folder / "c.json"),
            ("site", folder, "-o", tmp_path / "site"),
            ("schema", "check", folder / "r.json"), ("schema", "check", "--lines", folder / "t.jsonl"),
            ("stream", "check", "--component", "llm", folder / "t.jsonl"),
            ("golden", "check", folder / "llm_complete_request.json"),
            ("sweep", "--adapter", "pytest_corpus.reference:vector", "--folder", tmp_path),
        ):  # fmt: skip
            ended = call_command(*words)
            said.append((ended.code, ended.err))
        for read, given in (
            (shards.read_durations, folder),
            (AnswerJournal, folder),
            (deviations.read, folder / "d.toml"),
        ):
            with pytest.raises(DOCUMENTED):
                read(given)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(LONGEST_S * 3)
    assert not thread.is_alive()
    codes = [code for code, _ in said]
    assert codes[:10] == [2, 2, 2, 2, 2, said[5][0], 2, 2, said[8][0], 2], said
    assert {codes[5], codes[8], codes[10]} <= {1, 2}
    assert codes[11:] == [2, 2, 2, 1, 2], said


def test_brackets_in_a_string_that_never_ends() -> None:
    """The depth of a text is found in one pass; it once took minutes for 100 kB."""
    began = time.monotonic()
    assert bounded.measure_depth(b"[" * 300 + b'"' + b'\\"' * 200_000) == 201
    strict_json.parse(b"[" * 150 + b'"' + b'\\"' * 200_000)
    assert time.monotonic() - began < 2.0


BIG = 10**5000


@pytest.mark.parametrize("instance", [{"ok": BIG}, {"code": BIG}, {"a": {"b": BIG}}, BIG, [BIG]], ids=range(5))
def test_integers_that_python_does_not_write(instance: Any) -> None:
    """The public validators say that they are a problem, wherever they stand."""
    registry = SchemaRegistry()
    for name in ("llm.envelope.success", "common.envelope.error"):
        assert registry.problems(name, instance)
        with pytest.raises(SchemaValidationError):
            registry.validate_json(name, instance)
    assert str(json_problems(instance)[0]).endswith("which readers of JSON refuse")
    assert not validate_frames([instance], "llm").is_valid


def test_schemas_of_a_bundle_that_hold_other_types(tmp_path: Path) -> None:
    """A schema whose keywords hold values of other types is refused by `BundleError`."""
    for document in ({"properties": ["a"]}, {"$defs": ["x"]}):
        (tmp_path / "s.json").write_text(json.dumps(document))
        with pytest.raises(BundleError):
            read_schema(tmp_path, "s.json")
