"""`suites/schema` as it is run: by path, by package name, over folders of a user's own, and beside an adapter."""

import shutil
import sys
from pathlib import Path

import forks
import pytest

from pytest_corpus import resources
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.schemas import SCHEMAS

SCHEMA_FILES = sum(len(schema.files) for schema in SCHEMAS)
PACKAGE = ("-p", "no:randomly", "-p", "no:cacheprovider", "--pyargs", "pytest_corpus.suites.schema")


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run apart is a fork."""
    monkeypatch.setattr(sys, "executable", forks.forking_python())


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Copies of both folders, which the environment names."""
    copies = {name: tmp_path / name for name in ("schemas", "golden")}
    for name, copy in copies.items():
        shutil.copytree(resources.folder(name), copy)
    monkeypatch.setenv("CORPUS_SCHEMAS_ROOT", str(copies["schemas"]))
    monkeypatch.setenv("CORPUS_GOLDEN_ROOT", str(copies["golden"]))
    return copies


def test_every_file_is_a_test(pytester: pytest.Pytester, folders: dict[str, Path]) -> None:
    """Each of the 51 printed schemas, each later one and each golden is one green test, under strict markers."""
    result = pytester.runpytest_subprocess(*PACKAGE, "--strict-markers", "-m", "schema")
    result.assert_outcomes(passed=SCHEMA_FILES + len(GOLDENS))
    assert SCHEMA_FILES > 51


GONE = {
    "schemas": ("test_schema_lint", ("common/envelope.success.json", "llm/llm.types.chunk.v1.1.json")),
    "golden": ("test_golden_schema", ("llm/llm_stream.ndjson", "graph/graph_row.json")),
}
"""Files of each folder, and the part of the suite that reads them."""


@pytest.mark.parametrize("folder", GONE)
@pytest.mark.parametrize("how", ["removed", "renamed"])
def test_a_file_that_is_gone_is_red(pytester: pytest.Pytester, folders: dict[str, Path], folder: str, how: str) -> None:
    """Whatever is removed or renamed turns its part of the suite red, each file under its own name."""
    module, files = GONE[folder]
    for file in files:
        path = folders[folder] / file
        path.rename(path.with_name(f"other.{path.name}"))
        if how == "removed":
            path.with_name(f"other.{path.name}").unlink()
    result = pytester.runpytest_subprocess(*PACKAGE[:-1], f"{PACKAGE[-1]}.{module}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    for file in files:
        result.stdout.fnmatch_lines([f"*{file}: does not exist, but the table*"])
        if how == "renamed":
            result.stdout.fnmatch_lines([f"*other.{Path(file).name}: *"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_folder_that_is_gone_is_red(pytester: pytest.Pytester, folders: dict[str, Path]) -> None:
    """A folder that is not there is red, in one sentence, not an empty run."""
    for folder in folders.values():
        shutil.rmtree(folder)
    result = pytester.runpytest_subprocess(*PACKAGE)
    result.assert_outcomes(failed=2)
    for variable in ("CORPUS_SCHEMAS_ROOT", "CORPUS_GOLDEN_ROOT"):
        result.stdout.fnmatch_lines([f"*which {variable} names, is not a folder*"])


def test_the_suite_is_no_part_of_a_conformance_run(pytester: pytest.Pytester) -> None:
    """With an adapter declared, only conformance tests are collected."""
    result = pytester.runpytest_subprocess(
        "--collect-only", "-q", "--corpus-adapter=pytest_corpus.reference:llm", "--corpus-components=llm"
    )
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*suites/schema*")
    result.stdout.no_fnmatch_line("*test_schema_lint*")


def test_the_projects_own_tests_hold_the_suite(pytestconfig: pytest.Config) -> None:
    """`make test` runs it: it is among the project's test paths, and no other suite is."""
    paths = pytestconfig.getini("testpaths")
    assert [path for path in paths if "suites" in path] == ["pytest_corpus/suites/schema"]
