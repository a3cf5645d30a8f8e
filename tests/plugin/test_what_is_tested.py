"""Which components a run tests (R76), with the README's own sample."""

import re
import signal
import subprocess
import time
from itertools import takewhile
from pathlib import Path

import pytest
from inner_runs import PYTHON, Project, said

ROOT = Path(__file__).parents[2]
BARE = """
class Bare:
    protocol = None
    async def handle(self, envelope):
        stated = {"server": "x", "version": "1", **({"protocol": self.protocol} if self.protocol else {})}
        return {"ok": True, "code": "OK", "ms": 0, "result": stated}

class Named(Bare):
    protocol = "llm/v1.0"

class Wrong(Bare):
    protocol = "corpus/v1.0"

def mapping(): return {"embedding": Bare()}
"""
FEW = "--corpus-requirement=COM-CAP-[12]"


@pytest.fixture
def bare(project: Project) -> Project:
    """A folder with adapters that answer everything."""
    project.adapter(BARE)
    return project


def test_what_no_protocol_names_is_left_out(bare: Project) -> None:
    """What answers for every component is tested for the one that its `protocol` names, and the run says so."""
    for more in ((), ("-q",)):
        result = bare.run("--corpus-adapter=mine:Named", FEW, "--corpus-report=r.json", *more)
        assert list(bare.report()["components"]) == ["llm"]
        (line,) = [line for line in result.outlines if "not tested" in line]
        assert "not tested: vector, embedding, graph," in line
    both = bare.run("--corpus-adapter=mine:Named", "--corpus-components=LLM,Vector", FEW, "--corpus-report=r.json")
    assert list(bare.report()["components"]) == ["llm", "vector"]
    assert "not tested" not in said(both)


@pytest.mark.parametrize("name", ["Bare", "Wrong"])
def test_nothing_is_named(bare: Project, name: str) -> None:
    """Where no component is named there is nothing to test, unless the user names one."""
    result = bare.run(f"--corpus-adapter=mine:{name}", FEW)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "name the component: --corpus-components=llm" in said(result)
    assert bare.run(f"--corpus-adapter=mine:{name}", "--corpus-components=llm", FEW).ret in (0, 1)


def test_a_mapping_names_its_components(bare: Project) -> None:
    """What the factory's mapping names needs no `protocol` to be tested."""
    bare.run("--corpus-adapter=mine:mapping", FEW, "--corpus-report=r.json")
    assert list(bare.report()["components"]) == ["embedding"]


def test_the_sample_of_the_readme(project: Project) -> None:
    """It is one component, and its red run says on one screen what to fix first and what the verdict is."""
    sample = re.search(r"```python\n(import time\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert sample
    (project.path / "mypkg.py").write_text(sample[1], "utf-8")
    result = project.run("--corpus-adapter=mypkg:factory", "--corpus-report=r.json")
    assert list(project.report()["components"]) == ["llm"]
    assert result.ret == 1
    assert "  verdict: nonconformant" in result.outlines[-5:]
    start = result.outlines.index("fix first:")
    listed = list(takewhile(lambda line: line.startswith("  "), result.outlines[start + 1 :]))
    assert 2 <= len(listed) <= 7
    assert sum(line.startswith("  rerun:") for line in result.outlines) < 30


def test_strict_says_what_it_does(project: Project) -> None:
    """Where nothing but --corpus-strict fails the run, a line says so."""
    project.adapter("def hookless(): return llm()\n")
    given = ("--corpus-adapter=mine:hookless", "--corpus-requirement=COM-OBS-1,COM-CAP-1")
    loose, strict = project.run(*given), project.run(*given, "--corpus-strict")
    assert (loose.ret, strict.ret) == (0, 1)
    assert "failed by --corpus-strict" not in said(loose)
    assert [line for line in strict.outlines if re.fullmatch(r"failed by --corpus-strict: \d+ MUST not assessed", line)]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_stopped_before_its_first_test(project: Project, stop: signal.Signals) -> None:
    """A run that is stopped before its first test ends without a traceback, and at once."""
    project.adapter("import time\ndef slow():\n    print('opening', flush=True)\n    time.sleep(1)\n    return llm()\n")
    given = project.arguments(("--corpus-adapter=mine:slow", "-s"), ())
    command = [PYTHON, "-m", "pytest", *given]
    process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    next(line for line in process.stdout if "opening" in line)
    started = time.monotonic()
    process.send_signal(stop)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == (2 if stop == signal.SIGINT else 143), out
    assert time.monotonic() - started < 10
    assert "Traceback" not in out
    assert "ERROR" not in out
