"""The ways to declare an adapter lead to the same suite."""

import json

import pytest
from inner_runs import REFERENCE, Project, assert_passed, ids, said, selected, statuses, whole_suite, without_times

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


@pytest.mark.parametrize(("place", "own", "given"), [
    ("conftest.py", "test_own.py", ()),
    ("tests/conftest.py", "", ("tests",)),
    ("conftest.py", "tests/test_own.py", ("-o", "testpaths=tests")),
], ids=["beside", "named_folder", "above_testpaths"])  # fmt: skip
def test_conftest_hook(project: Project, place: str, own: str, given: tuple[str, ...]) -> None:
    """A `conftest.py` that implements the hook has the suite beside the user's own tests, in a named folder, and if
    `testpaths` names only a folder below it."""
    (project.path / "tests").mkdir()
    (project.path / place).write_text(HOOK)
    if own:
        (project.path / own).write_text("def test_own(): pass")
    assert_passed(project.run(*given, FEW), project, FEW, own=bool(own))


def test_the_adapter_of_a_conftest_is_called_as_on_the_command_line(project: Project) -> None:
    """A factory of another module is called `module:factory` in reports, one of the conftest itself by its name."""
    project.pytester.makepyfile(adapter="from pytest_corpus.reference import llm\ndef factory():\n    return llm()\n")
    project.pytester.makeconftest("import adapter\ndef pytest_corpus_adapter(config): return adapter.factory")
    assert "adapter adapter:factory" in said(project.run(FEW))
    project.pytester.makeconftest("def factory(): pass\ndef pytest_corpus_adapter(config): return factory")
    assert "conftest.py: factory" in said(project.run(FEW))


def test_conftest_in_a_subfolder(project: Project) -> None:
    """The suite of a subfolder's `conftest.py` is collected there, and once."""
    (project.path / "tests").mkdir()
    (project.path / "tests" / "conftest.py").write_text(HOOK)
    (project.path / "tests" / "test_own.py").write_text("def test_own(): pass")
    result = project.run("--collect-only", "-q", FEW)
    suite = [name for name in ids(result) if name.startswith("tests/conftest.py::llm/test_")]
    assert len(set(suite)) == len(suite) == len(ids(result)) - 1
    assert len(suite) == len(selected(project, FEW))


def test_own_tests_alone_do_not_run_the_suite(project: Project) -> None:
    """Naming a test file of one's own runs that alone and says nothing about conformance."""
    project.pytester.makeconftest(HOOK)
    result = project.run(str(project.pytester.makepyfile(test_own="def test_own(): pass")))
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
    assert_passed(project.run("--which=pytest_corpus.reference:llm", FEW), project, FEW)


def test_two_conftests(project: Project) -> None:
    """Two folders may each declare an adapter of their own."""
    for name in ("one", "two"):
        (project.path / name).mkdir()
        (project.path / name / "conftest.py").write_text(
            "from pytest_corpus.reference import llm\n"
            f"def {name}(): return llm()\n"
            f"def pytest_corpus_adapter(config): return {name}\n"
        )
    result = project.run("one", "two", FEW, "--collect-only", "-q")
    each = len(selected(project, FEW))
    assert sorted(name.partition("/")[0] for name in ids(result)) == ["one"] * each + ["two"] * each


@pytest.mark.parametrize(("suite", "name"), [
    ("llm", "test_ours"),
    ("'pytest_corpus.reference:llm', label='named'", "named"),
], ids=["factory", "name"])  # fmt: skip
def test_suite(project: Project, suite: str, name: str) -> None:
    """`pytest_corpus.suite` of a factory, or of `module:attr`, collects the suite below its name in a test module."""
    project.pytester.makepyfile(test_suites=SUITE.replace("suite(llm)", f"suite({suite})"))
    assert_passed(project.run(FEW, "--corpus-report=r.json"), project, FEW)
    assert project.report()["adapter"]["name"] == name


def test_both_suites_in_one_module(project: Project) -> None:
    """A module may hold several suites beside its own tests."""
    project.pytester.makepyfile(
        test_suites=SUITE + "test_other = pytest_corpus.suite('pytest_corpus.reference:llm')\ndef test_own(): pass\n"
    )
    assert_passed(project.run(FEW, "--corpus-report=r.json"), project, FEW, suites=2, own=1)
    assert (project.path / "r.test_ours.json").exists()
    assert (project.path / "r.test_other.json").exists()


def test_suites_of_two_modules_with_one_name(project: Project) -> None:
    """Two modules may use the same name for a suite only with labels; the clash is said, not hidden."""
    project.pytester.makepyfile(test_one=SUITE, test_two=SUITE)
    result = project.run(FEW)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "'test_ours' is taken" in said(result)


@pytest.mark.slow
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
        tests = [(entry["id"], without_times(entry["tests"])) for entry in report["requirements"]]
        seen[way] = json.dumps([sorted(statuses(report).items()), tests])
    assert seen["option"] == seen["conftest"] == seen["suite"]


@pytest.mark.parametrize("name", ["llm", "subject", "request_id", "rule", "changed", "kind"])
def test_fixture_of_the_users_with_one_of_our_names(project: Project, name: str) -> None:
    """A fixture of the user's, autouse or not, does not take the place of ours."""
    project.pytester.makeconftest(
        HOOK + f"\nimport pytest\n@pytest.fixture\ndef {name}(): raise RuntimeError('the wrong fixture')\n"
    )
    result = project.run("--corpus-requirement=COM-CAP-*,COM-STREAM-1,LLM-COMPLETE-*")
    assert result.parseoutcomes().keys() <= {"passed", "deselected", "skipped"}, said(result)
    assert result.parseoutcomes()["passed"] > 10


def test_users_autouse_fixtures_apply(project: Project) -> None:
    """An autouse fixture of the conftest's folder surrounds each conformance test."""
    project.pytester.makeconftest(
        HOOK + "\nimport pytest\nfrom pathlib import Path\n@pytest.fixture(autouse=True)\n"
        "def mark():\n    with open('seen.txt', 'a') as file: file.write('x')\n"
    )
    assert_passed(project.run(FEW), project, FEW)
    assert (project.path / "seen.txt").read_text() == "x" * len(selected(project, FEW))


@pytest.mark.parametrize("way", ["option", "conftest"])
def test_users_naming_rules_hide_no_test(project: Project, way: str) -> None:
    """The naming rules of the user's own tests do not apply to the suite."""
    rules = "python_functions = nothing_*\npython_classes = Nothing*\npython_files = nothing_*.py\nnorecursedirs = *\n"
    project.pytester.makeini(f"[pytest]\n{rules}")
    if way == "conftest":
        project.pytester.makeconftest(HOOK)
    result = project.run(*([REFERENCE] if way == "option" else []), "--collect-only", "-q")
    assert len([name for name in ids(result) if "llm/test_" in name]) == len(whole_suite(project))


def test_users_naming_rules_do_not_hide_a_suite(project: Project) -> None:
    """A suite is found under any name in a module that the user's rules collect."""
    project.pytester.makeini("[pytest]\npython_files = check_*.py\npython_functions = check_*\n")
    project.pytester.makepyfile(check_suites=SUITE.replace("test_ours", "pinecone"))
    assert_passed(project.run(FEW), project, FEW)


def test_two_runs_collect_in_the_same_order(project: Project) -> None:
    """Collection is deterministic, and the foundations come first."""
    first, second = (ids(project.run(REFERENCE, "--collect-only", "-q")) for _ in range(2))
    assert first == second
    assert first[0].startswith("corpus/llm/test_wire_handler.py::")
