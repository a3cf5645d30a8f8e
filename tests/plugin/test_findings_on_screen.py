"""The terminal after a red run: one block for each requirement, what to fix first, the verdict last."""

import os
import pty
import re
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from inner_runs import REFERENCE, Project, said

from pytest_corpus.integration.concluding import progress
from pytest_corpus.verdict.ledger import TestRecord

ADAPTER, FEW = "--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-2,COM-CAP-*"
OURS = "def test_ours():\n    number = 1\n    assert number == 2\n"
VERDICTS = ("  verdict: ", "  no verdict: ")


@pytest.fixture
def broken(project: Project) -> Project:
    """A folder with an adapter that breaks LLM-COMPLETE-2."""
    project.adapter()
    return project


def verdict_stands_last(result: pytest.RunResult) -> bool:
    return any(line.startswith(VERDICTS) for line in result.outlines[-5:])


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_one_block_a_requirement(broken: Project, plugins: tuple[str, ...]) -> None:
    """The first finding is told in full, each other one in a line; no test has a FAILED line."""
    result = broken.run(ADAPTER, FEW, *(("-n", "1") if plugins else ()), plugins=plugins)
    assert [line for line in result.outlines if line.strip("_ ") == "LLM-COMPLETE-2: 3 of 3 tests"]
    assert said(result).count("LLM-COMPLETE-2 (MUST): ") == 1
    assert len([line for line in result.outlines if line.startswith("    corpus/llm/")]) == 2
    assert "FAILED" not in said(result)
    assert [line for line in result.outlines if line.startswith("    violated  LLM-COMPLETE-2 (MUST)")]
    assert verdict_stands_last(result)


@pytest.mark.parametrize(("options", "blocks", "lines"), [
    (("-v",), 3, 0),
    (("-q",), 1, 0),
    (("--tb=line",), 0, 0),
    (("--tb=no",), 0, 0),
    (("--tb=long",), 1, 2),
    (("-rA",), 1, 2),
    (("-rN",), 1, 2),
], ids=["v", "q", "line", "no", "long", "all", "none"])  # fmt: skip
def test_how_much_is_shown(broken: Project, options: tuple[str, ...], blocks: int, lines: int) -> None:
    """`-v` shows every finding, `--tb` and `-q` fewer; the verdict stays where it is."""
    result = broken.run(ADAPTER, FEW, *options)
    assert len([line for line in result.outlines if line.startswith("  expected:")]) == blocks
    assert len([line for line in result.outlines if line.startswith("    corpus/llm/")]) == lines
    assert verdict_stands_last(result)
    violated = [line for line in result.outlines if line.startswith("    violated  LLM-COMPLETE-2")]
    assert len(violated) == (options != ("-rN",))
    satisfied = [line for line in result.outlines if line.startswith("    satisfied  COM-CAP-1 ")]
    assert len(satisfied) == (options == ("-rA",))
    if options == ("--tb=line",):
        assert len([line for line in result.outlines if line.startswith("3 of 3 tests: LLM-COMPLETE-2 (MUST)")]) == 1


def test_other_tests_fail_as_usual(broken: Project) -> None:
    """A test of the user's in the same session is shown by pytest, with its traceback and its FAILED line."""
    (broken.path / "test_own.py").write_text(OURS)
    result = broken.run(ADAPTER, FEW)
    assert "FAILED test_own.py::test_ours - assert 1 == 2" in result.outlines
    assert ">       assert number == 2" in result.outlines
    assert result.parseoutcomes()["failed"] == 4
    assert verdict_stands_last(result)


