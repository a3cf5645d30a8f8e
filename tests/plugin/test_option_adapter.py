"""`--corpus-adapter` and `corpus_adapter`."""

import pytest
from inner_runs import REFERENCE, Project, assert_passed, ids, said, selected

FEW = "--corpus-requirement=COM-CAP-2,LLM-STREAM-1"


def test_option(project: Project) -> None:
    """`--corpus-adapter=module:factory` is enough in an empty folder."""
    assert_passed(project.run(REFERENCE, FEW, "--corpus-report=r.json"), project, FEW)
    assert project.report()["adapter"]["name"] == "pytest_corpus.reference:llm"


def test_the_invocation_folder_is_importable(project: Project) -> None:
    """A module beside the user is found by the bare console script, which has no folder on its path."""
    project.adapter("")
    run = project.run_bare("--corpus-adapter=mine:Wrapped", FEW)
    assert (run.returncode, " passed" in run.stdout) == (0, True), run.stdout + run.stderr


def test_nested_attribute(project: Project) -> None:
    """`module:attr.attr` is followed, as in an entry point."""
    project.adapter("class Factories:\n    llm = llm\n")
    assert_passed(project.run("--corpus-adapter=mine:Factories.llm", FEW), project, FEW)


def test_ini(project: Project) -> None:
    """`corpus_adapter` in an ini file is as good as the option."""
    project.pytester.makeini("[pytest]\ncorpus_adapter = pytest_corpus.reference:llm\n")
    assert_passed(project.run(FEW), project, FEW)


def test_option_beats_ini(project: Project) -> None:
    """The command line replaces what the ini file declares."""
    project.pytester.makeini("[pytest]\ncorpus_adapter = nowhere:at_all\n")
    result = project.run(REFERENCE, FEW)
    assert_passed(result, project, FEW)
    assert "nowhere" not in said(result)


def test_label(project: Project) -> None:
    """`label=module:factory` is the name in the report."""
    project.run("--corpus-adapter=ours=pytest_corpus.reference:llm", FEW, "--corpus-report=r.json")
    assert project.report()["adapter"]["name"] == "ours"


def test_repeated_option(project: Project) -> None:
    """Two adapters are tested side by side, each with a report of its own."""
    result = project.run(
        "--corpus-adapter=one=pytest_corpus.reference:llm",
        "--corpus-adapter=two=pytest_corpus.reference:llm",
        FEW,
        "--corpus-report=r.json",
    )
    assert_passed(result, project, FEW, suites=2)
    assert not (project.path / "r.json").exists()
    names = [project.report(f"r.{label}.json")["adapter"]["name"] for label in ("one", "two")]
    assert names == ["one", "two"]


def test_repeated_ini(project: Project) -> None:
    """An ini file declares several adapters on several lines."""
    project.pytester.makeini(
        "[pytest]\ncorpus_adapter =\n  one=pytest_corpus.reference:llm\n  two=pytest_corpus.reference:llm\n"
    )
    result = project.run("--collect-only", "-q", FEW)
    each = len(selected(project, FEW))
    assert [name.partition("/")[0] for name in ids(result)] == ["corpus[one]"] * each + ["corpus[two]"] * each


@pytest.mark.slow
def test_distributed(project: Project) -> None:
    """Workers get the adapter of the command line, too."""
    project.adapter("")
    result = project.run_apart("--corpus-adapter=mine:Wrapped", FEW, "-n", "2", plugins=("xdist",))
    assert_passed(result, project, FEW)
    assert result.ret == 0
