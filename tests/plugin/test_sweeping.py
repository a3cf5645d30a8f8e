"""Nothing that the suite wrote stays in a store: after a run, a signal, and by `pytest-corpus sweep` a SIGKILL."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import quotas
from inner_runs import Project, said

from pytest_corpus.cli import main
from pytest_corpus.kit.store import leftovers

NAMES = ["KeptVector", "KeptGraph", "KeptDefault"]


def start(project: Project, name: str, *given: str, **how: Any) -> subprocess.Popen[bytes]:
    """A run against an adapter that keeps everything in a file."""
    shutil.copy(quotas.__file__, project.path)
    return project.start(f"--corpus-adapter=quotas:{name}", "-q", *given, **how)


def component_of(name: str) -> str:
    return "graph" if name == "KeptGraph" else "vector"


def wait_for_some(process: subprocess.Popen[bytes], folder: Path, name: str) -> None:
    """Wait until something is in the store, in the middle of the run."""
    end = time.monotonic() + 60
    tests = 0
    while time.monotonic() < end and process.poll() is None and tests < 5:
        tests += bool(quotas.names(component_of(name)))
        time.sleep(0.05)
    assert process.poll() is None
    assert list((folder / leftovers.FOLDER).glob("*.jsonl"))


def pause(process: subprocess.Popen[bytes]) -> None:
    """Stop a run and its workers, and return when they have stopped: a signal takes effect a little later."""
    os.killpg(process.pid, signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    time.sleep(0.05)


@pytest.mark.parametrize(
    ("name", "stop"), [("KeptVector", signal.SIGINT), ("KeptGraph", signal.SIGTERM), ("KeptDefault", signal.SIGINT)]
)
def test_an_interrupted_run_leaves_nothing(project: Project, name: str, stop: signal.Signals) -> None:
    """After Ctrl-C or SIGTERM the store is empty, nothing is written down any more, and the report says why."""
    process = start(project, name, "--corpus-report=r.json", python=sys.executable)
    wait_for_some(process, project.path, name)
    process.send_signal(stop)
    # Python ends itself by SIGINT if it interrupted code that was compiled from a text, as that of dataclasses is.
    ends = (pytest.ExitCode.INTERRUPTED, -stop) if stop == signal.SIGINT else (128 + stop,)
    assert process.wait(60) in ends
    assert project.report()["gaps"]
    assert quotas.names(component_of(name)) == []
    assert not (project.path / leftovers.FOLDER).exists()


@pytest.mark.parametrize(("name", "scope"), [
    ("KeptVector", "VEC-*,COM-TENANT-*,COM-IDEM-*,COM-CONC-*"),
    ("KeptGraph", "COM-IDEM-*,COM-CONC-*,COM-WIRE-*,GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*,GRA-MODEL-*"),
    pytest.param("KeptVector", "*", marks=pytest.mark.slow),
    pytest.param("KeptGraph", "*", marks=pytest.mark.slow),
    ("KeptDefault", "VEC-UPSERT-*,VEC-DELETE-*,VEC-QUERY-*,VEC-STATE-*,COM-TENANT-*,COM-IDEM-*"),
])  # fmt: skip
def test_a_journal_knows_all_that_is_written(project: Project, name: str, scope: str) -> None:
    """Whenever a run is killed, what is in the store is in its journal, so that `sweep` finds it.

    A run that ends by itself leaves nothing.
    """
    quotas.UNKNOWN.clear()
    quotas.TENANTS.clear()
    given = (f"--corpus-adapter=quotas:{name}", f"--corpus-requirement={scope}", "--corpus-report=r.json")
    result = project.run(*given)
    assert result.ret == 0, said(result)
    assert project.report()["verdict"] == ("conformant" if scope == "*" else "partial")
    assert quotas.STORE.exists()
    assert set() == quotas.UNKNOWN
    assert quotas.names(component_of(name)) == []
    assert not (project.path / leftovers.FOLDER).exists()


@pytest.mark.parametrize(("name", "workers"), [*((name, 0) for name in NAMES), ("KeptGraph", 2)])
def test_a_killed_run_is_swept(
    project: Project, name: str, workers: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a SIGKILL `sweep` deletes what the run left, and what it left alone."""
    process = start(project, name, *(["-n2"] if workers else []), plugins=("xdist",) if workers else ())
    wait_for_some(process, project.path, name)
    pause(process)
    while not quotas.names(component_of(name)):  # between two tests nothing may be there
        os.killpg(process.pid, signal.SIGCONT)
        time.sleep(0.05)
        pause(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    while any(map(leftovers.is_in_use, (project.path / leftovers.FOLDER).glob("*.jsonl"))):
        time.sleep(0.05)
    left = quotas.names(component_of(name))
    assert left
    [run] = {leftovers.run_of(each) for each in left} - {None}
    assert run
    assert {each for each in left if leftovers.run_of(each) is None} <= {leftovers.uuid_of(run)}
    monkeypatch.syspath_prepend(str(project.path))
    quotas.TENANTS.clear()
    assert main(["sweep", f"--adapter=quotas:{name}", "--older-than=1h"]) == 0
    assert quotas.names(component_of(name)) == left
    assert main(["sweep", f"--adapter=quotas:{name}"]) == 0
    assert quotas.names(component_of(name)) == []
    assert not (project.path / leftovers.FOLDER).exists()
    assert "deleted" in capsys.readouterr().out


def test_a_run_that_is_going_is_left_alone(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A run whose process is there loses nothing unless it is named."""
    folder = project.path / leftovers.FOLDER
    run = leftovers.new_run()
    journal = leftovers.Journal(folder / f"{run}.jsonl", run, "pytest_corpus.reference:vector")
    journal.add(("vector", None, None, "namespace"), [f"corpusrun{run}n1", "somebody-elses"])
    adapter = "--adapter=pytest_corpus.reference:vector"
    assert main(["sweep", adapter]) == 0
    assert f"run {run} is still going" in capsys.readouterr().err
    assert main(["sweep", adapter, f"--run={run}"]) == 0
    assert capsys.readouterr().out == f"run {run}: 1 item deleted\n"
    assert not folder.exists()


DECLARED = """
from quotas import KeptVector as imported

def made(metrics=None, provider=None):
    return imported(metrics=metrics, provider=provider)

def pytest_corpus_adapter(config):
    return {}
"""


@pytest.mark.parametrize("factory", ["imported", "made", "lambda: imported()"])
def test_a_run_that_a_conftest_declared_is_swept(
    project: Project, factory: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its factory, or because the run tested no other adapter; the name of its declaration is not needed."""
    shutil.copy(quotas.__file__, project.path)
    project.pytester.makeconftest(DECLARED.format(factory))
    process = project.start("-q")
    wait_for_some(process, project.path, "KeptVector")
    pause(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    (path,) = (project.path / leftovers.FOLDER).glob("*.jsonl")
    while leftovers.is_in_use(path):
        time.sleep(0.05)
    monkeypatch.syspath_prepend(str(project.path))
    quotas.TENANTS.clear()
    assert main(["sweep", "--adapter=quotas:KeptVector"]) == 0
    assert quotas.names("vector") == []
    assert not path.exists()
    assert "deleted" in capsys.readouterr().out


NOTES_NAMESPACES = """
import json
from pathlib import Path
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.vector.adapter import ReferenceVector

class Notes:
    async def handle(self, envelope):
        args = envelope.get("args") if isinstance(envelope, dict) else None
        if isinstance(args, dict) and isinstance(args.get("namespace"), str):
            with Path("namespaces.txt").open("a") as file:
                file.write(json.dumps(args["namespace"]) + "\\n")
        return await super().handle(envelope)

class Graph(Notes, ReferenceGraph): pass

class Vector(Notes, ReferenceVector): pass
"""


@pytest.mark.parametrize("name", ["Graph", "Vector"])
def test_every_namespace_has_the_name_of_its_run(project: Project, name: str) -> None:
    """A store that makes a namespace when it is read, too, holds none that cannot be told from others'."""
    project.pytester.makepyfile(mine=NOTES_NAMESPACES)
    result = project.run(f"--corpus-adapter=mine:{name}", "--corpus-requirement=GRA-NS-*,VEC-NS-*,COM-TENANT-*")
    assert result.ret == 0, said(result)
    used = {*map(json.loads, (project.path / "namespaces.txt").read_text().splitlines())} - {"default"}
    assert used
    assert [each for each in used if leftovers.run_of(each) is None] == []


def test_a_sweep_says_what_it_did_not(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to sweep, a run of another adapter, and one of several that a file declared."""
    adapter = "--adapter=pytest_corpus.reference:vector"
    assert main(["sweep", adapter]) == 0
    assert "there is no record of an earlier run of this adapter in .corpus" in capsys.readouterr().out
    run, other = "k3f9tm6l3k", "k3f9tm6l3l"
    for name, declared in ((run, "mypkg:other"), (other, "conftest.py: one"), (other, "test_mine.py::two")):
        journal = leftovers.Journal(project.path / leftovers.FOLDER / f"{name}{declared[:4]}.jsonl", name, declared)
        journal.add(("vector", None, None, "namespace"), [f"corpusrun{name}n1"])
        journal.close()
    assert main(["sweep", adapter]) == 0
    warned = capsys.readouterr().err
    assert f"run {run} tested mypkg:other, which is another adapter" in warned
    assert f"run {other} tested test_mine.py::two, which is another adapter" in warned
    assert len(list((project.path / leftovers.FOLDER).glob("*.jsonl"))) == 3


@pytest.mark.parametrize(("given", "expected"), [
    (["--run=nothing"], "--run=nothing: use the id of a run, such as k3f9tm6l3k"),
    (["--older-than=soon"], "--older-than=soon: use a time such as 90s, 30m, 1h or 7d"),
    (["--adapter=nowhere:at_all"], "nowhere"),
])  # fmt: skip
def test_wrong_arguments(project: Project, capsys: pytest.CaptureFixture[str], given: list[str], expected: str) -> None:
    """Arguments that make no sense are refused in one sentence."""
    assert main(["sweep", "--adapter=pytest_corpus.reference:vector", *given]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert expected in line


def test_the_id_of_a_run_tells_when_it_began() -> None:
    """The time is in the id, and nothing else is taken for one."""
    run = leftovers.new_run()
    assert abs((leftovers.began_at(run) or 0) - time.time()) < 2
    for name in (f"corpusrun{run}n1", f"a`Corpusrun{run}i1`", f"corpusrun{run}i1".upper(), f"corpusruncorpusrun{run}1"):
        assert leftovers.run_of(name) == run
    assert [
        leftovers.run_of(name)
        for name in ("corpusrunx1", "corpusrun", f"corpora{run}1", f"{run}1", "corpusrundocuments")
    ] == [None] * 5


def test_a_disk_that_becomes_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that the folder `.corpus` has no room for ends no test; one sentence says so."""
    journal = leftovers.Journal(tmp_path / ".corpus" / "run.jsonl", "run", "mine:factory")
    place: leftovers.Place = ("vector", "", "", "namespace")
    journal.add(place, ["one"])

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    journal.add(place, ["two"])
    journal.remove(place, ["one"])
    monkeypatch.undo()
    journal.close()
    assert journal.failed.endswith("could not be written: No space left on device")
    assert list(journal.names[place]) == ["two"]


LIMITED = """
import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
sys.exit(pytest.main())
"""


@pytest.mark.slow
def test_files_that_cannot_grow(project: Project) -> None:
    """If neither `.corpus` nor transcript nor report can be written, one line each says so, and the verdict stands."""
    few = ("--corpus-requirement=VEC-UPSERT-*,VEC-DELETE-*,VEC-NS-*", "-p", "no:cacheprovider")
    given = ("--corpus-adapter=pytest_corpus.reference:vector", "--corpus-report=r.json", "--corpus-transcript=t.jsonl")
    command = [sys.executable, "-B", "-c", LIMITED, *project.arguments((*given, *few), ())]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, timeout=100, check=False)
    lines = done.stdout.splitlines()
    for name in (".corpus/", "t.jsonl", "r.json"):
        told = [line for line in lines if "could not be written: File too large" in line and f"/{name}" in line]
        assert len(told) == 1, done.stdout
    assert "0 violated, 0 not assessed" in done.stdout
    assert "  no verdict: only a part of the suite ran" in lines
    assert "Traceback" not in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout
    assert done.returncode != 0
