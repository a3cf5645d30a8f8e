"""The output of a run can be pasted to run it again."""

import shlex

import pytest
from inner_runs import Project, ids, said, whole_suite

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


def pasted(result: pytest.RunResult) -> list[str]:
    """The words of the first rerun line behind `pytest`."""
    line = next(line for line in result.outlines if line.startswith("  rerun:"))
    command, *words = shlex.split(line.partition(":")[2])
    assert command == "pytest"
    return words


@pytest.fixture(params=WAYS)
def broken(project: Project, request: pytest.FixtureRequest) -> Project:
    """A folder that declares an adapter which breaks LLM-COMPLETE-2."""
    project.adapter()
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
    some = every[:: len(every) // 3]
    assert ids(broken.run("--collect-only", "-q", *some)) == some


def test_a_failure_can_be_run_again(broken: Project) -> None:
    """The id in a finding and its `rerun:` line run that one test, which fails again; a report says how, too."""
    result = broken.run("--corpus-requirement=LLM-COMPLETE-2", "--corpus-report=r.md")
    failed = [line.split()[1] for line in result.outlines if line.startswith("  test:")]
    assert broken.run(failed[0]).parseoutcomes() == {"failed": 1}
    assert broken.run(*pasted(result)).parseoutcomes() == {"failed": 1}
    text = (broken.path / "r.md").read_text("utf-8")
    command = next(line for line in text.splitlines() if line.startswith("  - rerun: "))
    words = shlex.split(command.partition("`")[2].rstrip("`"))
    assert words[1].endswith((".py", "::test_ours"))
    assert broken.run(*words[1:]).parseoutcomes()["failed"] == 3


def test_rerun_line_of_the_option_way(project: Project) -> None:
    """If there is no file, the line names the adapter, the requirement, and the one whose test found it."""
    project.adapter()
    result = project.run("--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-*")
    adapter, scope = pasted(result)
    assert adapter == "--corpus-adapter=mine:Broken"
    assert scope.startswith("--corpus-requirement=LLM-COMPLETE-2")
    again = project.run(adapter, scope)
    assert again.parseoutcomes()["failed"] >= 1
    assert "LLM-COMPLETE-2 (MUST)" in said(again)


def test_failure_message(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure gives the sentence, its source, what was sent, expected and got, and the place; no content in CI."""
    project.adapter()
    monkeypatch.setenv("CI", "true")
    text = said(project.run("--corpus-adapter=mine:Broken", "--corpus-requirement=LLM-COMPLETE-2"))
    assert "LLM-COMPLETE-2 (MUST): `finish_reason` is stop, length" in text
    for row in ("source:", "sent:", "expected:", "got:", "rerun:"):
        assert f"  {row}" in text
    assert "(at result.finish_reason)" in text
    assert "because" not in text
    assert "Traceback" not in text


def test_options_are_repeated(project: Project) -> None:
    """A rerun line has the label and the options of its run, wherever it is read."""
    project.adapter()
    options = ("--corpus-components=LLM", "-ocorpus_call_timeout=7", "--corpus-strict", "-o", "corpus_seed=5",
               "-ocorpus_header=X-Key:hunter2", "--corpus-header=X-Other: hunter2")  # fmt: skip
    files = ("--corpus-report=r.json", "--corpus-report=r.md", "--corpus-report=r.html")
    result = project.run("--corpus-adapter=my-own=mine:Broken", *options, *files, "--corpus-requirement=LLM-COMPLETE-2")
    words = pasted(result)
    assert words == [
        *("-o", "corpus_call_timeout=7", "-o", "corpus_seed=5", "--corpus-adapter=my-own=mine:Broken"),
        *(
            "--corpus-header=X-Other:...",
            "--corpus-components=LLM",
            "--corpus-strict",
            "--corpus-requirement=LLM-COMPLETE-2",
            "--corpus-seed=5",
        ),
    ]
    again = project.run(*words)
    assert "adapter my-own" in said(again)
    assert again.parseoutcomes()["failed"] == 3
    for name in ("r.md", "r.html"):
        assert shlex.join(["pytest", *words]) in (project.path / name).read_text("utf-8")


@pytest.mark.parametrize("how", ["option", "ini", "absolute", "xdist"])
def test_ids_are_accepted_back(project: Project, how: str) -> None:
    """An id that belongs to no file selects its test, as the run prints it and as an IDE gives it."""
    project.adapter()
    (project.path / "test_own.py").write_text("def test_own(): pass")
    given = ["--corpus-adapter=mine:Broken"]
    result = project.run(*given, "--corpus-requirement=LLM-COMPLETE-2")
    node = next(line.split()[1] for line in result.outlines if line.startswith("  test:"))
    if how == "ini":
        (project.path / "pytest.ini").write_text("[pytest]\ncorpus_adapter = mine:Broken\n")
        given = []
    node = str(project.path / node) if how == "absolute" else node
    more, plugins = (("-n", "1"), ("xdist",)) if how == "xdist" else ((), ())
    again = project.run(*given, node, *more, plugins=plugins)
    assert again.parseoutcomes() == {"failed": 1}
    assert "no verdict: only a part of the suite ran" in said(again)


def test_a_chapter_and_a_test_of_ones_own(project: Project) -> None:
    """A chapter can be named, also beside a file."""
    project.adapter()
    (project.path / "test_own.py").write_text("def test_own(): pass")
    result = project.run("--corpus-adapter=mine:Broken", "corpus/llm/test_health_report.py", "test_own.py")
    assert result.parseoutcomes()["passed"] >= 4
    assert "test_own.py" in said(result)


@pytest.mark.parametrize(("node", "hint"), [
    ("corpus/llm/test_helth_report.py", "did you mean corpus/llm/test_health_report.py::"),
    ("corpus[mien]/llm", "no adapter has the label 'mien'; did you mean mine:Broken?"),
])  # fmt: skip
def test_ids_that_are_not_there(project: Project, node: str, hint: str) -> None:
    """A wrong id ends in one sentence with a near one."""
    project.adapter()
    result = project.run("--corpus-adapter=mine:Broken", node)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert hint in said(result)


def test_only_what_would_run_is_collected(project: Project) -> None:
    """`--collect-only` shows the components that answer, and no other."""
    project.adapter()
    result = project.pytester.runpytest_inprocess(
        *("-p", "no:randomly", "--corpus-adapter=mine:Broken", "--collect-only", "-q"), "--corpus-requirement=COM-CAP-1"
    )
    assert ids(result) == ["corpus/llm/test_capabilities_shape.py::TestCapabilities::" + CAPABILITIES]


CAPABILITIES = "test_capabilities_answer_with_an_object"
