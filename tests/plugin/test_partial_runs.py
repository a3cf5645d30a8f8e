"""A partial run has no verdict."""

from typing import Any

import pytest
from fail_closed import SOUND, shorten
from inner_runs import REFERENCE, Project, said, statuses

HOOK = """
def pytest_corpus_adapter(config):
    from pytest_corpus.reference import llm
    return llm
"""


@pytest.fixture(autouse=True)
def _short_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)


def assert_partial(report: dict[str, Any], result: pytest.RunResult) -> None:
    """No verdict, in no place, and the reason is given."""
    assert (report["verdict"], report["complete"]) == ("partial", False)
    assert {each["verdict"] for each in report["components"].values()} == {"partial"}
    assert report["gaps"]
    assert "no verdict: only a part of the suite ran" in said(result)


@pytest.mark.parametrize("options", [
    ("-k", "test_the_deadline_is_a_point_in_time"),
    ("-m", "wire and core and not slow and nothing"),
    ("--deselect=corpus/wire/test_request_builders.py::test_the_deadline_is_a_point_in_time[llm.complete]",),
    ("-k", "not test_the_deadline_is_a_point_in_time"),
    ("--corpus-requirement=WIR-CTX-1", "-k", "wire"),
], ids=lambda options: " ".join(options)[:40])  # fmt: skip
def test_selected_by_pytest(project: Project, options: tuple[str, ...]) -> None:
    """Whatever leaves out a single test makes the run partial."""
    result = project.run(SOUND, *options, "--corpus-report=r.json")
    assert_partial(project.report(), result)


def test_first_failure_ends_it(project: Project) -> None:
    """After `-x` the run is partial; what it found stands."""
    project.adapter()
    result, report = project.judged("mine:Miscounting", "-x")
    assert_partial(report, result)
    assert result.ret != 0
    assert "violated" in statuses(report).values()


def test_last_failed(project: Project) -> None:
    """`--lf` runs the failed tests alone, by their ids, and is partial."""
    project.adapter()
    project.pytester.makeconftest("from mine import Miscounting\ndef pytest_corpus_adapter(config): return Miscounting")
    options = ("--corpus-requirement=LLM-TOKENS-1,LLM-CAP-*", "--corpus-report=r.json")
    plugins = ("cacheprovider",)
    project.pytester.syspathinsert()
    failed = project.run(*options, plugins=plugins).parseoutcomes()["failed"]
    result = project.run("--lf", *options, plugins=plugins)
    assert result.parseoutcomes()["failed"] == failed
    assert "passed" not in result.parseoutcomes()
    assert_partial(project.report(), result)


@pytest.mark.parametrize("name", ["", "::test_models_and_context_length_are_stated"], ids=["chapter", "test"])
def test_named_on_the_command_line(project: Project, name: str) -> None:
    """A chapter or a test that is named runs alone, and the run is partial."""
    project.pytester.makeconftest(HOOK)
    result = project.run(f"conftest.py::llm/test_capabilities_shape.py{name}", "--corpus-report=r.json")
    passed = result.parseoutcomes()["passed"]
    assert passed == 1 if name else passed > 5
    assert_partial(project.report(), result)


def test_named_conftest_is_complete(project: Project) -> None:
    """Naming the conftest itself leaves nothing out; naming a chapter in it does."""
    project.pytester.makeconftest(HOOK)
    few, named = "--corpus-requirement=COM-CAP-*", "single chapters or tests were named on the command line"
    project.run("conftest.py", few, "--corpus-report=r.json")
    assert project.report()["gaps"][0] == "tests were deselected"
    assert named not in project.report()["gaps"]
    project.run("conftest.py::llm/test_capabilities_shape.py", few, "--corpus-report=r.json")
    assert named in project.report()["gaps"]


@pytest.mark.parametrize(("options", "code"), [((), 1), (("--deselect=test_own.py::test_own",), 0)])
def test_users_own_test(project: Project, options: tuple[str, ...], code: int) -> None:
    """A test of the user's own that fails or is deselected leaves the verdict alone."""
    project.pytester.makepyfile(test_own="def test_own(): assert False")
    result = project.run(SOUND, *options, "--corpus-report=r.json")
    assert (project.report()["verdict"], result.ret) == ("conformant", code)


@pytest.mark.parametrize("options", [("-k", "no_test_has_this_name"), ("-m", "vector")])
def test_nothing_ran(project: Project, options: tuple[str, ...]) -> None:
    """An adapter was declared and no conformance test ran: the exit code is not 0."""
    result = project.run(REFERENCE, *options, "--corpus-report=r.json")
    assert result.ret != 0
    assert_partial(project.report(), result)
    assert "no conformance test ran" in project.report()["gaps"]


def test_nothing_ran_beside_a_users_test(project: Project) -> None:
    """A passing test of the user's own does not hide that no conformance test ran."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    result = project.run(REFERENCE, "-k", "test_own")
    assert result.parseoutcomes()["passed"] == 1
    assert result.ret != 0


def test_interrupted(project: Project) -> None:
    """Ctrl-C in the middle leaves a partial report and an exit code of its own."""
    project.adapter(
        "import os, signal\nclass Stopping(Wrapped):\n"
        "    async def handle(self, envelope):\n"
        "        if op_of(envelope) == 'llm.count_tokens': os.kill(os.getpid(), signal.SIGINT)\n"
        "        return await self.inner.handle(envelope)\n"
    )
    result = project.run_apart(
        "--corpus-adapter=mine:Stopping", "--corpus-requirement=COM-CAP-2,LLM-TOKENS-1", "--corpus-report=r.json"
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert_partial(project.report(), result)
    assert "the run was interrupted" in project.report()["gaps"]
