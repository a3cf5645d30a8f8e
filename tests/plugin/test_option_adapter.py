"""`--corpus-adapter` and `corpus_adapter`."""

from inner_runs import Project, assert_passed

FEW = "--corpus-requirement=COM-CAP-2,LLM-STREAM-1"


def test_the_invocation_folder_is_importable(project: Project) -> None:
    """A module beside the user is found by the bare console script, which has no folder on its path."""
    project.adapter("")
    run = project.run_bare("--corpus-adapter=mine:Wrapped", FEW)
    assert (run.returncode, " passed" in run.stdout) == (0, True), run.stdout + run.stderr


def test_nested_attribute(project: Project) -> None:
    """`module:attr.attr` is followed, as in an entry point."""
    project.adapter("class Factories:\n    llm = llm\n")
    assert_passed(project.run("--corpus-adapter=mine:Factories.llm", FEW), project, FEW)


def test_label(project: Project) -> None:
    """`label=module:factory` is the name in the report."""
    _, report = project.judged("ours=pytest_corpus.reference:llm", FEW)
    assert report["adapter"]["name"] == "ours"


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
