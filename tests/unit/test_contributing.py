"""CONTRIBUTING.md and docs/architecture.md say what is true: a copy of the project is changed as the first one says."""

import ast
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest
from cli_runs import run_process

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

COPIED = ("pytest_corpus", "schemas", "golden", "skeletons", "tests", "tools", "docs", "pyproject.toml")

STEP = re.compile(
    r"^In `(?P<file>[^`]+)`, (?:at the end(?: of `(?P<table>\w+)`)?|(?P<new>new)):\n\n"
    r"```(?:python|text)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

NAMED = re.compile(r"`([\w./<>-]+)`")  # the words in backticks that may be paths

ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in ARCHITECTURE.read_text("utf-8")
    .partition("| what | where | look for |")[2]
    .split("\n\n")[0]
    .splitlines()
    if line.startswith("| ")
]
"""The rows of the table "Where to change what": what, where, what to look for."""

QUOTES = '"""'  # the end of a table that is a text
ADDED, MUTANT = "LLM-TOKENS-10", "TenantIsCounted"  # the additions of the page


@dataclass(frozen=True, slots=True)
class Step:
    """One addition of the page: the file, and the table at whose end it goes, or none for the end of the file."""

    file: str
    table: str
    is_new: bool
    code: str

    def follow(self, tree: Path) -> None:
        """Write it into a copy of the project."""
        path = tree / self.file
        assert path.exists() != self.is_new, self.file
        source = "" if self.is_new else path.read_text("utf-8")
        path.write_text(extended(source, self.table, self.code) if self.table else appended(source, self.code), "utf-8")


def appended(source: str, code: str) -> str:
    return f"{source}\n\n{code}" if source else code


def extended(source: str, table: str, code: str) -> str:
    """A module with one more entry at the end of one of its tables, which is a display of Python's or a text."""
    (found,) = [node.value for node in ast.parse(source).body if table in targets(node)]  # type: ignore[attr-defined]
    assert found.end_lineno is not None
    assert found.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    is_text = isinstance(found, ast.Constant)
    end = sum(map(len, lines[: found.end_lineno - 1])) + found.end_col_offset - (len(QUOTES) if is_text else 1)
    if is_text:
        entry = code
    elif found.lineno == found.end_lineno:
        entry = f", {code.strip()}"
    else:
        entry = f"{indent(code.strip(), '    ')},\n"
    return source[:end] + entry + source[end:]


def targets(node: ast.stmt) -> list[str]:
    found = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in found if isinstance(each, ast.Name)]


def steps() -> list[Step]:
    text = PAGE.read_text("utf-8")
    found = [Step(each["file"], each["table"] or "", bool(each["new"]), each["code"]) for each in STEP.finditer(text)]
    blocks = text.count("```python") + text.count("```text")
    assert len(found) == blocks, "a block of code does not say where it belongs"
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which everything was added that the page adds, with its pages made anew."""
    tree = tmp_path_factory.mktemp("contributing") / "project"
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    for step in steps():
        step.follow(tree)
    ran(tree, "tools/pages.py")
    return tree


def ran(tree: Path, *argv: str, folder: Path | None = None) -> str:
    """The output of a Python command that imports the package of a copy; it ends with 0."""
    own = {"PYTHONPATH": str(tree), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_corpus.plugin"}
    environment = {**os.environ, **own}
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    return run_process(sys.executable, *argv, cwd=folder or tree, env=environment).stdout


def command(tree: Path, *argv: str) -> str:
    return ran(tree, "-c", "import sys; from pytest_corpus.cli import main; sys.exit(main())", *argv)


def test_the_page_adds_what_these_tests_look_at() -> None:
    """The example requirement and its mutant have the names that are used here, and nothing has them yet."""
    code = "".join(step.code for step in steps())
    assert f"{ADDED} SHOULD: " in code
    assert f"{ADDED} {MUTANT}: " in code
    known = [path for path in (ROOT / "pytest_corpus").rglob("*.py") if ADDED in path.read_text("utf-8")]
    assert known == []


def test_an_added_requirement_is_tested(tree: Path, tmp_path: Path) -> None:
    """Its test is collected and run, and the JSON report says that the reference adapter satisfies it.

    The report in the added format says so too.
    """
    ran(
        tree,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"),
        *("--corpus-adapter=pytest_corpus.reference:llm", f"--corpus-requirement={ADDED}"),
        *("--corpus-report=r.json", "--corpus-report=r.csv"),
        folder=tmp_path,
    )
    report = json.loads((tmp_path / "r.json").read_text("utf-8"))
    (entry,) = [entry for entry in report["requirements"] if entry["id"] == ADDED]
    assert entry["status"] == "satisfied"
    assert [test["outcome"] for test in entry["tests"]] == ["satisfied"]
    assert f"llm,{ADDED},SHOULD,satisfied" in (tmp_path / "r.csv").read_text("utf-8").splitlines()


def test_an_added_mutant_is_caught(tree: Path) -> None:
    """The project's own test finds the mutant, and that it violates the added requirement."""
    said = ran(
        tree,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={tree}"),
        *("tests/mutants", "-k", f"{MUTANT} and not whole_suite"),
    )
    assert "1 passed" in said


