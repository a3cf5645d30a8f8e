"""A stranger's transcript or report is data: whatever it names, nothing is started, opened or written for it."""

import json
import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from cli_runs import call_command, refusal_of, run_command
from hostile_files import MARKER, deeds, sealed

from pytest_corpus.adapter.opening.factory import split_label
from pytest_corpus.commands import judge, replay
from pytest_corpus.evidence import judging
from pytest_corpus.integration.options import run_options
from pytest_corpus.spec.components import COMPONENTS

GIVEN = re.compile(r"--corpus-([a-z-]+)(?:=(.*))?", re.DOTALL)
OWN = {"report", "deviations", "dialects", "transcript", "seed", "adapter"}


def test_the_types_are_those_of_the_options() -> None:
    """Each option that is taken is one of the plugin, with the values that it has there."""
    names = {option.name for option in run_options_table()}
    assert set(judging.OPTIONS) | judging.IGNORED_OPTIONS <= names
    assert tuple(run_options.PROFILES) == judging.PROFILES
    naming = {"adapter", "client", "report", "transcript", "deviations", "dialects", "bundle-baseline",
              "bundle-resume", "log", "header", "tls-verify", "bundle-provider"}  # fmt: skip
    assert not naming & (set(judging.OPTIONS) | judging.IGNORED_OPTIONS)


def run_options_table() -> list[Any]:
    from pytest_corpus.integration.options.table import OPTIONS, Option
    from pytest_corpus.spec.transports import CONNECTION

    return [*OPTIONS, *(Option(name, "", "") for name in CONNECTION)]


@pytest.mark.parametrize(("name", "value", "fits"), [
    ("components", "llm,vector", True), ("components", "LLM, Vector", True), ("components", "x=cmd:id", False),
    ("requirement", "LLM-*,COM-CAP-1", True), ("requirement", "LLM-* -p evil", False), ("level", "SHOULD", True),
    ("level", "no", False), ("strict", "True", True), ("strict", "/tmp", False), ("edition", "1.0", True),
    ("edition", "../1.0", False), ("schema-version", "1.1.0", True), ("schema-version", "9", False),
    ("write-delay", "0.5", True), ("write-delay", "nan", False), ("write-delay", "1e9", False),
    ("max-namespaces", "5", True), ("max-namespaces", "1", False), ("max-namespaces", "9" * 5000, False),
    ("profile", "stress", True), ("profile", "mine", False), ("repeat", "2", True), ("repeat", "0", False),
    ("shard", "2/5", True), ("shard", "5/2", False),
])  # fmt: skip
def test_values(name: str, value: str, fits: bool) -> None:
    """A value is taken if the option can have it."""
    assert bool(judging.OPTIONS[name](value)) is fits


def names_only_what_it_may(passed: list[str], transcript: Path, folder: Path, adapter: str) -> bool:
    """True if arguments of pytest name the transcript, our own files, the user's adapter, and typed options."""
    words = [word for word in passed if word not in ("-q", str(folder))]
    for at, word in enumerate(words):
        if found := GIVEN.fullmatch(word):
            name, value = found.groups()
            if name == "adapter":
                assert split_label(value)[1] in (f"transcript:{transcript}", adapter), word
            elif name in ("report", "deviations", "dialects", "transcript"):
                assert Path(value).parent == folder, word
            elif name in ("seed", "call-timeout"):
                assert re.fullmatch(r"-?[0-9.e+-]+", value)
            else:
                assert judging.OPTIONS[name]("True" if value is None else value), word
        elif word.startswith("corpus/"):
            assert re.fullmatch(rf"corpus/({'|'.join(COMPONENTS)}|wire)/test_\w+\.py::[\w:\[\]-]+", word), word
        else:
            assert word in ("-c", "-p") or words[at - 1] in ("-c", "-p") or word.startswith("--rootdir="), word
    return True


