"""Whatever ends a run early, no report claims completeness, none is half-written, and what was made is removed."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from inner_runs import Project, said
from thinning import thin_out

from pytest_corpus.suites import inventory

TARGETS = (
    ("--corpus-client=pytest_corpus.reference:client", 3.0),
    ("--corpus-client=pytest_corpus.reference:client", 3.0),
    ("--corpus-client=pytest_corpus.reference:client", 3.0),
    ("--corpus-adapter=pytest_corpus.reference:llm", 6.0),
)
"""What is tested, and about how long that takes, in seconds; the short ones save time."""

KEEPING = """
import json, os, _thread

class Keeping(Wrapped):
    component = "vector"
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        op = op_of(envelope)
        if op in ("vector.create_namespace", "vector.delete_namespace") and answer.get("ok"):
            with open("spaces.txt", "a") as file:
                file.write(json.dumps([op, envelope["ctx"].get("tenant"), envelope["args"]["namespace"]]) + "\\n")
        return answer

class Impatient(Keeping):
    '''Interrupts its worker in the midst of tidying, which is no part of any test, as execnet does.'''
    async def handle(self, envelope):
        if envelope.get("op") == "vector.delete_namespace" and "PYTEST_CURRENT_TEST" not in os.environ:
            _thread.interrupt_main()
        return await super().handle(envelope)
"""


def executed(report: dict[str, Any]) -> set[str]:
    return {test["test"] for entry in report["requirements"] for test in entry["tests"]}


def assert_honest(path: Path) -> None:
    """A report is whole where there is one, and complete only if every test ran before the end."""
    if path.exists():
        report = json.loads(path.read_text("utf-8"))
        assert report["complete"] is (report["verdict"] != "partial")
        every_test = {test for name in report["components"] for test in inventory.tests(name, "dev")}
        assert not report["complete"] or executed(report) == every_test
    path.unlink(missing_ok=True)
    assert not list(path.parent.glob(f".{path.name}.*"))


@pytest.mark.parametrize("number", thin_out(range(12), 5))
def test_a_killed_run(project: Project, number: int) -> None:
    """A run that is interrupted or killed at a random moment leaves no report, or one that says it is partial."""
    target, longest_s = TARGETS[number % len(TARGETS)]
    moment = random.Random(number).uniform(0.2, longest_s)
    process = project.start(target, "--corpus-report=r.json", "-q")
    time.sleep(moment)
    process.send_signal([signal.SIGINT, signal.SIGTERM, signal.SIGKILL][number % 3])
    process.wait(60)
    assert_honest(project.path / "r.json")


def children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(part) for part in text.split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds worker processes by /proc")
@pytest.mark.parametrize("number", thin_out(range(8), 8))
def test_a_killed_worker(project: Project, number: int) -> None:
    """A worker that is killed at a random moment leaves a run without a verdict."""
    target, longest_s = TARGETS[number % len(TARGETS)]
    moment = random.Random(number).uniform(0.2, longest_s)
    process = project.start(target, "--corpus-report=r.json", "-q", "-n", "2", plugins=("xdist",))
    time.sleep(moment)
    workers = children(process.pid)
    if workers:
        subprocess.run(["kill", "-KILL", str(workers[0])], check=False)
    process.wait(100)
    assert_honest(project.path / "r.json")


def assert_deleted(spaces: Path) -> None:
    """Every namespace that was made is deleted again."""
    made = namespaces(spaces, "vector.create_namespace")
    assert len(made) > 3
    assert made <= namespaces(spaces, "vector.delete_namespace")


def namespaces(spaces: Path, op: str) -> set[tuple[str | None, str]]:
    """The namespaces that were created, or deleted: one may be created again."""
    lines = spaces.read_text().split("\n")[:-1] if spaces.exists() else []
    return {(tenant, name) for done, tenant, name in map(json.loads, lines) if done == op}


def test_a_worker_is_not_interrupted_as_it_tidies_up(project: Project) -> None:
    """An interrupt at that time does not come from the user, and each namespace is still deleted."""
    project.adapter(KEEPING)
    few = ("--corpus-adapter=mine:Impatient", "--corpus-requirement=VEC-NS-*,VEC-UPSERT-1", "-n", "2")
    assert project.run(*few, plugins=("xdist",)).ret == 0
    assert_deleted(project.path / "spaces.txt")


def test_an_interrupted_run_on_workers_tidies_up(project: Project) -> None:
    """After SIGTERM in the middle of a run, every namespace that the suite made is deleted again.

    `test_an_interrupted_run_leaves_nothing` in test_sweeping.py shows the same of one process.
    """
    project.adapter(KEEPING)
    given = ("--corpus-adapter=mine:Keeping", "--corpus-report=r.json", "-q", "-n", "2")
    process = project.start(*given, plugins=("xdist",), python=sys.executable)
    spaces = project.path / "spaces.txt"
    end = time.monotonic() + 60
    while time.monotonic() < end and len(namespaces(spaces, "vector.create_namespace")) < 4:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert_deleted(spaces)
    assert json.loads((project.path / "r.json").read_text())["gaps"]


def test_a_run_that_ends_by_itself(project: Project) -> None:
    """An adapter that leaves the process in the middle of the run leaves a partial report, and no older one."""
    project.adapter("import os\n@before('llm.count_tokens')\ndef Leaving(adapter, envelope): os._exit(0)\n")
    asked = ("--corpus-report=r.json", "--corpus-report=r.svg")
    (project.path / "r.json").write_text("an older report")
    project.run_apart("--corpus-adapter=mine:Leaving", *asked)
    assert (project.report()["verdict"], project.report()["gaps"]) == (
        "partial",
        ["the run did not finish", "no conformance test ran"],
    )
    assert "no verdict" in (project.path / "r.svg").read_text()


def test_a_usage_error_leaves_no_report(project: Project) -> None:
    """An older report is removed if the adapter cannot be tested."""
    (project.path / "r.json").write_text("an older report")
    result = project.run("--corpus-adapter=mine:nothing", "--corpus-report=r.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (project.path / "r.json").exists()


def test_several_adapters_leave_no_report_of_none(project: Project) -> None:
    """If each adapter has its own report, none stays at the place that was asked for."""
    project.adapter("from pytest_corpus.reference import client as one, client as two\n")
    few = ("--corpus-client=a=mine:one", "--corpus-client=b=mine:two", "--corpus-requirement=WIR-OFFER-1")
    project.run(*few, "--corpus-report=r.json")
    assert sorted(path.name for path in project.path.glob("r*.json")) == ["r.a.json", "r.b.json"]


BLOCKING = '''
import asyncio, threading, time

class close_blocks(Wrapped):
    def close(self): time.sleep(1000)

class aclose_goes_on(Wrapped):
    async def aclose(self):
        while True:
            try: await asyncio.sleep(1000)
            except asyncio.CancelledError: pass

class aclose_waits(Wrapped):
    async def aclose(self): await asyncio.to_thread(time.sleep, 1000)

@before("llm.count_tokens")
async def thread_blocks(adapter, envelope): await asyncio.to_thread(threading.Event().wait)

@before("llm.count_tokens")
async def executor_blocks(adapter, envelope):
    await asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)

@before("llm.count_tokens")
def thread_is_left(adapter, envelope):
    """The adapter gives up on its client, and answers."""
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)

@before("llm.count_tokens")
def task_is_left(adapter, envelope):
    adapter.task = asyncio.ensure_future(asyncio.to_thread(threading.Event().wait))

class tidying_waits(Wrapped):
    component = "vector"
    async def handle(self, envelope):
        if op_of(envelope) in ("vector.delete", "vector.delete_namespace"): await asyncio.to_thread(time.sleep, 1000)
        return await self.inner.handle(envelope)
'''

LAST_TEST = """
import time
def pytest_runtest_logreport(report):
    with open("last.txt", "w") as file: file.write(str(time.monotonic()))
