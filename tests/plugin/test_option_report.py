"""`--corpus-report` and `corpus_report`: written whole or not at all."""

from __future__ import annotations

import json

import pytest
from inner_runs import REFERENCE, Project, error_lines, said

FEW = "--corpus-requirement=COM-CAP-2"


def test_relative_to_the_invocation_folder(project: Project) -> None:
    """A relative path starts where pytest was called, whatever the root folder is."""
    project.pytester.makeini("[pytest]\n")
    (project.path / "below").mkdir()
    project.pytester.chdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.path / "below")
        project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert project.report("below/r.json")["format"] == "1.0"


def test_said_in_the_summary(project: Project) -> None:
    """The summary tells where the report lies."""
    result = project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert f"report: {project.path / 'r.json'}" in result.outlines


def test_ini_and_repeated(project: Project) -> None:
    """The ini twin takes several paths, and all are written, with one content."""
    project.pytester.makeini("[pytest]\ncorpus_report =\n  a.json\n  b.json\n")
    project.run(REFERENCE, FEW)
    assert project.report("a.json") == project.report("b.json")
    project.run(REFERENCE, FEW, "--corpus-report=c.json", "--corpus-report=d.json")
    assert project.report("c.json") == project.report("d.json")


def test_nothing_is_left_beside_it(project: Project) -> None:
    """No temporary file stays behind."""
    project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert [path.name for path in project.path.iterdir()] == ["r.json"]


def test_replaces_an_older_one(project: Project) -> None:
    """An older report is replaced."""
    (project.path / "r.json").write_text("{}")
    project.run(REFERENCE, FEW, "--corpus-report=r.json")
    assert project.report()["verdict"] == "partial"


def test_canonical(project: Project) -> None:
    """The file is JSON with sorted keys that ends in a newline."""
    project.run(REFERENCE, FEW, "--corpus-report=r.json")
    text = (project.path / "r.json").read_text("utf-8")
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("nowhere/r.json", "there is no folder"),
        ("folder.json", "this is a folder"),
        ("r.txt", "must end in .json"),
        ("r", "must end in .json"),
    ],
)
def test_path_that_cannot_be(project: Project, path: str, fault: str) -> None:
    """A path that can never be written is a usage error before anything runs."""
    (project.path / "folder.json").mkdir()
    result = project.run(REFERENCE, f"--corpus-report={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = error_lines(result)
    assert f"--corpus-report={path}: " in line
    assert fault in line


def test_path_that_becomes_unwritable(project: Project) -> None:
    """A report that cannot be written in the end is said clearly, and the exit code is not 0."""
    (project.path / "out").mkdir()
    project.adapter("import shutil\nclass Removing(Wrapped):\n    def close(self): shutil.rmtree('out', True)\n")
    result = project.run("--corpus-adapter=mine:Removing", FEW, "--corpus-report=out/r.json")
    assert result.ret == 1
    assert "could not be written: No such file or directory" in said(result)
    assert "Traceback" not in said(result)


def test_one_for_each_adapter(project: Project) -> None:
    """Several adapters have a report each, under names that a file system bears."""
    result = project.run(REFERENCE, "--corpus-adapter=a/b c=pytest_corpus.reference:llm", FEW, "--corpus-report=r.json")
    assert result.ret == 0
    assert sorted(path.name for path in project.path.glob("*.json")) == [
        "r.a_b_c.json",
        "r.pytest_corpus.reference_llm.json",
    ]


def test_labels_that_look_alike_in_a_file_name(project: Project) -> None:
    """Two labels never share one file."""
    project.run(
        "--corpus-adapter=a b=pytest_corpus.reference:llm",
        "--corpus-adapter=a_b=pytest_corpus.reference:llm",
        FEW,
        "--corpus-report=r.json",
    )
    found = [json.loads(path.read_text())["adapter"]["name"] for path in project.path.glob("*.json")]
    assert sorted(found) == ["a b", "a_b"]


def test_no_report_without_an_adapter(project: Project) -> None:
    """The option alone neither writes nor fails a run that declares no adapter."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    result = project.run("--corpus-report=r.json")
    assert result.ret == 0
    assert not (project.path / "r.json").exists()


def test_not_written_when_only_collecting(project: Project) -> None:
    """`--collect-only` says nothing about an adapter."""
    project.run(REFERENCE, "--collect-only", "--corpus-report=r.json")
    assert not (project.path / "r.json").exists()


def test_distributed(project: Project) -> None:
    """Only the controller writes, once."""
    result = project.run_apart(REFERENCE, FEW, "--corpus-report=r.json", "-n", "2", plugins=("xdist",))
    assert result.ret == 0
    assert said(result).count("report: ") == 1
    assert [path.name for path in project.path.glob("*.json")] == ["r.json"]