def judged(folder: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Give headers to the commands, and return how many reached a run of pytest."""
    reached: list[bool] = []
    path, adapter = folder / "t.jsonl", "mypkg:factory"

    def run_pytest(_command: str, passed: list[str], here: Path, _output: object = None) -> int:
        reached.append(names_only_what_it_may(passed, path, here, adapter))
        return 2

    monkeypatch.setattr(judge, "run_pytest", run_pytest)
    monkeypatch.setattr(replay, "run_pytest", run_pytest)
    report = folder / "r" / "r.json"
    report.parent.mkdir()
    sound = json.loads((folder / "sound.json").read_text())
    for seed in range(number):
        chance = random.Random(seed)
        path.write_bytes(sealed(hostile_files.header(chance)))
        asked = [("judge", path), ("replay", path), ("replay", path, "--as", "shell"),
                 ("replay", path, "--adapter", adapter), ("audit", path, "--component", "llm"),
                 ("schema", "check", "--lines", path), ("stream", "check", "--component", "llm", path)]  # fmt: skip
        if seed % 20 == 0:
            command = chance.choice(hostile_files.COMMANDS)
            changed = {**sound, "command": command, "adapter": {**sound["adapter"], "name": command}}
            report.write_text(json.dumps(changed))
            hostile_files.write_journal(folder, chance)
            asked += [("replay", path, "--as", "curl"), ("replay", path, f"--requirement={command}"),
                      ("replay", path, "--finding", "1"), ("judge", path, "--attestation", report),
                      ("audit", report, "--component", "vector"), ("schema", "check", report),
                      ("golden", "check", report), ("bundle", "check", report),
                      ("bundle", "diff", report, report),
                      ("bundle", "combine", report, report, "-o", folder / "b.json"),
                      ("sweep", "--adapter", "pytest_corpus.reference:vector", "--folder", folder),
                      ("report", "check", report), ("report", "render", report, "-o", folder / "o.html"),
                      ("report", "merge", report, report), ("report", "diff", report, report),
                      ("report", "combine", report, report, "-o", folder / "c.json"),
                      ("report", "sign", report, "--key", report), ("report", "badge", report),
                      ("site", report.parent, "-o", folder / "site")]  # fmt: skip
        for words in asked:
            with deeds(folder.parent) as done:
                ended = call_command(*words)
            assert done == [], (seed, words)
            assert ended.code in (0, 1, 2), (seed, ended)
            assert "Traceback" not in ended.err, (seed, ended)
            assert "usage:" not in ended.err, (seed, ended)
    return len(reached)


@pytest.fixture
def quiet(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sound report; temporary files are made in its parent."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "sound.json").write_bytes((recorded / "r.json").read_bytes())
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return folder


def test_headers_start_nothing(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, no socket, no file but those in the temporary folder, whatever a header states."""
    assert judged(quiet, 250, monkeypatch) > 50


@pytest.mark.slow
def test_ten_thousand_headers_start_nothing(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above; about a fifth of them are valid enough to be judged."""
    assert judged(quiet, 10_000, monkeypatch) > 1_500


WATCH = """
import os, sys
LOG, HERE = os.environ["DEEDS"], os.environ["ALLOWED"]
BUSY = []
def hook(event, arguments):
    if BUSY:
        return
    own = event in ("subprocess.Popen", "os.system", "os.posix_spawn", "socket.connect") or event.startswith("os.exec")
    if event == "open" and isinstance(arguments[0], str):
        writes = any(each in (arguments[1] or "") for each in "wax+") or arguments[2] & 3
        own = writes and not os.path.abspath(arguments[0]).startswith((HERE, "/dev/null"))
    if event == "subprocess.Popen" and "git" in str(arguments[1][0]):
        own = False
    if own:
        BUSY.append(1)
        with open(LOG, "a") as file:
            file.write(f"{event} {arguments!r}\\n")
        BUSY.clear()
sys.addaudithook(hook)
"""


@pytest.mark.slow
def test_a_run_that_judges_starts_nothing(recorded: Path, tmp_path: Path) -> None:
    """In the process of pytest that judges, too: it asks git for the commit, and writes what `-o` names."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    lines = [json.loads(line) for line in (recorded / "t.jsonl").read_text().splitlines()][:-1]
    log, path = tmp_path / "deeds.txt", tmp_path / "t.jsonl"
    env = {"DEEDS": str(log), "ALLOWED": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTHONPATH"] = os.pathsep.join((str(tmp_path / "watch"), os.environ.get("PYTHONPATH", "")))
    label = f"x=cmd:touch {MARKER}"
    plain = [{key: value for key, value in line.items() if key != "n"} for line in lines]
    for each in plain:
        for key in ("adapter", "label"):
            if each.get(key) == lines[1]["adapter"]:
                each[key] = label
    plain[0]["adapters"][0]["label"] = label
    path.write_bytes(sealed(plain))
    judge_it = "import sys; sys.argv[0] = 'x'; from pytest_corpus.cli import main; sys.exit(main())"
    argv = ("judge", path, "--report", tmp_path / "o.json")
    ended = run_command(*argv, command=(sys.executable, "-c", judge_it), cwd=tmp_path, **env)  # type: ignore[arg-type]
    assert ended.code == 1, ended
    assert (tmp_path / "o.json").exists()
    done = log.read_text().splitlines() if log.exists() else []
    assert [line for line in done if "-m', 'pytest'" not in line] == []
    assert not list(tmp_path.rglob(MARKER))


@pytest.mark.parametrize(("name", "value"), [
    ("adapter", f"x=cmd:touch {MARKER}"), ("report", "/any/where.html"), ("deviations", "x.toml"), ("log", "/dev/zero"),
    ("dialects", "d.json"), ("tls-verify", "no"), ("anything", "x"), ("level", "no"), ("repeat", "abc"),
])  # fmt: skip
@pytest.mark.parametrize("command", [("judge",), ("replay", "--adapter", "a:b")], ids=lambda each: each[0])
def test_an_option_that_is_refused(tmp_path: Path, command: tuple[str, ...], name: str, value: str) -> None:
    """It is named in one sentence, with exit code 2."""
    lines = [dict(line) for line in hostile_files.LINES]
    lines[0]["options"] = {name: value}
    path = tmp_path / "t.jsonl"
    path.write_bytes(sealed(lines))
    first, *more = command
    line = refusal_of(first, path, *more)
    assert f"the option {name!r}" in line or f"the option {name} " in line


def test_what_earlier_versions_wrote_is_passed_over(tmp_path: Path) -> None:
    """Options that decide nothing are not read, so that a transcript of an earlier version can still be judged."""
    lines = [dict(line) for line in hostile_files.LINES]
    lines[0]["options"] = {**hostile_files.HEADER["options"], "budget": "calls=5", "evidence": f"cmd:touch {MARKER}"}  # type: ignore[dict-item]
    path = tmp_path / "t.jsonl"
    path.write_bytes(sealed(lines))
    assert not any("budget" in each or MARKER in each for each in judging.to_arguments(judge.open_transcript(path)))