def test_an_added_requirement_is_in_the_catalogue(tree: Path) -> None:
    """`pytest-corpus explain` shows the entry."""
    assert "A text has the same number of tokens for every tenant." in command(tree, "explain", ADDED)


def test_an_added_requirement_is_on_the_generated_pages(tree: Path) -> None:
    """The table has its row, and the page of its chapter names its test and its mutant."""
    assert f"| {ADDED} | SHOULD | " in (tree / "docs" / "requirements.md").read_text("utf-8")
    ran(tree, "tools/pages.py", "--site")
    page = (tree / "docs" / "requirements" / "llm-tokens.md").read_text("utf-8")
    section = page.partition(f"## {ADDED}\n")[2].partition("\n#")[0]
    assert "`llm/test_count_tokens_consistency.py::test_a_count_does_not_depend_on_the_tenant`" in section
    assert f"`llm-{MUTANT}`: It counts a token for the tenant." in section


def test_an_added_command_runs(tree: Path) -> None:
    """It stands in the help, and does what it says."""
    assert "    errors " in command(tree, "--help")
    assert "BadRequest  BAD_REQUEST  no" in command(tree, "errors").splitlines()


def paths(page: Path) -> Iterator[str]:
    """The names on a page that read like paths of files or folders, from the root, the package, or the page."""
    for name in NAMED.findall(page.read_text("utf-8")):
        if "/" in name.strip("/") or name.endswith(("/", ".py", ".md")):
            yield name


@pytest.mark.parametrize("page", [PAGE, ARCHITECTURE], ids=["contributing", "architecture"])
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    """A newcomer finds what the pages name; `<component>` stands for each component, `<chapter>` for some module."""
    named = {name for name in paths(page) if name not in added()}
    missing = [name for name in sorted(named) if not any(any(ROOT.glob(each)) for each in places(name))]
    assert missing == []
    assert len(named) > 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_what_is_to_be_changed_stands_where_the_table_says(row: tuple[str, ...]) -> None:
    """Each name in the last column of "Where to change what" stands in a file of the second."""
    _, where, look_for = row
    files = [path for name in NAMED.findall(where) for path in ROOT.glob(places(name)[1])]
    sources = [path.read_text("utf-8") for path in files]
    assert sources
    for name in NAMED.findall(look_for):
        assert any(re.search(rf"\b{name}\b", source) for source in sources), name


def added() -> set[str]:
    return {step.file for step in steps() if step.is_new}


def places(name: str) -> list[str]:
    """The possible places of a path, as patterns."""
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    return [
        pattern, f"pytest_corpus/{pattern}", f"pytest_corpus/*/{pattern}", f"pytest_corpus/*/*/{pattern}",
        f"docs/{pattern}",
    ]  # fmt: skip
