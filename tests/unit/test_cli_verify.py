"""`pytest-corpus verify`: the suite in one command, whatever the folder holds (SPECIFICATION 17.3.1)."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_runs import COMMAND, ROOT, call_command, environment, refusal_of, run_command

from pytest_corpus.commands import verify

ONE = ("--", "-q", "--corpus-requirement=COM-CAP-1")
ADAPTERS = """
import pytest_corpus.reference


class Silent:
    async def handle(self, envelope):
        return {"ok": True, "code": "OK", "ms": 1.0, "result": []}


def sound(metrics=None, provider=None, component=None):
    return pytest_corpus.reference.all(metrics=metrics, provider=provider)


def broken():
    return {"llm": Silent()}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with adapters, and with settings and tests that would bring pytest down."""
    (tmp_path / "mine.py").write_text(ADAPTERS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('this conftest.py was loaded')\n")
    (tmp_path / "test_own.py").write_text("def test_own():\n    assert False\n")
    return tmp_path


def test_an_empty_folder(tmp_path: Path) -> None:
    """Without an adapter the embedded ones are verified, which is said, and nothing is left in the folder."""
    ended = run_command("verify", *ONE, cwd=tmp_path)
    assert ended.code == 0, ended.out
    assert "no --adapter is given" in ended.err
    assert "adapter pytest_corpus.reference:all" in ended.out
    for component in ("llm", "vector", "embedding", "graph"):
        assert f"  {component}: " in ended.out
    assert list(tmp_path.iterdir()) == []


def test_a_project_is_left_out(folder: Path) -> None:
    """Settings, conftest.py and tests of the current folder do not run; an adapter in it is found.

    `--report` is relative to that folder.
    """
    ended = run_command(
        "verify", "--adapter", "mine:sound", "--component", "llm", "--report", "here.json", *ONE, cwd=folder
    )
    assert ended.code == 0, ended.out + ended.err
    assert "no --adapter" not in ended.err
    assert "test_own" not in ended.out
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {
        "mine.py", "pytest.ini", "conftest.py", "test_own.py", "here.json",
    }  # fmt: skip
    assert json.loads((folder / "here.json").read_bytes())["adapter"]["name"] == "mine:sound"


def test_violations(folder: Path) -> None:
    """A violated MUST ends with 1, and what failed has an id without a folder in it."""
    ended = run_command("verify", "--adapter", "mine:broken", *ONE, cwd=folder)
    assert ended.code == 1
    assert "\n  test:     corpus/llm/test_capabilities_shape.py::" in ended.out, ended.out


@pytest.mark.parametrize("given", [
    ("--component", "llm", "--component", "vector"),
    ("--component", "llm,vector"),
    ("--component=LLM", "--component=vector", "--component", "llm"),
])  # fmt: skip
def test_ways_of_naming_components(given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """`--component` may be repeated, take several with commas, in any case; each is verified once."""
    asked: list[list[str]] = []
    monkeypatch.setattr(verify, "run_pytest", lambda _, told, *_more: asked.append(told) or 0)
    call_command("verify", *given)
    assert "--corpus-components=llm,vector" in asked[0]


def test_a_component_that_does_not_answer(folder: Path) -> None:
    """A component that is asked for and does not answer is a violation, not a pass."""
    (folder / "mine.py").write_text(ADAPTERS + "\n\ndef one():\n    return {'llm': sound()['llm']}\n")
    assert run_command("verify", "--adapter=mine:one", "--component", "graph", *ONE, cwd=folder).code == 1


def test_several_adapters(folder: Path) -> None:
    """Each adapter has its own attestation; the worst of them decides."""
    ended = run_command(
        *("verify", "--format=json", "--adapter", "a=mine:sound", "--adapter", "b=mine:broken", "--component", "llm"),
        *("--report", "x.json", *ONE),
        cwd=folder,
    )
    shown = json.loads(ended.out)
    assert (ended.code, shown["exit_code"]) == (1, 1)
    assert [attestation["adapter"]["name"] for attestation in shown["attestations"]] == ["a", "b"]
    assert [set(attestation["components"]) for attestation in shown["attestations"]] == [{"llm"}, {"llm"}]
    assert json.loads((folder / "x.a.json").read_bytes()) == shown["attestations"][0]


@pytest.mark.parametrize(("argv", "said"), [
    (["--component", "vectr"], "there is no component 'vectr'; did you mean vector?"),
    (["--component", ""], "there is no component ''"),
    (["--component", "x\x1b[2J"], "there is no component"),
    (["llm"], "name a component with --component=llm"),
    (["--", "graph"], "name a component with --component=graph"),
])  # fmt: skip
def test_a_wrong_component_is_one_line(argv: list[str], said: str) -> None:
    """A name with a slip ends with 2 and the nearest, before anything runs."""
    assert said in refusal_of("verify", *argv)


@pytest.mark.parametrize(("argv", "said"), [
    (["--adapter", "nope:factory"], "there is no module 'nope'"),
    (["--adapter", "mine:sound", "--component", "llm", "--", "-q", "-m", "llm and vector"], "no conformance test ran"),
])  # fmt: skip
def test_what_cannot_be_verified_ends_with_2(argv: list[str], said: str, folder: Path) -> None:
    """A usage error of pytest, and a run of no test, end with 2: nothing was verified."""
    ended = run_command("verify", *argv, cwd=folder)
    assert ended.code == 2, ended.out
    assert said in ended.out + ended.err
    assert "Traceback" not in ended.out + ended.err


ENDING = """
import os
import signal
from pytest_corpus.reference.llm.adapter import ReferenceLLM


