"""Runs the conformance suite many times in one process, each time against another adapter.

Starting pytest anew costs more than the suite itself, so a `Runner` keeps one process that imports everything
once. It is fed a factory and a scope, a line each, and answers with what the JSON report says, a line each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import forks
from witness import Witness

from pytest_corpus.adapter.opening.address import scheme_of
from pytest_corpus.reports.view import order_violations

CALL_TIMEOUT_S = 3
"""What the suite allows a call in these runs: hanging mutants should not take long."""

PATIENCE_S = 120
"""After which a run is given up: no mutant may hang the suite."""

WHOLE = "*"
"""The scope of the whole suite."""

WIDTH = "CORPUS_MUTANTS_CONCURRENCY"
"""The variable that holds the number of tests in flight; 1 by default."""

UNUSED = (
    "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "pastebin",
    "recwarn", "stepwise", "terminal", "threadexception", "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip
"""Plugins of pytest that the suite does without."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run of the suite.

    Attributes:
        statuses: the status of each requirement by its id.
        tests: the outcome of each test, by the id of its requirement.
        findings: what was found, by the id of the violated requirement.
        blockers: the requirements that block others.
        errors: the tests in which the suite itself failed, with what they say.
        misplaced: the findings that show another call than the one whose answer violates the sentence.
        to_fix: the violated MUSTs, in the order of repair.
        gaps: the reasons why the run is partial.
    """

    verdict: str
    complete: bool
    statuses: dict[str, str]
    tests: dict[str, list[str]]
    findings: dict[str, list[str]]
    blockers: frozenset[str]
    errors: list[str]
    misplaced: list[str]
    to_fix: list[str]
    gaps: list[str]

    @property
    def violated(self) -> list[str]:
        """The violated requirements, MUST and SHOULD."""
        return [requirement for requirement, status in self.statuses.items() if status == "violated"]

    def __str__(self) -> str:
        found = [f"  {name}: {'; '.join(self.findings.get(name, [])[:2])}" for name in self.violated]
        return "\n".join([f"the verdict is {self.verdict}, violated: {', '.join(self.violated) or 'nothing'}", *found])


class Runner:
    """A process that runs the suite against one adapter after the other."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "log"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def run(self, factory: str, scope: str) -> Report:
        """The report of the tests of the requirements in `scope` on the adapter that `factory` makes.

        Raises:
            RuntimeError: the run ended without a report, or did not end.
        """
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            process.stdin.write(f"{factory}\t{scope}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watchdog.cancel()
        if not line:
            self._stop()
            raise RuntimeError(f"{factory}: no report within {PATIENCE_S} s, or the process ended\n{self._said()}")
        answer = json.loads(line)
        if "exit" in answer:
            raise RuntimeError(f"{factory}: pytest ended with {answer['exit']} and no report\n{self._said()}")
        return _report(answer)

    def _start(self) -> subprocess.Popen[str]:
        tests = Path(__file__).parents[1]
        path = os.pathsep.join([str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
            environment.pop(name, None)
        with self._log.open("a") as log:
            return subprocess.Popen(
                [forks.forking_python(), "-m", f"{Path(__file__).parent.name}.runner"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder.name,
                env=environment,
                text=True,
            )

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _said(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


class Laboratory:
    """A few runners that work at the same time: much of a run is waiting for deadlines."""

    def __init__(self, runners: int = 2) -> None:
        self._open = ExitStack()
        self._idle: SimpleQueue[Runner] = SimpleQueue()
        for _ in range(runners):
            self._idle.put(self._open.enter_context(Runner()))
        self._pool = self._open.enter_context(ThreadPoolExecutor(runners))
        self._begun: dict[tuple[str, str], Future[Report]] = {}

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def begin(self, factory: str, scope: str = WHOLE) -> Future[Report]:
        """Have the suite, or a part of it, run on an adapter, once, as soon as a runner is free."""
        if (factory, scope) not in self._begun:
            self._begun[factory, scope] = self._pool.submit(self._run, factory, scope)
        return self._begun[factory, scope]

    def report(self, factory: str, scope: str = WHOLE) -> Report:
        """The report of the suite, or of a part of it, on an adapter, when there is one."""
        return self.begin(factory, scope).result()

    def _run(self, factory: str, scope: str) -> Report:
        runner = self._idle.get()
        try:
            return runner.run(factory, scope)
        finally:
            self._idle.put(runner)


def _report(answer: dict[str, Any]) -> Report:
    entries = answer["requirements"]
    return Report(
        answer["verdict"],
        answer["complete"],
        {entry["id"]: entry["status"] for entry in entries},
        {entry["id"]: [test["outcome"] for test in entry["tests"]] for entry in entries},
        {
            entry["id"]: [
                f"expected {each['expected']}, got {each['got']} {each['path']}".rstrip() for each in entry["findings"]
            ]
            for entry in entries
            if "findings" in entry
        },
        frozenset(by for entry in entries for by in entry.get("blocked_by", ())),
        [test["test"] for entry in entries for test in entry["tests"] if test["outcome"] == "error"],
        answer["misplaced"],
        [entry["id"] for entry in order_violations(answer) if entry["level"] == "MUST"],
        answer["gaps"],
    )


def examine(factory: str, report: Path, scope: str = WHOLE) -> str:
    """Run the suite in this process; the report as one line of JSON, or the exit code where there is none."""
    import pytest

    report.unlink(missing_ok=True)
    component = _named(factory)
    named = [f"--corpus-components={component}"] if component else []
    witness = Witness()
    code = pytest.main(
        [
            f"--rootdir={report.parent}",
            "--capture=no",
            *(f"-pno:{name}" for name in UNUSED),
            "-ppytest_corpus.plugin",
            f"--corpus-adapter={factory}",
            *named,
            f"--corpus-requirement={scope}",
            f"--corpus-report={report}",
            f"-ocorpus_call_timeout={CALL_TIMEOUT_S}",
            f"--corpus-concurrency={os.environ.get(WIDTH, '1')}",
        ],
        [witness],
    )
    found = json.loads(report.read_text()) if report.exists() else {"exit": int(code)}
    return json.dumps({**found, "misplaced": witness.misplaced})


def _named(factory: str) -> str:
    """The component that a run has to name; empty where it names none.

    What names no component of the protocol is tested for one where the run names it (R76), and the servers of the
    tests have one alone.
    """
    if scheme_of(factory):
        return "llm"
    module, _, name = factory.partition(":")
    made = getattr(import_module(module), name, None)
    return str(made.component) if made is not None and getattr(made, "asked_for_by_name", False) else ""


def serve() -> None:
    """Examine each factory that comes in by a line; what the suite prints goes to the log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        factory, scope = line.rstrip("\n").split("\t")
        print(examine(factory, Path.cwd() / "report.json", scope), file=answers, flush=True)


if __name__ == "__main__":
    serve()
