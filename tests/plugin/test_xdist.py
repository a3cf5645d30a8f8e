"""Under pytest-xdist: the same report, and honesty about lost workers."""

from typing import Any

import pytest
from inner_runs import REFERENCE, Project, assert_passed, said, statuses, without_times

XDIST = ("xdist",)

SOURCES = {
    "conftest.py": "def pytest_corpus_adapter(config): return 'pytest_corpus.reference:llm'\n",
    "test_suites.py": "import pytest_corpus\ntest_ours = pytest_corpus.suite('pytest_corpus.reference:llm')\n",
}

MISLED = """
from pytest_corpus.integration.xdist import fact_exchange

read = fact_exchange.decode

def misread(given):
    fact = read(given)
    for exchange in fact.exchanges:
        for frame in exchange.frames:
            frame.body = {"ok": True, "code": "WRONG"}
            open("misled.txt", "a").close()
    return fact

fact_exchange.decode = misread

def pytest_corpus_adapter(config):
    return "pytest_corpus.reference:llm"
"""
"""A conftest by which each worker misreads what the others found out."""

DYING = """
import os
@before("llm.count_tokens")
def Dying(adapter, envelope):
    if not os.path.exists("died.txt"):
        open("died.txt", "w").close()
        os._exit(1)
"""


def differing(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> list[Any]:
    """The keys of the entries of two reports that differ, each test for itself."""
    return [
        (
            mine["id"],
            key,
            [item for item in (*mine[key], *other[key]) if item not in mine[key] or item not in other[key]],
        )
        if key == "tests"
        else (mine["id"], key, mine.get(key), other.get(key))
        for mine, other in zip(one, two, strict=True)
        for key in mine.keys() | other.keys()
        if mine.get(key) != other.get(key)
    ]


@pytest.mark.parametrize(
    "few", ["COM-CAP-*,COM-OBS-*,COM-FAULT-*,LLM-STREAM-*", pytest.param("*", marks=pytest.mark.slow)]
)
def test_same_report_as_one_process(project: Project, few: str) -> None:
    """Two workers come to the same report as one process, but for times, with hardly more calls."""
    given = (REFERENCE, f"--corpus-requirement={few}")
    project.run(*given, "--corpus-report=one.json")
    result = project.run(*given, "-n", "2", "--corpus-report=two.json", plugins=XDIST)
    assert result.ret == 0, said(result)
    alone, shared = (project.report(f"{name}.json")["components"]["llm"]["calls"] for name in ("one", "two"))
    assert shared <= 1.05 * alone + 1, f"{shared} calls instead of {alone}"
    one, two = (without_times(project.report(f"{name}.json")) for name in ("one", "two"))
    assert differing(one.pop("requirements"), two.pop("requirements")) == []
    assert one == two
    assert two["verdict"] == ("conformant" if few == "*" else "partial")


def test_same_report_for_conftest_and_suite(project: Project) -> None:
    """So do a conftest's adapter and a module's suite, each with a report of its own."""
    few = "--corpus-requirement=COM-CAP-*,LLM-STREAM-1"
    project.pytester.makepyfile(**{name.removesuffix(".py"): text for name, text in SOURCES.items()})
    project.run(few, "--corpus-report=one.json")
    result = project.run(few, "-n", "2", "--corpus-report=two.json", plugins=XDIST)
    assert result.ret == 0, said(result)
    for label in ("test_ours", "pytest_corpus.reference_llm"):
        one, two = (project.report(f"{name}.{label}.json") for name in ("one", "two"))
        assert without_times(one) == without_times(two)
        assert "satisfied" in statuses(two).values()


def test_a_wrong_fact_of_another_worker_fails_no_sound_adapter(project: Project) -> None:
    """A fact of another worker decides nothing: a test that fails because of it runs again without it."""
    project.pytester.makeconftest(MISLED)
    few = "--corpus-requirement=COM-ENV-*,COM-ERR-*,COM-OBS-*,COM-CTX-*"
    result = project.run_apart(few, "-n", "2", "--corpus-report=r.json", plugins=XDIST)
    assert (project.path / "misled.txt").exists()
    assert result.ret == 0, said(result)
    assert "violated" not in statuses(project.report()).values()


def test_lost_worker(project: Project) -> None:
    """When a worker dies the run goes on, is partial and not green; no verdict is issued."""
    project.adapter(DYING)
    result, report = project.judged("mine:Dying", "COM-CAP-2,LLM-TOKENS-*", "-n", "2", plugins=XDIST)
    assert (project.path / "died.txt").exists()
    assert (report["verdict"], report["complete"]) == ("partial", False)
    assert "a worker was lost" in report["gaps"]
    assert result.ret != 0
    assert result.parseoutcomes()["passed"] > 3


def test_users_tests_beside_the_suite(project: Project) -> None:
    """The user's own tests are distributed with the suite."""
    project.pytester.makeconftest(SOURCES["conftest.py"])
    project.pytester.makepyfile(
        test_own="def test_own(corpus_adapter):\n"
        "    request = {'op': 'llm.health', 'ctx': {}, 'args': {}}\n"
        "    assert corpus_adapter.send(request, 'llm').frames[0].body['ok']\n"
    )
    few = "--corpus-requirement=COM-CAP-2"
    result = project.run(few, "-n", "2", plugins=XDIST)
    assert_passed(result, project, few, own=1)
    assert result.ret == 0
