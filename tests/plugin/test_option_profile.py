"""`--corpus-profile`, `CORPUS_TEST_ENV` and `--corpus-allow-production` (BEHAVIORAL_CONFORMANCE 2, 8)."""

import itertools

import pytest
from inner_runs import REFERENCE, Project, said, statuses, usage_error

VECTOR = "--corpus-adapter=pytest_corpus.reference:vector"
FEW = "--corpus-requirement=LLM-TOKENS-1"

WATCHED = """
class Watched(Wrapped):
    component = "vector"
    async def handle(self, envelope):
        with open("seen.txt", "a") as file:
            file.write(f"{op_of(envelope)}\\n")
        return await self.inner.handle(envelope)
"""

WRITES = {"vector.upsert", "vector.delete", "vector.create_namespace", "vector.delete_namespace"}


def test_quick_is_a_smoke_run(project: Project) -> None:
    """`quick` runs at most one test of a requirement, finds no fault in the reference, and issues no verdict."""
    result = project.run(REFERENCE, "--corpus-profile=quick", "--corpus-report=r.json")
    assert result.ret == 0, said(result)
    report = project.report()
    assert (report["verdict"], report["complete"], report["profile"]) == ("partial", False, "quick")
    assert max(len(entry["tests"]) for entry in report["requirements"]) == 1
    assert "satisfied" in statuses(report).values()


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["quick", "dev", "ci", "stress"])
@pytest.mark.parametrize("component", ["llm", "vector", "embedding", "graph"])
def test_each_reference_keeps_each_profile(project: Project, component: str, profile: str) -> None:
    """A whole run of a reference adapter is conformant, whichever profile chose its tests; `quick` has no verdict."""
    result, report = project.judged(f"pytest_corpus.reference:{component}", "", f"--corpus-profile={profile}")
    assert result.ret == 0, said(result)
    assert report["verdict"] == ("partial" if profile == "quick" else "conformant"), said(result)


def test_stress_checks_each_of_its_tests(project: Project) -> None:
    """The tests that only `stress` runs check something: a sound adapter leaves none of them open."""
    few = "--corpus-requirement=COM-WIRE-3"
    _, report = project.judged("pytest_corpus.reference:llm", few, "--corpus-profile=stress")
    assert statuses(report)["llm", "COM-WIRE-3"] == "satisfied"


CROWDED = """
import asyncio

class Crowded(Wrapped):
    running = 0
    async def handle(self, envelope):
        Crowded.running += 1
        try:
            await asyncio.sleep(0)
            if Crowded.running > 30 and op_of(envelope) == "llm.count_tokens":
                envelope = {**envelope, "args": {**envelope["args"], "text": "another"}}
            return await self.inner.handle(envelope)
        finally:
            Crowded.running -= 1
"""


def test_stress_finds_what_only_load_shows(project: Project) -> None:
    """An adapter that mixes up calls from thirty at a time on is violated under `stress`, and under `ci` is not."""
    project.adapter(CROWDED)
    few = "--corpus-requirement=COM-CONC-1"
    assert project.run("--corpus-adapter=mine:Crowded", few).ret == 0
    result, report = project.judged("mine:Crowded", few, "--corpus-profile=stress")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert statuses(report)["llm", "COM-CONC-1"] == "violated"


@pytest.mark.parametrize("component", ["llm", "vector", "embedding", "graph"])
def test_the_reference_bears_stress(project: Project, component: str) -> None:
    """The tests that only `stress` collects find no fault in the reference adapters."""
    adapter = f"--corpus-adapter=pytest_corpus.reference:{component}"
    result = project.run(adapter, "--corpus-profile=stress", "-m", "slow")
    assert result.ret == 0, said(result)
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 5
    assert "failed" not in outcomes


@pytest.mark.parametrize(("variables", "profile"), [({}, "dev"), ({"CI": "true"}, "ci")], ids=["local", "ci"])
def test_the_usual_profile(
    project: Project, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], profile: str
) -> None:
    """A run that names no profile is `ci` where CI is set, else `dev`."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert f"profile: {profile}" in said(project.run(REFERENCE, FEW))


@pytest.mark.parametrize("named", ["production", "PROD", " Production "])
def test_production_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """If CORPUS_TEST_ENV is production, no other profile than `quick` runs, and a line says so."""
    monkeypatch.setenv("CORPUS_TEST_ENV", named)
    line = usage_error(project.run(VECTOR))
    assert "--corpus-profile=quick" in line
    assert "--corpus-allow-production" in line


def test_production_is_only_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`quick` in production sends no operation that writes, and calls what it leaves out not assessed."""
    monkeypatch.setenv("CORPUS_TEST_ENV", "production")
    project.adapter(WATCHED)
    result, report = project.judged("mine:Watched", "--corpus-profile=quick")
    assert result.ret == 0, said(result)
    seen = set((project.path / "seen.txt").read_text().split())
    assert "vector.capabilities" in seen
    assert not seen & WRITES
    assert "writes, and this run only reads" in said(result)
    found = statuses(report)
    assert found["vector", "COM-CAP-1"] == "satisfied"
    assert found["vector", "VEC-UPSERT-1"] == "not_assessed"


def test_production_may_be_allowed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --corpus-allow-production the suite runs as anywhere, its writes included."""
    monkeypatch.setenv("CORPUS_TEST_ENV", "production")
    project.adapter(WATCHED)
    result = project.run(
        "--corpus-adapter=mine:Watched", "--corpus-allow-production", "--corpus-requirement=VEC-UPSERT-1"
    )
    assert result.ret == 0, said(result)
    assert set((project.path / "seen.txt").read_text().split()) & WRITES


@pytest.mark.parametrize("quiet", [(), ("-q",)], ids=["header", "quiet"])
def test_an_unnamed_environment_is_one_warning(
    project: Project, monkeypatch: pytest.MonkeyPatch, quiet: tuple[str, ...]
) -> None:
    """If CORPUS_TEST_ENV is not set, one line asks for it; where it is, none does."""
    assert "corpus warning" not in said(project.run(REFERENCE, FEW, *quiet))
    monkeypatch.delenv("CORPUS_TEST_ENV")
    assert said(project.run(REFERENCE, FEW, *quiet)).count("corpus warning: CORPUS_TEST_ENV is not set") == 1


@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one_process", "a_worker"])
def test_the_adapter_is_logged_at_the_start(project: Project, spread: tuple[str, ...]) -> None:
    """Server, version and stated capabilities stand before the first test."""
    lines = project.run(REFERENCE, FEW, *spread, plugins=("xdist",) if spread else ()).outlines
    first = next(at for at, line in enumerate(lines) if line.startswith("corpus pytest_corpus.reference:llm llm: "))
    stated = list(itertools.takewhile(lambda line: line.startswith("  "), lines[first + 1 :]))
    assert "server=" in lines[first]
    assert "version=" in lines[first]
    assert "supports_streaming=True" in " ".join((lines[first], *stated))
    assert max(map(len, stated)) <= 110


def test_a_hostile_name_in_the_log(project: Project) -> None:
    """No character of a server's name moves the cursor."""
    change = "answer['result']['server'] = '\\x1b[2Jx\\r\\n\\u202e'"
    project.adapter(f"@changes('llm.capabilities')\ndef Hostile(answer): {change}\n")
    assert not set("\x1b\r\u202e") & set(said(project.run("--corpus-adapter=mine:Hostile", FEW)))
