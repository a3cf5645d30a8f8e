"""Beside other plugins and strict settings."""

import sys

import pytest
from inner_runs import PYTHON, REFERENCE, Project, ids, said, statuses, whole_suite

from pytest_corpus import __version__

FEW = "--corpus-requirement=COM-CAP-*,COM-DEADLINE-*,LLM-STREAM-*,COM-CONC-1"


@pytest.fixture
def unforked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process apart has imported no suite, and knows no marker."""
    monkeypatch.setattr(sys, "executable", PYTHON)


@pytest.mark.parametrize(
    ("mode", "few"), [("auto", FEW), *(pytest.param(mode, "-q", marks=pytest.mark.slow) for mode in ("auto", "strict"))]
)
def test_asyncio_mode(project: Project, mode: str, few: str) -> None:
    """The suite finds nothing in either mode of pytest-asyncio, beside async tests and an async fixture."""
    project.pytester.makeini(f"[pytest]\nasyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n")
    project.pytester.makepyfile(
        test_own="import asyncio, pytest\n@pytest.mark.asyncio\nasync def test_own(): await asyncio.sleep(0)\n"
    )
    project.pytester.makeconftest(
        "import asyncio, pytest, pytest_asyncio\n"
        "@pytest_asyncio.fixture(autouse=True)\nasync def ready(): await asyncio.sleep(0)\n"
        "def pytest_corpus_adapter(config): return 'pytest_corpus.reference:llm'\n"
    )
    result = project.run_apart(few, "--corpus-report=r.json", plugins=("asyncio",))
    assert result.ret == 0, said(result)
    assert project.report()["verdict"] == ("partial" if few == FEW else "conformant")


def test_asyncio_debug(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncio's debug mode and warnings as errors turn up nothing of ours."""
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    result = project.run_apart(REFERENCE, FEW, "-W", "error")
    assert result.ret == 0, said(result)
    assert "Warning" not in said(result)


def test_randomly(project: Project) -> None:
    """In a random order a run is complete and conformant, too; tests/test_orders.py orders the suites of adapters."""
    client = "--corpus-client=pytest_corpus.reference:client"
    result = project.run_apart(client, "--corpus-report=r.json", "--randomly-seed=7", plugins=("randomly",))
    assert result.ret == 0, said(result)
    assert project.report()["verdict"] == "conformant"


def test_coverage(project: Project) -> None:
    """pytest-cov measures the adapter under test, whose calls run in a thread."""
    project.pytester.makepyfile(
        mine="from pytest_corpus.reference.llm.adapter import ReferenceLLM\n"
        "class Measured(ReferenceLLM):\n"
        "    def frame(self, call, chunk):\n"
        "        return super().frame(call, chunk)\n"
        "def never():\n"
        "    return 1\n"
    )
    result = project.run_apart(
        "--corpus-adapter=mine:Measured",
        "--corpus-requirement=LLM-STREAM-1",
        "--cov=mine",
        "--cov-report=term-missing",
        plugins=("cov",),
    )
    assert result.ret == 0, said(result)
    (line,) = [line for line in result.outlines if line.startswith("mine.py")]
    assert line.split()[-2:] == ["83%", "6"], line


def test_strict_markers_and_config(project: Project) -> None:
    """Every marker and every ini name is registered."""
    project.pytester.makeini(
        "[pytest]\ncorpus_adapter = pytest_corpus.reference:llm\ncorpus_components = llm\n"
        "corpus_requirement = COM-CAP-*\ncorpus_level = must\ncorpus_report = r.json\ncorpus_seed = 1\n"
        "corpus_schema_version = 1.1.0\ncorpus_call_timeout = 20\n"
    )
    result = project.run("--strict-markers", "--strict-config")
    assert result.ret == 0, said(result)
    assert project.report()["seed"] == 1


