"""Beside plugins and fixtures that rerun, end, fork or repeat tests, or replace what the suite rests on."""

import re

import pytest
from inner_runs import Project, said, statuses, violated
from thinning import thin_out

from pytest_corpus.integration.running.surroundings import OF_TIME
from pytest_corpus.spec.requirements import catalogue

FLAKY = """
import asyncio, itertools, os, socket, time, warnings
from urllib.parse import urlsplit
calls = itertools.count(1)

@changes("llm.complete")
def Flaky(answer):
    if next(calls) == 1:
        answer["result"]["finish_reason"] = "because"

class Warns(Wrapped):
    def __init__(self, metrics=None, provider=None):
        super().__init__(metrics, provider)
        warn()

    async def handle(self, envelope):
        warn()
        open("opened.txt", "a")  # left to the garbage
        return await super().handle(envelope)

    def close(self):
        warn()

def warn():
    warnings.warn("an old client", DeprecationWarning)

@before("llm.count_tokens")
async def Slow(adapter, envelope):
    await asyncio.sleep(0.5)

@before("llm.complete")
def Client(adapter, envelope):
    url = urlsplit(adapter.provider.url)
    socket.create_connection((url.hostname, url.port)).close()

@before("llm.complete")
def Foreign(adapter, envelope):
    socket.create_connection(("192.0.2.1", 80), 1)

class Mixed(Wrapped):
    async def handle(self, envelope, clock=time.perf_counter):
        started = clock()
        answer = await super().handle(envelope)
        return {**answer, "ms": (time.perf_counter() - started) * 1000}

@before("llm.complete")
def Keyed(adapter, envelope):
    os.environ["SERVICE_API_KEY"]
"""

FEW = "COM-CAP-*,LLM-COMPLETE-2,COM-ENV-6"


@pytest.fixture
def adapters(project: Project) -> Project:
    project.adapter(FLAKY)
    return project


def gaps(report: dict[str, list[str]]) -> str:
    return "; ".join(report["gaps"])


@pytest.mark.parametrize("name", ["Broken", "Flaky"])
def test_reruns(adapters: Project, name: str) -> None:
    """The first run of a test counts, and all of the suite ran; one test at a time, none runs twice."""
    alone = ("--reruns=1", "--corpus-concurrency=1")
    result, report = adapters.judged(f"mine:{name}", FEW, *alone, plugins=("rerunfailures",))
    assert [gap for gap in report["gaps"] if "did not run" not in gap] == ["tests were deselected"], said(result)
    assert "LLM-COMPLETE-2" in violated(report)
    assert result.ret == 1
    assert result.parseoutcomes()["rerun"]


SUSPECTS = {
    "drops": "def pytest_collection_modifyitems(items): del items[::2]",
    "swallows": "def pytest_runtest_protocol(item, nextitem): return 'complete' in item.nodeid or None",
    "passes": "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    report = yield\n    report.outcome = 'passed'\n    return report",
}


@pytest.mark.parametrize("name", thin_out(SUSPECTS, 3))
def test_a_plugin_that_keeps_a_run_from_a_verdict(adapters: Project, name: str) -> None:
    """The reason names it; of tests that were deselected, or that the user ended, no plugin is the reason."""
    adapters.pytester.makepyfile(**{name: SUSPECTS[name]})
    adapters.pytester.syspathinsert()
    given = ("--corpus-adapter=mine:Broken", "--corpus-report=r.json", "-p", name)
    result = adapters.run(*given)
    [named] = re.findall(r"\(a plugin may be the reason: (.*?)\)", gaps(adapters.report()))
    assert name in named.split(", "), said(result)
    if name != "passes":
        adapters.run(*given, "-x" if name == "swallows" else FEW)
        assert "a plugin" not in gaps(adapters.report())


def test_a_time_limit(adapters: Project) -> None:
    """A test that pytest-timeout ends is not assessed, and the plugin is named; nothing is a fault of the suite."""
    result, report = adapters.judged("mine:Slow", "LLM-TOKENS-1", "--timeout=0.3", plugins=("timeout",))
    assert "pytest-timeout ended tests (Failed)" in gaps(report)
    assert statuses(report)["llm", "LLM-TOKENS-1"] == "not_assessed"
    assert not violated(report)
    assert "fault of pytest-corpus" not in said(result)


