"""The ways to declare an adapter lead to the same suite (DESIGN 2)."""

from __future__ import annotations

import json

import pytest
from inner_runs import REFERENCE, Project, said, statuses

FEW = "--corpus-requirement=COM-CAP-2,LLM-STREAM-1"

HOOK = """
def pytest_corpus_adapter(config):
    from pytest_corpus.reference import llm
    return llm
"""

SUITE = """
import pytest_corpus
from pytest_corpus.reference import llm

test_ours = pytest_corpus.suite(llm)
"""


def ids(result: pytest.RunResult) -> list[str]:
    """The node ids that `--collect-only -q` printed."""
    return [line for line in result.outlines if "::" in line]


def test_option(project: Project) -> None:
    """`--corpus-adapter=module:factory` is enough in an empty folder."""
    result = project.run(REFERENCE, FEW, "--corpus-report=r.json")
    result.assert_outcomes(passed=2, deselected=389)
    assert project.report()["adapter"]["name"] == "pytest_corpus.reference:llm"


def test_the_invocation_folder_is_importable(project: Project) -> None:
    """A module beside the user is found by the bare console script, which has no folder on its path."""
    project.adapter("")
    run = project.run_bare("--corpus-adapter=mine:Wrapped", FEW)
    assert (run.returncode, "2 passed" in run.stdout) == (0, True), run.stdout + run.stderr


def test_nested_attribute(project: Project) -> None:
    """`module:attr.attr` is followed, as in an entry point."""
    project.adapter("class Factories:\n    llm = llm\n")
    project.run("--corpus-adapter=mine:Factories.llm", FEW).assert_outcomes(passed=2, deselected=389)


def test_ini(project: Project) -> None:
    """`corpus_adapter` in an ini file is as good as the option."""
    project.pytester.makeini("[pytest]\ncorpus_adapter = pytest_corpus.reference:llm\n")
    project.run(FEW).assert_outcomes(passed=2, deselected=389)


def test_option_beats_ini(project: Project) -> None:
    """The command line replaces what the ini file declares."""
    project.pytester.makeini("[pytest]\ncorpus_adapter = nowhere:at_all\n")
    result = project.run(REFERENCE, FEW)
    result.assert_outcomes(passed=2, deselected=389)
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
    result.assert_outcomes(passed=4, deselected=778)
    assert not (project.path / "r.json").exists()
    names = [project.report(f"r.{label}.json")["adapter"]["name"] for label in ("one", "two")]
    assert names == ["one", "two"]


def test_repeated_ini(project: Project) -> None:
    """An ini file declares several adapters on several lines."""
    project.pytester.makeini(
        "[pytest]\ncorpus_adapter =\n  one=pytest_corpus.reference:llm\n  two=pytest_corpus.reference:llm\n"
    )
    result = project.run("--collect-only", "-q", FEW)
    assert [name.partition("/")[0] for name in ids(result)] == ["corpus[one]"] * 2 + ["corpus[two]"] * 2


def test_conftest_hook(project: Project) -> None:
    """A `conftest.py` that implements the hook has the suite beside the user's own tests."""
    project.pytester.makeconftest(HOOK)
    project.pytester.makepyfile(test_own="def test_own(): pass")
    result = project.run(FEW)
    result.assert_outcomes(passed=3, deselected=389)


def test_conftest_in_a_subfolder(project: Project) -> None:
    """The suite of a subfolder's `conftest.py` is collected there, and once."""
    (project.path / "tests").mkdir()
    (project.path / "tests" / "conftest.py").write_text(HOOK)
    (project.path / "tests" / "test_own.py").write_text("def test_own(): pass")
    result = project.run("--collect-only", "-q", FEW)
    expected = "tests/conftest.py::llm/test_capabilities_shape.py::"
    assert [expected in name for name in ids(result)].count(True) == 1
    assert len(ids(result)) == 3


