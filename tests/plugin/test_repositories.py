"""Beside everything that repositories hold: other kinds of tests, settings, broken modules, items of other plugins."""

import json

import pytest
from inner_runs import Project, ids, said, selected

INI = """
[pytest]
addopts = --strict-config --strict-markers --import-mode=importlib -W error --doctest-modules --doctest-glob=*.rst
    --doctest-glob=test*.txt --continue-on-collection-errors
markers = mine: of this repository
collect_imported_tests = false
python_functions = test_* check_*
xfail_strict = true
log_level = DEBUG
usefixtures = around
"""

ITEMS = '''
"""Items of another plugin: YAML files and notebooks; and reports that are no test of pytest's."""
import json, types, pytest

class Cases(pytest.File):
    def collect(self):
        cells = json.loads(self.path.read_text())["cells"] if self.path.suffix == ".ipynb" else ["case"]
        for number, cell in enumerate(cells):
            case = Case.from_parent(self, name=f"cell {number}")
            case.user_properties += [("a", "b", "c"), "text", ("alone",), {"corpus": 1}]
            yield case

class Case(pytest.Item):
    def runtest(self): pass
    def reportinfo(self): return self.path, None, self.name

def pytest_collect_file(file_path, parent):
    if file_path.suffix in (".yaml", ".yml", ".ipynb"):
        return Cases.from_parent(parent, path=file_path)

@pytest.fixture
def around(): yield
'''

FILES = {
    "conftest.py": ITEMS,
    "pytest.ini": INI,
    "setup.cfg": "[tool:pytest]\naddopts = --unknown\n",
    "test-requirements.txt": "requests>=2\n",
    "test_text.txt": ">>> 2 + 2\n4\n",
    "docs/guide.rst": "Guide\n=====\n\n>>> 1 + 1\n2\n",
    "package/__init__.py": "",
    "package/module.py": '"""A module.\n\n>>> answer()\n42\n"""\n\ndef answer():\n    return 42\n',
    "config.yaml": "a: [1",
    "bundle.yaml": "of: another tool",
    "tests/cases.yml": "a: 1",
    "tests/conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef ready(): yield\n",
    "tests/unit/conftest.py": "import pytest\n@pytest.fixture\ndef here(): return 1\n",
    "tests/unit/test_own.py": "import pytest\n@pytest.mark.mine\n@pytest.mark.parametrize('n', [1, 2])\n"
    "def test_own(here, n): assert here\ndef check_that(): pass\n",
    "tests/test_broken.py": "import there_is_no_such_module\n",
    "tests/notebook.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["1 + 1"]}], "nbformat": 4}),
    "tests/test_legacy.py": """
import unittest

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.one = 1
    def setUp(self): self.two = 2
    def test_sub(self):
        with self.subTest(i=1): self.assertLess(self.one, self.two)
    @unittest.skip("never")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_failing(self): self.fail()

class TestNose:
    def setup_method(self): self.three = 3
    def teardown_method(self): del self.three
    def test_nose(self): assert self.three
""",
}


@pytest.fixture
def repository(project: Project) -> Project:
    """A repository that holds everything."""
    for name, text in FILES.items():
        path = project.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return project


BY_CONFTEST = "def pytest_corpus_adapter(config): return 'pytest_corpus.reference:llm'\n"
BY_SUITE = "import pytest_corpus\nfrom pytest_corpus.reference import llm\ntest_llm = pytest_corpus.suite(llm)\n"
OWN = {"skipped": 1, "xfailed": 1, "errors": 1}
"""The outcomes of the tests of the repository that do not pass."""

PASSED = 12
"""The number of those that pass."""

FEW = "--corpus-requirement=COM-CAP-*,LLM-COMPLETE-2"


def own(result: pytest.RunResult) -> dict[str, int]:
    """The outcomes of a run as in `OWN`."""
    return {name: result.parseoutcomes().get(name, 0) for name in OWN}


@pytest.mark.parametrize("way", ["option", "conftest", "suite", pytest.param("workers", marks=pytest.mark.slow)])
def test_everything(repository: Project, way: str) -> None:
    """The suite passes, and the repository's tests end as they always do, in whichever way the adapter is declared."""
    given = [f"--corpus-report={repository.path}/r.json"]
    if way == "conftest":
        conftest = repository.path / "tests/unit/conftest.py"
        conftest.write_text(conftest.read_text() + BY_CONFTEST)
    elif way == "suite":
        (repository.path / "tests/test_suite.py").write_text(BY_SUITE)
    else:
        given += ["--corpus-adapter=pytest_corpus.reference:llm"]
    if way == "workers":
        result = repository.run_apart(*given, "-n", "2", plugins=("xdist",))
    else:
        result = repository.run(*given, FEW)
    assert "INTERNALERROR" not in said(result)
    report = repository.report()
    tests = [test for entry in report["requirements"] for test in entry["tests"]]
    not_applicable = sum(test["outcome"] == "not_applicable" for test in tests)
    assert own(result) == {**OWN, "skipped": OWN["skipped"] + not_applicable}
    assert {entry["status"] for entry in report["requirements"] if entry["tests"]} <= {"satisfied", "not_applicable"}
    if way == "workers":
        assert (report["verdict"], report["complete"]) == ("conformant", True), said(result)
    else:
        expected = len(selected(repository, FEW))
        assert result.parseoutcomes()["passed"] + not_applicable == expected + PASSED, said(result)


def test_without_an_adapter(repository: Project) -> None:
    """Nothing changes in a repository that declares no adapter."""
    result = repository.run()
    assert own(result) == OWN
    assert result.parseoutcomes()["passed"] == PASSED
    assert result.parseoutcomes() == repository.run("-p", "no:corpus", "-p", "no:pytest_corpus.plugin").parseoutcomes()


def test_a_module_that_is_collected_twice(project: Project) -> None:
    """With `--doctest-modules` a module with a suite is collected as doctests too; the suite stays one."""
    project.pytester.makepyfile(test_suites=BY_SUITE)
    result = project.run("--doctest-modules", FEW)
    assert result.ret == 0, said(result)
    assert len(ids(project.run("--doctest-modules", FEW, "--collect-only", "-q"))) == len(selected(project, FEW))
