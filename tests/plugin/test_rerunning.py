"""What a run prints can be pasted to run it again (DESIGN 4, 5)."""

from __future__ import annotations

import shlex

import pytest
from inner_runs import Project, ids, said, whole_suite

BROKEN = """
class Broken(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer["ok"]:
            answer["result"]["finish_reason"] = "because"
        return answer
"""

WAYS = {
    "conftest": ("conftest.py", "from mine import Broken\ndef pytest_corpus_adapter(config): return Broken\n"),
    "subfolder": (
        "tests/conftest.py",
        "def pytest_corpus_adapter(config):\n    from mine import Broken\n    return Broken\n",
    ),
    "suite": (
        "test_suites.py",
        "import pytest_corpus\nfrom mine import Broken\ntest_ours = pytest_corpus.suite(Broken)\n",
    ),
}


@pytest.fixture(params=WAYS)
def broken(project: Project, request: pytest.FixtureRequest) -> Project:
    """A folder that declares an adapter which breaks LLM-COMPLETE-2."""
    project.adapter(BROKEN)
    name, source = WAYS[request.param]
    path = project.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    project.pytester.syspathinsert()
    return project


def test_every_id_selects_its_test(broken: Project) -> None:
    """Every id, as `--collect-only -q` prints it, finds exactly its own test again."""
    every = ids(broken.run("--collect-only", "-q"))
    assert len(every) == len(whole_suite(broken))
    assert sorted(ids(broken.run("--collect-only", "-q", *every))) == sorted(every)
    for name in every[:: len(every) // 3]:
        assert ids(broken.run("--collect-only", "-q", name)) == [name]


def test_failed_line_is_rerunnable(broken: Project) -> None:
    """The id in a finding runs that one test, which fails again."""
    result = broken.run("--corpus-requirement=LLM-COMPLETE-2")
    failed = [line.split()[1] for line in result.outlines if line.startswith("  test:")]
    assert len(failed) >= 1
    assert broken.run(failed[0]).parseoutcomes() == {"failed": 1}


def test_rerun_line_of_a_failure(broken: Project) -> None:
    """The `rerun:` line of a failure is a command that runs just this."""
    result = broken.run("--corpus-requirement=LLM-COMPLETE-2")
    command = next(line for line in result.outlines if line.startswith("  rerun:"))
    words = shlex.split(command.partition(":")[2])
    assert words[0] == "pytest"
    assert broken.run(*words[1:]).parseoutcomes() == {"failed": 1}


def test_rerun_line_of_the_option_way(project: Project) -> None:
    """Where there is no file, the line names the adapter, the requirement, and the one whose test found it."""
    project.adapter(BROKEN)
    result = project.run("--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-*")
    command = next(line for line in result.outlines if line.startswith("  rerun:"))
    words = shlex.split(command.partition(":")[2])
    *given, scope = words
    assert given == ["pytest", "--corpus-adapter=mine:Broken"]
    assert scope.startswith("--corpus-requirement=LLM-COMPLETE-2")
    again = project.run(*words[1:])
    assert again.parseoutcomes()["failed"] >= 1
    assert "LLM-COMPLETE-2 (MUST)" in said(again)


def test_failure_message(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure gives the sentence, its source, what was sent, expected and got, and the place; no content in CI."""
    project.adapter(BROKEN)
    monkeypatch.setenv("CI", "true")
    result = project.run("--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-2")
    text = said(result)
    assert "LLM-COMPLETE-2 (MUST): `finish_reason` is stop, length" in text
    for row in ("source:", "sent:", "expected:", "got:", "rerun:"):
        assert f"  {row}" in text
    assert "(at result.finish_reason)" in text
    assert "because" not in text
    assert "Traceback" not in text
