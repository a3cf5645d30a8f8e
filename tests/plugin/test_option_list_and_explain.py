"""`--corpus-list` and `--corpus-explain`: the catalogue on the command line."""

from __future__ import annotations

import pytest
from inner_runs import Project, error_lines, said

from pytest_corpus.spec.requirements import catalogue


def test_list(project: Project) -> None:
    """Every requirement is one line with its level and sentence, and nothing runs."""
    project.pytester.makepyfile(test_own="def test_own(): assert False")
    result = project.run("--corpus-list")
    assert result.ret == 0
    for entry in catalogue().values():
        (line,) = [line for line in result.outlines if line.split(" ")[0] == entry.id]
        assert entry.level in line
        assert line.endswith(entry.text)
    assert result.outlines[-1] == f"{len(catalogue())} requirements"
    assert "test session starts" not in said(result)


def test_list_needs_no_sound_declaration(project: Project) -> None:
    """The list is shown where the ini file declares an adapter that is broken."""
    project.pytester.makeini("[pytest]\ncorpus_adapter = nosuchmodule:factory\n")
    assert project.run("--corpus-list").ret == 0


@pytest.mark.parametrize("wanted", ["LLM-STREAM-1", "llm-stream-1"])
def test_explain(project: Project, wanted: str) -> None:
    """One requirement is explained with its sentence, source and how to run it."""
    result = project.run(f"--corpus-explain={wanted}")
    assert result.ret == 0
    entry = catalogue()["LLM-STREAM-1"]
    text = " ".join(said(result).split())
    assert f"LLM-STREAM-1 ({entry.level})" in text
    assert entry.text in text
    assert ", ".join(entry.source) in text
    assert "--corpus-requirement=LLM-STREAM-1" in text


def test_explain_says_what_is_needed(project: Project) -> None:
    """The hooks and capabilities that a requirement needs are named."""
    entry = next(entry for entry in catalogue().values() if "provider" in entry.needs)
    result = project.run(f"--corpus-explain={entry.id}")
    assert f"  needs:      {', '.join(entry.needs)}" in result.outlines


def test_explain_an_unknown_id(project: Project) -> None:
    """An unknown id is a usage error that suggests near ones."""
    result = project.run("--corpus-explain=LLM-STREEM-1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = error_lines(result)
    assert "there is no requirement 'LLM-STREEM-1'; did you mean" in line
    assert "LLM-STREAM-1" in line


def test_list_of_some(project: Project) -> None:
    """With `--corpus-requirement` or `--corpus-components` the list has these alone; the ini file chooses nothing."""
    project.pytester.makeini("[pytest]\ncorpus_components = graph\n")
    result = project.run("--corpus-list", "--corpus-requirement=VEC-SCORE-*", "--corpus-components=vector")
    assert result.ret == 0
    assert {line.split("-")[1] for line in result.outlines if line.startswith("VEC-")} == {"SCORE"}
    assert not any(line.startswith(("GRA-", "COM-")) for line in result.outlines)


def test_explain_a_ruling(project: Project) -> None:
    """A ruling is explained too."""
    result = project.run("--corpus-explain=R20")
    assert result.ret == 0
    assert "R20 Labels (Observability)" in result.outlines
