"""Adapters of several components, those that a run tests (R76), and adapters that keep what they are given."""

import json
import re
import signal
import subprocess
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from inner_runs import Project, said, statuses, usage_error, violated
from tables import read_json_rows

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.requirements import applicable_requirements

ALL = "--corpus-adapter=pytest_corpus.reference:all"

CONSTANT = '''
import json
from pytest_corpus.reference import all as everything

CLAIMS = everything()
ANSWERS = json.loads(open("answers.json").read())

class Constant:
    """Claims what the reference claims, stores nothing and answers every operation with one valid answer."""

    def __init__(self, metrics=None, provider=None):
        self.metrics, self.provider = metrics, provider

    async def answer(self, envelope):
        op = envelope.get("op") if isinstance(envelope, dict) else None
        known = isinstance(op, str) and op in ANSWERS
        if known:
            try:
                await self.provider.reached(op)
            except Exception:
                pass
            self.metrics.observe(component=op.partition(".")[0], op=op, ms=1.0, ok=True, code="OK")
        return ANSWERS[op] if known else {}

    async def handle(self, envelope):
        op = envelope.get("op") if isinstance(envelope, dict) else None
        if isinstance(op, str) and op.endswith(".capabilities"):
            return await CLAIMS[op.partition(".")[0]].handle({"op": op, "ctx": {}, "args": {}})
        return {"ok": True, "code": "OK", "ms": 1.0, "result": await self.answer(envelope)}

    async def handle_stream(self, envelope):
        chunk = await self.answer(envelope)
        yield {"ok": True, "code": "STREAMING", "ms": 1.0, "chunk": {"is_final": True, **chunk}}

def constants(metrics, provider):
    return {component: Constant(metrics, provider) for component in ("llm", "vector", "embedding", "graph")}
'''


@pytest.mark.slow
def test_all_components_are_conformant(project: Project) -> None:
    """The embedded adapters of the four components keep every requirement, and each was tested."""
    result = project.run_apart(ALL, "-n", "2", "--corpus-report=r.json", plugins=("xdist",), timeout=300)
    report = project.report()
    assert result.ret == 0, said(result)
    assert (report["verdict"], report["complete"]) == ("conformant", True)
    assert set(report["components"]) == set(COMPONENTS)
    for component in COMPONENTS:
        own = {entry["id"] for entry in report["requirements"] if entry["component"] == component}
        assert own == {entry.id for entry in applicable_requirements(component)}
    assert sum(len(entry["tests"]) for entry in report["requirements"]) >= 550


def test_one_component_of_several(project: Project) -> None:
    """`--corpus-components` picks one, and `-m` its tests."""
    few = "--corpus-requirement=COM-CAP-*"
    project.run(ALL, few, "--corpus-components=graph", "--corpus-report=r.json")
    assert list(project.report()["components"]) == ["graph"]
    result = project.run(ALL, few, "-m", "vector", "--collect-only", "-q")
    assert all("/vector/" in line for line in result.outlines if "::" in line)


def constant_answers() -> dict[str, Any]:
    counted = {"failed_count": 0, "failures": []}
    answers: dict[str, Any] = dict(read_json_rows(Path(__file__).with_name("constant_answers.txt")))
    for operation in OPERATIONS:
        if operation.op not in answers:
            answers[operation.op] = {
                "health": {"ok": True, "status": "ok", "server": "constant", "version": "1"},
                "count_tokens": 1,
                "batch": {"results": [], "success": True},
                "transaction": {"results": [], "success": True},
            }.get(operation.name, {"success": True, "namespace": "default", "details": {}})
        if operation.name.startswith(("upsert_", "delete_")) and operation.component == "graph":
            answers[operation.op] = {f"{operation.name.partition('_')[0].rstrip('e')}ed_count": 1, **counted}
    return answers


@pytest.mark.slow
def test_constants_are_found_out(project: Project) -> None:
    """Of an adapter that stores nothing and answers valid constants a third of each component's MUSTs are at fault.

    Those that are at fault are violated, or blocked by one that is.
    """
    project.pytester.makepyfile(constant=CONSTANT)
    (project.path / "answers.json").write_text(json.dumps(constant_answers()))
    _, report = project.judged("constant:constants", "-ocorpus_call_timeout=3")
    for component in COMPONENTS:
        assert report["components"][component]["verdict"] == "nonconformant"
        own = [entry for entry in report["requirements"] if (entry["component"], entry["level"]) == (component, "MUST")]
        decided = [entry for entry in own if entry["status"] != "not_applicable"]
        at_fault = [entry for entry in decided if entry["status"] == "violated" or entry.get("blocked_by")]
        assert len(at_fault) * 3 > len(decided), component