@pytest.mark.slow
def test_a_time_limit_within_generated_inputs(adapters: Project) -> None:
    """Hypothesis takes the end for a failing example; it is no fault of the suite there either."""
    few = "--corpus-requirement=LLM-TOKENS-*"
    result, report = adapters.judged("mine:Slow", few, "--timeout=1.2", "--corpus-profile=stress", plugins=("timeout",))
    assert "pytest-timeout ended tests (Failed)" in gaps(report)
    assert not violated(report)
    assert "fault of pytest-corpus" not in said(result)


def test_forked(adapters: Project) -> None:
    """The adapter does not live in the process that a test was forked into: one sentence says so."""
    few = "--corpus-requirement=COM-CAP-*"
    result = adapters.run_apart(
        "--corpus-adapter=mine:Wrapped", few, "--corpus-report=r.json", "--forked", plugins=("pytest_forked",)
    )
    report = adapters.report()
    assert "(--forked) ran each test in a process of its own" in gaps(report), said(result)
    assert "failed" not in result.parseoutcomes(), said(result)
    assert (report["verdict"], violated(report), result.ret) == ("partial", set(), pytest.ExitCode.NO_TESTS_COLLECTED)


def test_repeated_by_another_plugin(adapters: Project) -> None:
    """Tests with more parameters are not those of the suite: one sentence names the option that repeats them."""
    result, report = adapters.judged("mine:Broken", FEW, "--count=2", plugins=("repeat",))
    assert "a plugin changed the parameters of tests (--corpus-repeat=N repeats them)" in gaps(report), said(result)
    assert (report["verdict"], violated(report)) == ("partial", set())


REPLACED = {
    "a frozen clock": ("from freezegun import freeze_time", "with freeze_time('2026-01-01'): yield", "time.monotonic"),
    **{
        name: ("from unittest import mock", f"with mock.patch('{name}'): yield", name)
        for name in (
            *("time.time", "time.monotonic", "time.perf_counter", "time.sleep", "asyncio.sleep"),
            *("random.random", "uuid.uuid4"),
        )
    },
    "a number": ("from unittest import mock", "with mock.patch('time.time', return_value=1.5): yield", "time.time"),
}


@pytest.mark.parametrize("name", REPLACED)
def test_replaced_functions(adapters: Project, name: str) -> None:
    """A clock, a wait or chance that a fixture replaced blames no adapter: one sentence names what was replaced."""
    imports, patch, named = REPLACED[name]
    adapters.pytester.makeconftest(
        f"import pytest\n{imports}\n@pytest.fixture(autouse=True)\ndef replaced():\n    {patch}\n"
    )
    result, report = adapters.judged("mine:Wrapped", FEW)
    assert not violated(report), said(result)
    assert f"a fixture or a plugin replaced {named}" in gaps(report)
    assert report["verdict"] == "partial"


TICKS = """
import freezegun, pytest
@pytest.fixture(autouse=True)
def replaced():
    with freezegun.freeze_time('2026', tick=True): yield
"""


@pytest.mark.parametrize(("adapter", "found"), [("Wrapped", set()), ("Broken", {"LLM-COMPLETE-2"}), ("Mixed", set())])
def test_a_clock_that_ticks(adapters: Project, adapter: str, found: set[str]) -> None:
    """A clock that goes on keeps nothing from being judged but times, of an adapter that has kept another clock."""
    adapters.pytester.makeconftest(TICKS)
    result, report = adapters.judged(f"mine:{adapter}", FEW)
    assert violated(report) == found, said(result)
    assert ("replaced time.monotonic" in gaps(report)) is (adapter == "Mixed")
    assert statuses(report)["llm", "COM-ENV-6"] == ("not_assessed" if adapter == "Mixed" else "satisfied")


def test_a_clock_that_ticks_explains_no_content(adapters: Project) -> None:
    """Words in an answer that sound like a time excuse nothing."""
    adapters.pytester.makeconftest(TICKS)
    adapters.adapter(
        "@changes('llm.complete')\ndef timely(answer): answer['result']['finish_reason'] = '5 ms later, in time'\n"
    )
    _, report = adapters.judged("mine:timely", FEW)
    assert violated(report) == {"LLM-COMPLETE-2"}


