"""Bundles over several workers, on this machine and on others; runs that are killed and resumed."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from samples import ALL, bundle, echo, provider, run, section, text

pytestmark = pytest.mark.usefixtures("plain_environment")


def test_a_lost_worker_does_not_shrink_the_denominator(pytester: pytest.Pytester) -> None:
    """A case whose worker died is an error: three of four pass, so 0.75 is held to 0.9."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], "provider: {name: dies}\n" + ALL)
    pytester.makeconftest(
        """
import os, time
def pytest_corpus_bundle_providers(config):
    def answer(request):
        if request.case == "case-1":
            os._exit(9)
        time.sleep(0.2)
        return "yes"
    return {"dies": answer}
"""
    )
    result = run(pytester, "-n", "2", apart=True)
    assert result.ret == 1
    assert "3/4 cases passed, 1 error" in text(result)
    assert "FAILS  pass_rate>=0.9  (0.75)" in text(result)  # xdist itself may blame the threshold for the lost worker
    assert "several workers do not help, because its cases run one at a time" in text(result)


def test_cases_that_never_ran_are_not_judged(pytester: pytest.Pytester) -> None:
    """After a worker is lost and none replaces it, only its case has an error; nothing is held to the threshold."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(40)], "provider: {name: dies}\n" + ALL)
    provider(pytester, "dies", "lambda request: os._exit(9) if request.case == 'case-3' else 'yes'", "import os\n")
    result = run(pytester, "-n", "1", "--max-worker-restart=0", "--corpus-report=r.json", apart=True)
    assert result.ret == 1
    assert "not judged; 3/40 cases passed, 1 error, 36 never asked; 4 calls" in text(result)
    assert section(pytester)["thresholds"] == []


SSH = """#!/bin/sh
export TMPDIR={root}/$2/temporary PYTHONPATH={package}
cd {root}/$2/work && exec sh -c "$3"
"""  # called with -C, the host and the command


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two worker machines, as xdist sees them by ssh: folders and TMPDIRs of their own."""
    for name in ("one", "two"):
        for kind in ("work", "temporary"):
            (tmp_path / name / kind).mkdir(parents=True)
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(SSH.format(root=tmp_path, package=Path(__file__).parents[2]))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}{os.pathsep}{os.environ['PATH']}")
    return [f"--tx=ssh={name}//python={sys.executable}" for name in ("one", "two")]


def test_workers_on_other_machines(pytester: pytest.Pytester, machines: list[str], tmp_path: Path) -> None:
    """Two workers by ssh give the same result as none, ask each case once, and keep no file of ours."""
    cases = [echo(n, "no" if n % 10 == 3 else "yes") for n in range(40)]
    more = f"provider: {{name: ours}}\nparallel: true\n{ALL}"
    bundle(pytester.path / "bundles" / "qa", cases, more)
    pytester.makeini("[pytest]\n")
    log = tmp_path / "calls"
    provider(pytester, "ours", f"lambda request: open({str(log)!r}, 'a').write(request.case + '\\n') and 'yes'")
    found = []
    for given in ([*machines, "--dist=load", f"--rsyncdir={pytester.path}"], ["-n0"]):
        log.write_text("")
        result = run(pytester, *given, "--corpus-report=r.json", str(pytester.path), apart=given != ["-n0"])
        whole = section(pytester)
        found.append([result.ret, *(whole[key] for key in ("verdict", "cases", "calls", "thresholds", "failures"))])
        assert sorted(log.read_text().splitlines()) == sorted(case["id"] for case in cases)
        assert "used: 40 calls" in text(result)
    assert found[0] == found[1]
    assert not [path for path in tmp_path.rglob("*corpus*") if "pyexecnetcache" not in path.parts]