class Ending(ReferenceLLM):
    async def count_tokens(self, call):
        {}
        return await super().count_tokens(call)
"""


def ending(folder: Path, how: str) -> None:
    """Write an adapter that ends the process in the middle of the suite in some way."""
    (folder / "ending.py").write_text(ENDING.replace("{}\n", f"{how}\n"))


FEW = ("--", "-q", "--corpus-requirement=COM-CAP-1,LLM-TOKENS-1")


@pytest.mark.parametrize(("more", "form"), [((), "text"), (FEW, "json")], ids=["whole", "a part"])
def test_an_adapter_that_ends_the_process_well(tmp_path: Path, more: tuple[str, ...], form: str) -> None:
    """If the adapter ends pytest with 0 before the end, nothing is verified, and no older report stays."""
    ending(tmp_path, "os._exit(0)")
    path = tmp_path / "r.json"
    path.write_text('{"verdict": "conformant", "complete": true}')
    given = ("--adapter=ending:Ending", "--component", "llm", f"--format={form}", "--report=r.json")
    ended = run_command("verify", *given, *more, cwd=tmp_path)
    assert not path.exists() or json.loads(path.read_bytes())["verdict"] == "partial"
    assert ended.code == 3, ended.out + ended.err
    said = "pytest-corpus verify: pytest ended with 0, but it ended before the suite did, so nothing is verified"
    assert said in ended.err.splitlines()
    if form == "json":
        assert json.loads(ended.out)["exit_code"] == 3


@pytest.mark.parametrize(("how", "code", "said"), [
    ("os._exit(42)", 42, "pytest ended with 42, which it does not do by itself"),
    ("os.kill(os.getpid(), signal.SIGKILL)", 137, "pytest was ended by SIGKILL, so nothing is verified"),
    ("os.kill(os.getpid(), signal.SIGRTMIN + 1)", 163, "pytest was ended by signal 35, so nothing is verified"),
    ("os._exit(1)", 3, "pytest ended with 1, but it ended before the suite did, so nothing is verified"),
], ids=["a strange code", "SIGKILL", "a nameless signal", "a plain code"])  # fmt: skip
def test_a_pytest_that_ends_badly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, code: int, said: str
) -> None:
    """Any other end of pytest has an exit code that is not 0, and a sentence if the code alone does not tell."""
    (tmp_path / "pytest.py").write_text(f"import os, signal\n{how}\n")  # found before the real one
    monkeypatch.chdir(tmp_path)
    ended = call_command("verify", "--adapter=ending:Ending", "--component", "llm", *FEW)
    assert ended.code == code
    assert said in ended.err


def test_a_plugin_that_leaves_tests_out(tmp_path: Path) -> None:
    """A run that is not complete, though nobody asked for a part, verifies nothing."""
    (tmp_path / "fewer.py").write_text(
        "import pytest\n\n@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(config, items):\n"
        "    config.hook.pytest_deselected(items=items[3:])\n    items[:] = items[:3]\n"
    )
    path = f"{tmp_path}:{ROOT}"
    given = ("verify", "--component", "llm")
    ended = run_command(*given, cwd=tmp_path, PYTEST_PLUGINS="fewer", PYTEST_ADDOPTS="", PYTHONPATH=path)
    assert ended.code != 0
    assert "conformant" not in ended.out


def test_what_only_tells_verifies_nothing(tmp_path: Path) -> None:
    """pytest's own lists need no attestation."""
    ended = run_command("verify", "--component", "llm", "--", "--collect-only", "-q", cwd=tmp_path)
    assert (ended.code, ended.err.count("nothing is verified")) == (0, 0)


@pytest.mark.skipif(os.name == "nt", reason="needs process groups")
def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C ends pytest in its own way, without a traceback of ours, and the command with 130."""
    (tmp_path / "slow.py").write_text(
        "import asyncio\n\n\nclass Slow:\n    async def handle(self, envelope):\n"
        "        print('reached', flush=True)\n        await asyncio.sleep(5)\n\n\ndef factory():\n    return Slow()\n"
    )
    with subprocess.Popen(
        [*COMMAND, "verify", "--adapter=slow:factory", "--component", "llm", "--", "-s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED="1"),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        while b"reached" not in process.stdout.readline():
            assert process.poll() is None
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130, said
    assert "commands/verify.py" not in said
