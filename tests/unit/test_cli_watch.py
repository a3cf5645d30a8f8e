"""`pytest-corpus watch`: one finding at a time, again after each change."""

import itertools
from pathlib import Path

import pytest
from cli_runs import call_command

from pytest_corpus.commands import watch

SOUND = "from pytest_corpus.reference import llm as factory\n"
BROKEN = """
from pytest_corpus.reference.llm.adapter import ReferenceLLM

class factory(ReferenceLLM):
    def success(self, call, result):
        return super().success(call, {} if call.op in OPS else result)
"""


def written(*ops: str) -> str:
    return f"OPS = {ops!r}\n{BROKEN}"


@pytest.mark.slow
def test_a_fix_shows_the_next_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A finding stays until it is fixed; then the next one is shown, and at the end the verdict of the whole suite."""
    monkeypatch.chdir(tmp_path)
    changes = iter([written("health"), "def factory(:\n", written("health"), SOUND])
    (tmp_path / "mine.py").write_text(written("count_tokens", "health"), "utf-8")

    def change(*_: object) -> dict[str, int]:
        text = next(changes, None)
        if text is None:
            raise KeyboardInterrupt
        (tmp_path / "mine.py").write_text(text, "utf-8")
        return {}

    monkeypatch.setattr(watch, "_wait_for_change", change)
    ended = call_command("watch", "--adapter", "mine:factory")
    assert ended.code == 0, ended
    assert ended.out.count("waiting for a change") >= 2
    assert "  hint:" in ended.out
    assert "SyntaxError: invalid syntax (at mine.py:1)" in capfd.readouterr().err
    assert "verdict: conformant" in ended.out
    assert ended.err.count("the whole suite") >= 2


def test_changes_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source file that is changed, made or removed counts; a file in a hidden or a built folder does not."""
    monkeypatch.setattr(watch, "PAUSE_S", 0.001)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.py").touch()
    before = dict(watch._source_files(str(tmp_path)))
    assert before == {}
    rounds = itertools.count()
    sleep = watch.time.sleep

    def wait(seconds: float) -> None:
        if next(rounds) == 2:
            (tmp_path / "mine.py").touch()
        sleep(seconds)

    monkeypatch.setattr(watch.time, "sleep", wait)
    now = watch._wait_for_change(str(tmp_path), before)
    assert list(now) == [str(tmp_path / "mine.py")]


def test_a_folder_that_is_not_there() -> None:
    """It is one sentence."""
    ended = call_command("watch", "--adapter", "mine:factory", "--folder", "nowhere")
    assert (ended.code, ended.err) == (2, "pytest-corpus watch: --folder nowhere: there is no such folder\n")


FINDING = {
    "id": "LLM-TOKENS-1", "component": "llm", "level": "MUST", "status": "violated", "text": "The count is an integer.",
    "source": ["SPECIFICATION 8.3"], "hint": "count in `count_tokens`",
    "findings": [{"expected": "an integer", "got": "is [red]true\x1b[2J", "path": "result"}],
}  # fmt: skip


def test_a_terminal_shows_a_finding_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rich on a screen of its own; what an adapter said is neither markup nor a control sequence."""
    monkeypatch.setattr(watch.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    assert watch._show({}, [FINDING]) == [FINDING]
    out = capsys.readouterr().out
    head, said = (next(line for line in out.splitlines() if word in line) for word in ("expected", "an integer "))
    assert "got" in head
    assert "result is [red]true\\x1b[2J" in said
    assert "1 open, 1 of them MUST; waiting for a change" in out
    assert max(map(len, out.splitlines())) <= 80