def test_other_dialects(project: Project) -> None:
    """A graph in a language that nobody knows is not assessed in what rests on queries, and never failed."""
    project.adapter(
        "from pytest_corpus.reference.graph.adapter import ReferenceGraph\n"
        "class Foreign(ReferenceGraph):\n"
        "    async def capabilities(self, call):\n"
        "        stated = await super().capabilities(call)\n"
        "        hidden = ('dialects', 'supported_query_dialects')\n"
        "        return {**{k: v for k, v in stated.items() if k not in hidden}, 'dialects': ['sparql']}\n"
    )
    _, report = project.judged("mine:Foreign", "GRA-QUERY-*")
    found = statuses(report)
    assert violated(report) == set()
    assert found["graph", "GRA-QUERY-2"] == "not_assessed"


@pytest.mark.parametrize(("text", "wanted"), [
    (None, "there is no such file"),
    ("{", "--corpus-dialects=queries.json:"),
    ('{"sparql": {"look": "x"}}', "unknown purpose 'look'"),
    ('{"sparql": "x"}', "must be an object from purpose to text"),
], ids=["missing", "no_json", "unknown_purpose", "no_object"])  # fmt: skip
def test_wrong_dialects(project: Project, text: str | None, wanted: str) -> None:
    """A file of probe queries that cannot be used is a usage error of one line."""
    if text is not None:
        (project.path / "queries.json").write_text(text)
    line = usage_error(project.run(ALL, "--corpus-dialects=queries.json"))
    assert wanted in line


def test_a_failing_sequence_is_shortened(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding of a sequence of writes is printed as the shortest list of calls, numbered."""
    project.adapter(
        "from pytest_corpus.reference.graph.adapter import ReferenceGraph\n"
        "class Forgetful(ReferenceGraph):\n"
        "    async def delete_nodes(self, call):\n"
        "        return {'deleted_count': 0, 'failed_count': 0, 'failures': []}\n"
    )
    monkeypatch.setenv("CI", "true")  # where pytest does not shorten its summary
    result = project.run("--corpus-adapter=mine:Forgetful", "--corpus-requirement=GRA-MODEL-1", "--corpus-seed=7")
    assert "smallest story:" in said(result)
    lines = [line.strip() for line in result.outlines if re.match(r" +\d\. handle(?:_stream)? ", line)]
    assert [line[:2] for line in lines] == ["1.", "2.", "3."], said(result)
    assert ["upsert_nodes" in lines[0], "delete_nodes" in lines[1]] == [True, True]
    assert "3 calls, none of which can be left out; found with " in said(result)


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
    """An adapter that answers for every component is tested for the one that its `protocol` names, and told so."""
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
    """If no component is named there is nothing to test, unless the user names one."""
    result = bare.run(f"--corpus-adapter=mine:{name}", FEW)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "name the component: --corpus-components=llm" in said(result)
    assert bare.run(f"--corpus-adapter=mine:{name}", "--corpus-components=llm", FEW).ret in (0, 1)


def test_a_mapping_names_its_components(bare: Project) -> None:
    """A component that the factory's mapping names needs no `protocol` to be tested."""
    _, report = bare.judged("mine:mapping", FEW)
    assert list(report["components"]) == ["embedding"]


def test_the_sample_of_the_readme(project: Project) -> None:
    """It is one component, and its red run says on one screen what to fix first and what the verdict is."""
    sample = re.search(r"```python\n(import time\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert sample
    (project.path / "mypkg.py").write_text(sample[1], "utf-8")
    result, report = project.judged("mypkg:factory")
    assert list(report["components"]) == ["llm"]
    assert result.ret == 1
    assert "  verdict: nonconformant" in result.outlines[-5:]
    start = result.outlines.index("fix first:")
    listed = list(takewhile(lambda line: line.startswith("  "), result.outlines[start + 1 :]))
    assert 2 <= len(listed) <= 7
    assert sum(line.startswith("  rerun:") for line in result.outlines) < 30


def test_strict_says_what_it_does(project: Project) -> None:
    """If nothing but --corpus-strict fails the run, a line says so."""
    project.adapter()
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
    command = [sys.executable, "-m", "pytest", *given]
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
