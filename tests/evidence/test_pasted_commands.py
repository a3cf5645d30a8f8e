"""Text that is printed to be pasted into a shell has no effect but the one that it shows, whatever it repeats."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from cli_runs import call_command
from hostile_files import COMMANDS, MARKER, sealed

from pytest_corpus.evidence import shell
from pytest_corpus.evidence.shell import SentRequest, ShellTarget
from pytest_corpus.reports import view

PROGRAMS = ("curl", "grpcurl", "websocat", "python", "pytest", "mytool")
SHELLS = [each for each in ("/bin/sh", "/bin/bash") if Path(each).exists()]

FAKE = '#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word" >> "$WORDS"; done\ncat > /dev/null\n'


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder whose `bin` has programs that note their arguments and do nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).write_text(FAKE)
        (folder / name).chmod(0o755)
    (tmp_path / "work").mkdir()
    (folder / "sleep").write_text("#!/bin/sh\n")
    (folder / "sleep").chmod(0o755)
    return tmp_path


def paste(desk: Path, text: str, program: str) -> list[str]:
    """Paste a text into a shell; return the words that programs got."""
    words = desk / "words"
    words.unlink(missing_ok=True)
    path = f"{desk / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    env = {"PATH": path, "WORDS": str(words), "ADAPTER": "mytool", "HOME": "/nowhere", "TOKEN": "a secret"}
    given = text.encode("utf-8", "surrogateescape" if "\udc80" <= max(text, default="") <= "\udcff" else "replace")
    subprocess.run([program], input=given, cwd=desk / "work", env=env, capture_output=True, timeout=60, check=False)
    return words.read_bytes().decode().split("\0") if words.exists() else []


def target(chance: random.Random) -> ShellTarget:
    """An adapter of a stranger, or one of the user's own with headers and names of a stranger."""
    declared = chance.choice(("mine:Counts", "mine:made.factory", *COMMANDS))
    recorded = chance.choice(("", "http://", "ws://", "grpc://", "cmd:"))
    headers = {chance.choice(("X-Key", *COMMANDS)): chance.choice(("Bearer $TOKEN", "$TOKEN", *COMMANDS))}
    if chance.random() < 0.5:
        own = chance.choice(
            ("http://h:1/", "ws://h:1/", "grpc://h:1", "cmd:mytool", "mine:made", f"http://h/{declared}")
        )
        return ShellTarget(own, chance.choice(("llm", declared)), headers)
    return ShellTarget(declared, chance.choice(("llm", declared)), headers, recorded)


def request(chance: random.Random) -> str:
    """The text of a request with words of a stranger in it."""
    text = chance.choice(COMMANDS)
    asked: dict[str, Any] = {"op": chance.choice(("llm.complete", text)), "ctx": {"deadline_ms": 1900000000000}}
    document = {**asked, "args": {text: text, "more": [chance.choice(COMMANDS)]}}
    return chance.choice(
        (json.dumps(document), json.dumps(document, ensure_ascii=False), text, f'"deadline_ms":{"1" * 13}{text}')
    )


def made(chance: random.Random) -> str:
    """A text that is printed to be pasted."""
    sent = [SentRequest(request(chance), chance.random() < 0.3, 1.8e9, (chance.choice(COMMANDS),)) for _ in range(2)]
    text = "\n".join([shell.write_comment(chance.choice(COMMANDS)), *shell.write_script(target(chance), sent)])
    document = {"command": chance.choice((f"pytest --corpus-adapter={chance.choice(COMMANDS)}", *COMMANDS)), "seed": 7,
                "adapter": {"name": chance.choice(COMMANDS)}, "components": {"llm": {}}}  # fmt: skip
    return f"{text}\n{view.rerun_command(document, chance.choice(('LLM-TOKENS-1', *COMMANDS)))}\n"


def pasted(desk: Path, number: int) -> None:
    for seed in range(number):
        chance = random.Random(seed)
        text = made(chance)
        paste(desk, text, SHELLS[seed % len(SHELLS)])
        left = {each.name for each in (desk / "work").iterdir()} - {"adapter.proto"}
        assert left == set(), (seed, text)
        assert not list(desk.glob(f"**/{MARKER}*")), (seed, text)


def test_pasting_has_no_effect(desk: Path) -> None:
    """No file appears, whatever the address, headers, requests, faults and names of a finding are."""
    pasted(desk, 150)


@pytest.mark.slow
def test_pasting_two_thousand_has_no_effect(desk: Path) -> None:
    """As above, for as many as the issue asks for."""
    pasted(desk, 2_000)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_request_arrives_as_it_is(desk: Path, text: str) -> None:
    """The words of a command are what was sent: JSON with the same value, and the header with the user's variable."""
    document = {"op": "llm.complete", "args": {"text": text}}
    own = ShellTarget("http://h:1/", "llm", {"Authorization": "Bearer $TOKEN"})
    (line,) = shell.write_script(own, [SentRequest(json.dumps(document, ensure_ascii=False), False, 0.0)])
    words = paste(desk, line + "\n", SHELLS[0])
    assert json.loads(words[words.index("--data-raw") + 1]) == document
    assert words[words.index("-H", 4) + 1] == "Authorization: Bearer a secret"
    assert words[-2] == "http://h:1/"


def test_a_recording_names_no_receiver_and_no_variable(tmp_path: Path, desk: Path) -> None:
    """The commands of a transcript go to what the user names; variables in its headers are not replaced."""
    lines = [dict(line) for line in hostile_files.LINES]
    lines[1] |= {"declared": "http://evil:1/", "transport": "http://", "headers": {"X-Key": "$TOKEN", "a": "$(id)"}}
    path = tmp_path / "t.jsonl"
    path.write_bytes(sealed(lines))
    script = call_command("replay", path, "--finding", "1", "--as", "shell").out
    words = paste(desk, script, SHELLS[0])
    assert "X-Key: $TOKEN" in words
    assert "a: $(id)" in words
    assert words[-2] == "mytool"
    named = call_command("replay", path, "--finding", "1", "--as", "shell", "--adapter", "http://mine:2/").out
    assert paste(desk, named, SHELLS[0])[-2] == "http://mine:2/"


@pytest.mark.parametrize(("command", "expected"), [
    ("pytest --corpus-adapter='a b:c' -c x.ini", "pytest '--corpus-adapter=a b:c' -c x.ini --corpus-requirement=A-1"),
    ("pytest -p evil", "pytest --corpus-adapter=m:f --corpus-requirement=A-1"),
    ("touch x", "pytest --corpus-adapter=m:f --corpus-requirement=A-1"),
    ("pytest 'x", "pytest --corpus-adapter=m:f --corpus-requirement=A-1"),
    ("pytest; touch x", "pytest --corpus-adapter=m:f --corpus-requirement=A-1"),
])  # fmt: skip
def test_the_command_of_a_report(command: str, expected: str) -> None:
    """Each word is quoted; a command that no run writes is left out."""
    document = {"command": command, "seed": 0, "adapter": {"name": "m:f"}, "components": {"llm": {}}}
    assert view.rerun_command(document, "A-1") == expected