def test_markers(project: Project) -> None:
    """The suite's markers are registered in runs that have an adapter, and in no others."""
    with_adapter, without = said(project.run(REFERENCE, "--markers")), said(project.run("--markers"))
    for marker in ("llm", "vector", "embedding", "graph", "wire", "core", "slow", "requirement(id, ...)"):
        assert f"@pytest.mark.{marker}:" in with_adapter
        assert f"@pytest.mark.{marker}:" not in without


@pytest.mark.usefixtures("unforked")
def test_a_marker_of_the_suite_is_unknown_elsewhere(project: Project) -> None:
    """Without an adapter, `--strict-markers` refuses a user's `slow` that nothing registers."""
    project.pytester.makepyfile("import pytest\n@pytest.mark.slow\ndef test_own(): pass\n")
    assert "'slow' not found in `markers`" in said(project.run_apart("--strict-markers"))


def test_marker_of_the_component(project: Project) -> None:
    """`-m llm` selects every LLM test, `-m "not llm"` none."""
    assert ids(project.run(REFERENCE, "-m", "llm", "--collect-only", "-q")) == whole_suite(project)
    assert "no tests collected" in said(project.run(REFERENCE, "-m", "not llm", "--collect-only", "-q"))


def test_collecting_opens_no_adapter_whose_components_are_named(project: Project) -> None:
    """`--collect-only` shows every test without calling a factory, where the components are named."""
    project.adapter("def factory():\n    open('opened.txt', 'w').close()\n    return llm()\n")
    project.pytester.makepyfile(test_suites="import pytest_corpus\na = pytest_corpus.suite('mine:factory')\n")
    result = project.run("--corpus-adapter=mine:factory", "--collect-only", "-q")
    assert len(ids(result)) == 2 * len(whole_suite(project))
    assert not (project.path / "opened.txt").exists()


def test_opened_once(project: Project) -> None:
    """One process opens the adapter once and keeps it, but for tests that break things."""
    project.adapter("def factory():\n    with open('opened.txt', 'a') as file: file.write('x')\n    return llm()\n")
    project.run("--corpus-adapter=mine:factory", "--corpus-requirement=COM-CAP-*,LLM-COMPLETE-*")
    assert (project.path / "opened.txt").read_text() == "x"


@pytest.mark.usefixtures("unforked")
def test_silent_without_an_adapter(project: Project) -> None:
    """A project that declares no adapter sees nothing of the plugin, and no suite is imported."""
    project.pytester.makepyfile(
        test_own="import sys\n"
        "def test_own():\n"
        "    heavy = ('pytest_corpus.suites', 'pytest_corpus.integration.conformance', 'jsonschema', 'jsonschema_rs')\n"
        "    assert not [name for name in heavy if name in sys.modules]\n"
    )
    result = project.run_apart("-p", "no:hypothesispytest")
    assert result.ret == 0, said(result)
    plugins = said(result).replace(f"corpus-{__version__}", "").replace("no:corpus", "")
    assert "corpus" not in plugins.partition("collected")[2]


def test_can_be_switched_off(project: Project) -> None:
    """`-p no:corpus` leaves no option behind."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    result = project.run("-p", "no:corpus", "-p", "no:pytest_corpus.plugin", "--corpus-seed=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --corpus-seed" in said(result)


def test_in_any_order(project: Project) -> None:
    """A node that a plain request leaves among the seeds of a graph does not disturb later tests of edges."""
    project.pytester.makeconftest(
        "def pytest_collection_modifyitems(items): items.sort(key=lambda item: 'test_crud_basic' in item.nodeid)\n"
    )
    few = "--corpus-requirement=COM-LEAK-*,GRA-EDGE-1"
    adapter = "--corpus-adapter=pytest_corpus.reference:graph"
    result = project.run(adapter, few, "--corpus-report=r.json")
    assert result.ret == 0, said(result)
    assert statuses(project.report())["graph", "GRA-EDGE-1"] == "satisfied"
