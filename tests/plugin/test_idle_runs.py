"""Runs that name no option of ours, and the ways to name one."""

import pytest
from forks import PLUGIN
from inner_runs import OTHERS, REFERENCE, Project, ids, said

from pytest_corpus.integration.options.table import OPTIONS, setting

FEW = "--corpus-requirement=LLM-STREAM-1"


def test_the_default_of_each_option(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conftest.py of a run that names no option of ours finds the default of each, under both of its names."""
    names = [(setting(option.name), f"--corpus-{option.name}") for option in OPTIONS]
    project.pytester.makeconftest(
        "import pytest\n"
        "def pytest_configure(config):\n"
        f"    for names in {names!r}:\n"
        "        assert not any(map(config.getoption, names))\n"
        "    assert not config.option.corpus_strict and config.getini('corpus_adapter') is None\n"
        "    pytest.exit('found', 0)\n"
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_corpus.plugin")
    assert "found" in said(project.pytester.runpytest_inprocess())


@pytest.mark.parametrize("way", ["file", "environment", "addopts", "setting", "override"])
def test_each_way_to_name_an_option(project: Project, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Options are known in whichever way the first of them is named."""
    given: list[str] = []
    if way == "file":
        (project.path / "words").write_text(REFERENCE)
        given = ["@words"]
    elif way == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", REFERENCE)
    elif way == "addopts":
        project.pytester.makeini(f"[pytest]\naddopts = {REFERENCE}\n")
    elif way == "setting":
        project.pytester.makeini("[pytest]\ncorpus_adapter = pytest_corpus.reference:llm\n")
    else:
        given = ["-o", "corpus_adapter=pytest_corpus.reference:llm"]
    off = [part for name in OTHERS for part in ("-p", f"no:{name}")]
    found = ids(project.pytester.runpytest_inprocess(*given, *PLUGIN, *off, "--strict-config", "--co", "-q"))
    assert [name for name in found if name.startswith("corpus")] == found != []


def test_a_plugin_of_a_conftest(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin may be named by a conftest.py, when conftest files are loaded already."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.pytester.makeconftest("pytest_plugins = ['pytest_corpus.plugin']\n")
    for given in ((REFERENCE, FEW), ("-o", "corpus_adapter=pytest_corpus.reference:llm", FEW)):
        result = project.pytester.runpytest_inprocess(*given)
        assert result.ret == 0, said(result)


def test_help(project: Project) -> None:
    """`--help` lists every option and setting."""
    text = said(project.run("--help"))
    for option in OPTIONS:
        assert f"--corpus-{option.name}" in text
        assert not option.ini or f"{setting(option.name)} (" in text