@pytest.mark.parametrize("option", ["-rs", "-v"])
def test_why_something_is_open(broken: Project, option: str) -> None:
    """The reason on the terminal is the one in the JSON report."""
    few = "--corpus-requirement=LLM-TOOLS-*,COM-OBS-1,COM-LEAK-3"
    result, report = broken.judged("mine:hookless", few, option)
    text, tested = said(result), [entry for entry in report["requirements"] if entry["tests"]]
    assert {entry["status"] for entry in tested} > {"not_assessed"}
    for entry in tested:
        if entry["status"] == "not_applicable":
            assert any(entry["id"] in line and entry["reason"] in line for line in result.outlines)
        if entry["status"] == "not_assessed" and "keyword" in entry:
            assert f"does not accept '{entry['keyword']}': {entry['id']}" in text


def test_a_missing_keyword_is_not_blamed_for_a_fault_that_never_fired(project: Project) -> None:
    """A factory that takes `provider` and never reaches it is not told to take it."""
    project.adapter("class Deaf(Wrapped):\n    def __init__(self, metrics=None, provider=None):\n"
                    "        self.inner = llm(metrics)\n")  # fmt: skip
    text = said(project.run("--corpus-adapter=mine:Deaf", "--corpus-requirement=COM-FAULT-1"))
    assert "COM-FAULT-1: the adapter does not call the provider for llm.complete" in text
    assert "does not accept" not in text


def test_a_green_run_is_short(project: Project) -> None:
    """There is no section of findings where nothing is violated; a run of seconds does not say how far it is."""
    result = project.run(REFERENCE, "--corpus-requirement=COM-CAP-*")
    assert [text for text in ("corpus findings", "fix first", " tests in ") if text in said(result)] == []
    assert verdict_stands_last(result)


SHOULD = """
@changes("llm.capabilities")
def Bare(answer):
    answer["result"].pop("models", None)

class Both(Bare, Broken): pass
"""


def test_a_should_is_shown_on_request(project: Project) -> None:
    """A SHOULD is shown with its evidence if no MUST is violated, with `-v` or by its name; else it is counted."""
    project.adapter(SHOULD)
    some = ("-k", "TestCapabilities or context_length_are_stated or finish_reason")
    for name, options, whole in (("Bare", some, True), ("Both", some, False), ("Both", (*some, "-v"), True)):
        text = said(project.run(f"--corpus-adapter=mine:{name}", *options))
        assert "not kept  LLM-CAP-1 (SHOULD)" in text
        assert ("LLM-CAP-1 (SHOULD): " in text, "1 more, of SHOULDs or deviations" in text) == (whole, not whole)
    assert "LLM-CAP-1 (SHOULD): " in said(project.run("--corpus-adapter=mine:Both", "--corpus-requirement=LLM-CAP-1"))


def test_a_run_of_one_requirement(project: Project) -> None:
    """It says what became of it, and names the others that its tests found violated; nothing else."""
    project.adapter(SHOULD + "class Deaf(Both):\n    async def handle(self, envelope):\n"
                    "        self.inner.metrics = None\n        return await super().handle(envelope)\n")  # fmt: skip
    few = "--corpus-requirement=LLM-COMPLETE-2,LLM-COMPLETE-1"
    text = said(project.run("--corpus-adapter=mine:Deaf", few, "--corpus-evidence=shape"))
    assert "violated  LLM-COMPLETE-2 (MUST)" in text
    assert "satisfied  LLM-COMPLETE-1 (MUST)" in text
    assert "the same tests found violated, too: COM-OBS-1 (MUST)" in text
    assert "COM-OBS-1 (MUST):" not in text
    assert text.count("not complete") == 1
    assert "satisfied, " not in text


def test_the_bar_of_a_green_run_is_green(project: Project) -> None:
    """Features that the adapter does not offer leave pytest's bar green; something not assessed makes it yellow."""
    project.adapter()
    for few, colour in (("COM-CAP-1,TRA-HTTP-1", "\x1b[32m"), ("COM-CAP-1,COM-OBS-1", "\x1b[33m")):
        lines = project.run("--corpus-adapter=mine:hookless", f"--corpus-requirement={few}", "--color=yes").outlines
        assert lines[-1].startswith(colour), lines[-1]