@pytest.mark.slow
def test_a_lost_worker_on_another_machine(pytester: pytest.Pytester, machines: list[str], tmp_path: Path) -> None:
    """The case that it asked is an error; the other worker asks the rest, each once."""
    more = f"provider: {{name: dies}}\nparallel: true\nmax_parallel: 1\n{ALL}"
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(20)], more)
    pytester.makeini("[pytest]\n")
    log = tmp_path / "calls"
    answer = "lambda request: os._exit(9) if request.case == 'case-3' else log(request.case)"
    said = f"import os\ndef log(case):\n    open({str(log)!r}, 'a').write(case + '\\n')\n    return 'yes'\n"
    provider(pytester, "dies", answer, said)
    given = ("--dist=load", "--max-worker-restart=0", f"--rsyncdir={pytester.path}", "--corpus-report=r.json")
    result = run(pytester, *machines, *given, str(pytester.path), apart=True)
    assert result.ret == 1
    whole = section(pytester)
    assert [each["case"] for each in whole["failures"]] == ["case-3"]
    assert "the process that asked ended before it had an answer" in whole["failures"][0]["reasons"][0]
    asked = log.read_text().split()
    assert len(asked) == len(set(asked)) == whole["cases"]["passed"]


@pytest.mark.slow
def test_a_worker_behind_a_socket(pytester: pytest.Pytester) -> None:
    """Messages of several threads could mix on a socket, so the run refuses in one sentence."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], ALL)
    pytester.makeini("[pytest]\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "execnet.script.socketserver", address]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    server = subprocess.Popen(command, cwd=pytester.mkdir("work"), env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()  # it listens
        given = (f"--tx=socket={address}", "--dist=load", f"--rsyncdir={pytester.path / 'bundles'}")
        result = run(pytester, *given, str(pytester.path / "bundles"), apart=True)
    finally:
        server.kill()
        server.communicate()
    assert result.ret not in (0, 5)
    assert "cannot run on workers behind --tx=socket=...; start them with --tx=ssh=HOST" in text(result)
    assert "Traceback" not in text(result)


@pytest.mark.slow
def test_a_suite_on_other_machines(pytester: pytest.Pytester, machines: list[str]) -> None:
    """A component's suite over two workers by ssh is complete and conformant."""
    pytester.makeini("[pytest]\n")
    adapter = ("--corpus-adapter=pytest_corpus.reference:all", "--corpus-components=embedding")
    result = run(pytester, *machines, "--dist=load", f"--rsyncdir={pytester.path}", *adapter, apart=True)
    assert result.ret == 0, text(result)
    assert "verdict: conformant" in text(result)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_killed_run_is_resumed(pytester: pytest.Pytester, workers: str) -> None:
    """The same command asks only what has no answer yet, and ends like a run that was not killed."""
    more = f"provider: {{name: ours}}\nparallel: true\nmax_parallel: 2\n{ALL}"
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(12)], more)
    pytester.makeconftest(
        """
import os, signal, time
def pytest_corpus_bundle_providers(config):
    def answer(request):
        if os.path.exists("killed") and not os.path.exists("second"):
            time.sleep(3)  # a worker lives on for a moment
        with open("asked", "a") as file:
            file.write(request.case + "\\n")
        if request.case == "case-7" and not os.path.exists("second"):
            open("killed", "w").close()
            pid = os.getppid() if hasattr(config, "workerinput") else os.getpid()
            os.kill(pid, signal.SIGKILL)
            time.sleep(3)
        return "yes"
    return {"ours": answer}
"""
    )
    given = ("-n", workers, "--corpus-bundle-resume=kept", "--corpus-report=r.json")
    run(pytester, *given, apart=True, fork=False)  # a worker of a fork is no child of it
    first = (pytester.path / "asked").read_text().splitlines()
    assert len(first) < 12
    (pytester.path / "asked").unlink()
    (pytester.path / "second").touch()
    run(pytester, *given, apart=workers != "0", fork=False).assert_outcomes(passed=13)
    again = (pytester.path / "asked").read_text().splitlines()
    assert len(set(first) & set(again)) <= 2  # the calls that were under way
    assert {"case-7", "case-11"} <= set(again)
    assert set(first) | set(again) == {f"case-{n}" for n in range(12)}
    assert section(pytester)["calls"] == 12