def test_requirements_of_time_are_requirements() -> None:
    assert catalogue().keys() >= OF_TIME


def test_a_clock_that_stands_for_the_session(adapters: Project) -> None:
    """A mock for the whole session ends no run."""
    adapters.pytester.makeconftest(
        "import pytest\nfrom unittest import mock\n@pytest.fixture(autouse=True, scope='session')\n"
        "def replaced():\n    with mock.patch('time.monotonic'), mock.patch('time.time'): yield\n"
    )
    result, report = adapters.judged("mine:Wrapped", FEW)
    assert "INTERNALERROR" not in said(result)
    assert "replaced time.monotonic, time.time while tests ran" in gaps(report)


def test_lost_variables(adapters: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter whose key a fixture takes away is not blamed for calls that fail; who needs none is judged."""
    monkeypatch.setenv("SERVICE_API_KEY", "a-key-of-a-service")
    adapters.pytester.makeconftest(
        "import os, pytest\nfrom unittest import mock\n@pytest.fixture(autouse=True)\n"
        "def replaced():\n    with mock.patch.dict(os.environ, {}, clear=True): yield\n"
    )
    result, report = adapters.judged("mine:Keyed", FEW)
    assert not violated(report), said(result)
    assert "a fixture or a plugin changed os.environ (SERVICE_API_KEY)" in gaps(report)
    assert "LLM-COMPLETE-2" in violated(adapters.judged("mine:Broken", FEW)[1])


def test_disabled_logs(adapters: Project) -> None:
    """If `logging.disable` hides the records, what they hold is not assessed."""
    adapters.pytester.makeconftest(
        "import logging, pytest\n@pytest.fixture(autouse=True)\n"
        "def silent():\n    logging.disable(logging.CRITICAL)\n    yield\n    logging.disable(logging.NOTSET)\n"
    )
    _, report = adapters.judged("mine:Wrapped", "COM-LEAK-*")
    found = [entry for entry in report["requirements"] if entry["status"] == "not_assessed" and entry["tests"]]
    assert any("logging.disable() hides log records" in entry["reason"] for entry in found)


def test_blocked_sockets(adapters: Project) -> None:
    """Our own servers are reached beside pytest-socket; what is not allowed is named, and blames no adapter."""
    options = ("--disable-socket", "-p", "no:warnings")
    result, report = adapters.judged("mine:Client", FEW, *options, plugins=("socket",))
    assert result.ret == 0, said(result)
    result, report = adapters.judged("mine:Foreign", FEW, *options, plugins=("socket",))
    assert not violated(report), said(result)
    assert "sockets were blocked by pytest-socket" in gaps(report)
    assert "LLM-COMPLETE-2" in violated(adapters.judged("mine:Broken", FEW, *options, plugins=("socket",))[1])


@pytest.mark.parametrize("way", ["option", "ini", "environment", pytest.param("workers", marks=pytest.mark.slow)])
def test_warnings_as_errors(adapters: Project, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings of the adapter, and of what it leaves to the garbage, are those of the run, and never its answers."""
    few = "--corpus-requirement=COM-CAP-*,LLM-COMPLETE-2"
    if way == "ini":
        adapters.pytester.makeini("[pytest]\nfilterwarnings =\n    error\n    ignore:nothing\n")
    if way == "environment":
        monkeypatch.setenv("PYTHONWARNINGS", "error,error::no.such.Category")
    given = {"option": ("-W", "error"), "workers": ("-W", "error", "-n", "2")}.get(way, ())
    run = adapters.run if way in ("option", "ini") else adapters.run_apart
    plugins = ("xdist",) if way == "workers" else ()
    result = run("--corpus-adapter=mine:Warns", few, "--corpus-report=r.json", *given, plugins=plugins)
    report = adapters.report()
    assert not violated(report), said(result)
    assert result.ret == 0, said(result)
    assert "mine.py" in said(result)
    assert "DeprecationWarning: an old client" in said(result)
    assert "ResourceWarning: unclosed file" in said(result)