def test_conftest_in_a_named_subfolder(project: Project) -> None:
    """The suite runs where the folder of its `conftest.py` is named on the command line."""
    (project.path / "tests").mkdir()
    (project.path / "tests" / "conftest.py").write_text(HOOK)
    project.run("tests", FEW).assert_outcomes(passed=2, deselected=389)


def test_conftest_above_the_testpaths(project: Project) -> None:
    """A root `conftest.py` counts where `testpaths` names only a folder below it."""
    project.pytester.makeini("[pytest]\ntestpaths = tests\n")
    project.pytester.makeconftest(HOOK)
    (project.path / "tests").mkdir()
    (project.path / "tests" / "test_own.py").write_text("def test_own(): pass")
    project.run(FEW).assert_outcomes(passed=3, deselected=389)


def test_own_tests_alone_do_not_run_the_suite(project: Project) -> None:
    """Naming a test file of one's own runs that alone and says nothing about conformance."""
    project.pytester.makeconftest(HOOK)
    own = project.pytester.makepyfile(test_own="def test_own(): pass")
    result = project.run(str(own))
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert "verdict" not in said(result)


def test_conftest_returning_none_declares_nothing(project: Project) -> None:
    """A hook that returns None leaves the folder without a suite."""
    project.pytester.makeconftest("def pytest_corpus_adapter(config): return None")
    project.pytester.makepyfile(test_own="def test_own(): pass")
    project.run().assert_outcomes(passed=1)


def test_conftest_hook_is_given_the_config(project: Project) -> None:
    """The hook may decide by the options of the run."""
    project.pytester.makeconftest(
        "def pytest_addoption(parser): parser.addoption('--which')\n"
        "def pytest_corpus_adapter(config):\n"
        "    return config.getoption('--which')\n"
    )
    project.run("--which=pytest_corpus.reference:llm", FEW).assert_outcomes(passed=2, deselected=389)


def test_two_conftests(project: Project) -> None:
    """Two folders may each declare an adapter of their own."""
    for name in ("one", "two"):
        (project.path / name).mkdir()
        source = project.adapter("", name=f"adapter_{name}")
        (project.path / name / "conftest.py").write_text(
            f"def pytest_corpus_adapter(config):\n    import {source}\n    return {source}.Wrapped\n"
            if name == "one"
            else HOOK
        )
    result = project.run("one", "two", FEW, "--collect-only", "-q")
    assert sorted(name.partition("/")[0] for name in ids(result)) == ["one", "one", "two", "two"]


def test_suite_of_a_factory(project: Project) -> None:
    """`pytest_corpus.suite(factory)` in a test module collects the suite below its name."""
    project.pytester.makepyfile(test_suites=SUITE)
    result = project.run(FEW, "--corpus-report=r.json")
    result.assert_outcomes(passed=2, deselected=389)
    assert project.report()["adapter"]["name"] == "test_ours"


def test_suite_of_a_name(project: Project) -> None:
    """`pytest_corpus.suite("module:attr")` names the factory instead of importing it."""
    project.pytester.makepyfile(
        test_suites="import pytest_corpus\n"
        "test_ours = pytest_corpus.suite('pytest_corpus.reference:llm', label='named')\n"
    )
    project.run(FEW, "--corpus-report=r.json").assert_outcomes(passed=2, deselected=389)
    assert project.report()["adapter"]["name"] == "named"


def test_both_suites_in_one_module(project: Project) -> None:
    """A module may hold several suites beside its own tests."""
    project.pytester.makepyfile(
        test_suites=SUITE + "test_other = pytest_corpus.suite('pytest_corpus.reference:llm')\n"
        "def test_own(): pass\n"
    )
    result = project.run(FEW, "--corpus-report=r.json")
    result.assert_outcomes(passed=5, deselected=778)
    assert (project.path / "r.test_ours.json").exists()
    assert (project.path / "r.test_other.json").exists()