"""


BLOCKED = re.findall(r"^(?:class|(?:async )?def) (\w+)", BLOCKING, re.MULTILINE)


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "thread_is_left" else pytest.mark.slow) for name in BLOCKED]
)
def test_a_process_that_an_adapter_blocks_ends(project: Project, name: str, workers: str) -> None:
    """The verdict is shown, the report is whole, and the process is gone within 15 s of the last test."""
    project.adapter(BLOCKING)
    project.pytester.makepyfile(last_test=LAST_TEST)
    few = "--corpus-requirement=COM-CAP-1,LLM-TOKENS-1,LLM-COMPLETE-1,VEC-UPSERT-1"
    patience = ("-ocorpus_call_timeout=1",) if name != "tidying_waits" else ()
    given = (f"--corpus-adapter=mine:{name}", "--corpus-report=r.json", few, *patience)
    plugins = ("xdist",) if workers != "0" else ()
    spread = ("-n", workers) if workers != "0" else ()
    result = project.run_apart(*given, *spread, "-p", "last_test", plugins=plugins)
    assert time.monotonic() - float((project.path / "last.txt").read_text()) < 15
    assert "  no verdict: only a part of the suite ran" in result.outlines, said(result)
    report = project.report()
    assert {test["outcome"] for entry in report["requirements"] for test in entry["tests"]} >= {"satisfied"}
    assert "the run did not finish" not in report["gaps"]