@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one_process", "a_worker"])
def test_a_long_run_says_how_far_it_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, spread: tuple[str, ...]
) -> None:
    """After each stretch of time a line of its own says how many tests ran, of how many, and what is left."""
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    result = project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-1", *spread, plugins=("xdist",) if spread else ())
    lines = [line for line in result.outlines if line.startswith("corpus: ") and " tests in " in line]
    assert lines, said(result)
    assert lines[-1].endswith("about 0 s left")
    done, _, total = lines[-1].removeprefix("corpus: ").split()[:3]
    assert done == total == str(result.parseoutcomes()["passed"])


def test_the_present_pace_tells_the_rest(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run becomes faster as more of its tests are in flight: what was long ago does not count."""
    clock, written = [0.0], list[str]()
    monkeypatch.setattr(progress.Clock, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress.Progress, "_write_line", lambda _self, text: written.append(text))
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    config = SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin=lambda _: SimpleNamespace(testscollected=300)))
    told = progress.Progress(cast("pytest.Config", config), lambda tests: tests, lambda: 7, reported=0.0)
    for number in range(200):  # one call a second at first, then ten
        clock[0] += 1.0 if number < 100 else 0.1
        record = SimpleNamespace(calls=1, adapter="a", component="llm", findings=(), duration_s=0.1)
        told.report(cast("TestRecord", record), ())
    assert written[-1] == "corpus: 200 of 300 tests in 109 s, about 10 s left"
    whole = "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * 16 + "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 8
    assert told.bar_text() == f"{whole} 200 of 300 tests, 7 in flight, 10 calls/s, about 10 s left"


def on_terminal(folder: Path, *given: str) -> str:
    """The output of a run on a terminal of 100 columns."""
    code = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "-p", "no:randomly", REFERENCE, "--corpus-requirement=LLM-TOKENS-*", *given]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        os.execve(sys.executable, command, {name: value for name, value in env.items() if name != "CI"})
    found = bytearray()
    with suppress(OSError):  # the end of the child is an error of its terminal
        while part := os.read(terminal, 65536):
            found += part
    os.waitpid(child, 0)
    os.close(terminal)
    return found.decode()


def test_a_terminal_has_a_bar_that_stays_in_place(tmp_path: Path) -> None:
    """It is below the line of pytest, which goes on where it was, and is gone at the end; `-q` has none."""
    drawn = on_terminal(tmp_path)
    assert re.search(r" \d+ of \d+ tests, ", drawn)
    assert "calls/s, about " in drawn
    ends = re.findall(r"\n\r\x1b\[2K([^\x1b]*)\x1b\[1A\r", drawn)
    assert ends
    assert ends[-1] == ""
    plain = re.sub(r"\n\r\x1b\[2K[^\x1b]*\x1b\[1A\r(\x1b\[\d+C)?", "", drawn.replace("\r\n\r", "\n\r"))
    assert "calls/s" not in plain
    assert "verdict:" in plain
    assert "calls/s" not in on_terminal(tmp_path, "-q")


def test_calls_and_time_are_said_before(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls to expect stand before the tests; after the first of them the time, if the run is not short."""
    few = "--corpus-requirement=LLM-CAP-*,COM-CAP-*,LLM-TOKENS-*"
    lines = project.run(REFERENCE, few).outlines
    (calls,) = [int(line.split()[2]) for line in lines if line.startswith("corpus: about ") and line.endswith(" calls")]
    assert 20 < calls < 200
    assert "more are to come" not in "".join(lines)
    monkeypatch.setattr(progress, "SHORT_S", 0.0)
    monkeypatch.setattr(progress, "RECENT_S", 0.0)
    assert "calls took " in said(project.run(REFERENCE, few))
    said_before = progress.remaining_line(20, 771, 3.0, 116)
    assert said_before == "corpus: 20 calls took 3.0 s; about 771 more are to come, in about 116 s"
    assert progress.remaining_line(1, 0, 3.0, 0.0).startswith("corpus: 1 call took 3.0 s; ")