def test_suites_of_two_modules_with_one_name(project: Project) -> None:
    """Two modules may use the same name for a suite only with labels; the clash is said, not hidden."""
    project.pytester.makepyfile(test_one=SUITE, test_two=SUITE)
    result = project.run(FEW)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "'test_ours' is taken" in said(result)


def test_same_statuses_for_all_three_ways(project: Project) -> None:
    """Option, conftest and suite come to the same status for every requirement, by the same tests."""
    seen = {}
    project.run(REFERENCE, "--corpus-report=option.json")
    project.pytester.makeconftest(HOOK)
    project.run("--corpus-report=conftest.json")
    (project.path / "conftest.py").unlink()
    project.pytester.makepyfile(test_suites=SUITE)
    project.run("--corpus-report=suite.json")
    for way in ("option", "conftest", "suite"):
        report = project.report(f"{way}.json")
        assert (report["verdict"], report["complete"]) == ("conformant", True)
        tests = [(entry["id"], entry["tests"]) for entry in report["requirements"]]
        seen[way] = json.dumps([sorted(statuses(report).items()), tests])
    assert seen["option"] == seen["conftest"] == seen["suite"]


@pytest.mark.parametrize("name", ["llm", "subject", "request_id", "rule", "changed", "kind"])
def test_fixture_of_the_users_with_one_of_our_names(project: Project, name: str) -> None:
    """A fixture of the user's, autouse or not, does not take the place of ours."""
    project.pytester.makeconftest(
        HOOK + f"\nimport pytest\n@pytest.fixture\ndef {name}(): raise RuntimeError('the wrong fixture')\n"
    )
    result = project.run("--corpus-requirement=COM-CAP-*,COM-STREAM-1,LLM-COMPLETE-*")
    assert result.parseoutcomes().keys() <= {"passed", "deselected", "applicable"}, said(result)
    assert result.parseoutcomes()["passed"] > 10


def test_users_autouse_fixtures_apply(project: Project) -> None:
    """An autouse fixture of the conftest's folder surrounds each conformance test."""
    project.pytester.makeconftest(
        HOOK + "\nimport pytest\nfrom pathlib import Path\n@pytest.fixture(autouse=True)\n"
        "def mark():\n    with open('seen.txt', 'a') as file: file.write('x')\n"
    )
    project.run(FEW).assert_outcomes(passed=2, deselected=389)
    assert (project.path / "seen.txt").read_text() == "xx"


@pytest.mark.parametrize(
    "line",
    [
        "python_functions = check_*",
        "python_classes = Check*",
        "python_files = check_*.py",
        "python_functions = nothing_*\npython_classes = Nothing*\npython_files = nothing_*.py",
        "norecursedirs = *",
    ],
)
@pytest.mark.parametrize("way", ["option", "conftest"])
def test_users_naming_rules_hide_no_test(project: Project, line: str, way: str) -> None:
    """How the user's project names its own tests decides nothing about ours."""
    project.pytester.makeini(f"[pytest]\n{line}\n")
    if way == "conftest":
        project.pytester.makeconftest(HOOK)
    result = project.run(*([REFERENCE] if way == "option" else []), "--collect-only", "-q")
    assert len([name for name in ids(result) if "llm/test_" in name]) == 391


def test_users_naming_rules_do_not_hide_a_suite(project: Project) -> None:
    """A suite is found under any name in a module that the user's rules collect."""
    project.pytester.makeini("[pytest]\npython_files = check_*.py\npython_functions = check_*\n")
    project.pytester.makepyfile(check_suites=SUITE.replace("test_ours", "pinecone"))
    result = project.run(FEW)
    result.assert_outcomes(passed=2, deselected=389)


def test_two_runs_collect_in_the_same_order(project: Project) -> None:
    """Collection is deterministic, and the foundations come first."""
    first, second = (ids(project.run(REFERENCE, "--collect-only", "-q")) for _ in range(2))
    assert first == second
    assert first[0].startswith("corpus/llm/test_wire_handler.py::")
