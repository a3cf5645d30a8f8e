"""`pytest-corpus init`: an adapter repository that is conformant on its first run."""

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import forks
import pytest
from cli_runs import call_command, environment, refusal_of, run_process

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.text.atomic_write import write_folder


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "component", [pytest.param(name, marks=[] if name == "llm" else pytest.mark.slow) for name in COMPONENTS]
)
def test_the_first_run_is_conformant(component: str, tmp_path: Path) -> None:
    """As it was written, `pytest` alone is `conformant`; a store has the data of all tenants in one place."""
    folder = tmp_path / "mine"
    assert call_command("init", component, folder).code == 0
    given = ("-p", "no:randomly", "-p", "no:asyncio", "-n", "0", "--corpus-report=r.json")
    left = {"vector": {"COM-TENANT-3"}, "graph": {"COM-TENANT-3"}}.get(component, set())
    level = "must" if left else "should"
    command = (forks.forking_python(), "-m", "pytest", *given, f"--corpus-level={level}", "--corpus-strict")
    run_process(*command, cwd=folder, env=environment(CORPUS_TEST_ENV="local"))
    report = json.loads((folder / "r.json").read_text("utf-8"))
    assert (report["verdict"], report["complete"], list(report["components"])) == ("conformant", True, [component])
    assert {entry["id"] for entry in report["requirements"] if entry["status"] == "violated"} == left
    assert {entry["status"] for entry in report["requirements"]} - {"violated"} == {"satisfied", "not_applicable"}


def test_a_mistake_in_the_provider_is_shown_with_its_place(tmp_path: Path) -> None:
    """An exception of a method that never worked is a finding, no outage, with its file and line in every report."""
    folder = tmp_path / "mine"
    assert call_command("init", "vector", folder).code == 0
    code = folder / "vector_adapter" / "provider.py"
    before, call, after = code.read_text("utf-8").partition('        await self.reached("create_namespace")\n')
    code.write_text(f"{before}        self.client.connect()\n{call}{after}", "utf-8")
    where = f"AttributeError at provider.py:{len(before.splitlines()) + 1}"
    given = ("-p", "no:randomly", "-p", "no:asyncio", "--corpus-report=r.md", "--corpus-requirement=VEC-NS-1")
    ended = run_process(forks.forking_python(), "-m", "pytest", *given, code=1, cwd=folder, env=environment())
    assert where in ended.stdout, ended.stdout
    assert f"raised: `{where}" in (folder / "r.md").read_text("utf-8")
    assert "unavailable since" not in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["http", "tcp"])
def test_a_factory_for_a_provider_with_an_address(provider: str, tmp_path: Path) -> None:
    """It is conformant before the client is pointed at the address."""
    folder = tmp_path / "mine"
    assert call_command("init", "llm", folder, f"--provider={provider}").code == 0
    assert ("provider.proxy(ADDRESS)" if provider == "http" else "provider.tunnel(HOST, PORT") in (
        folder / "llm_adapter" / "__init__.py"
    ).read_text()
    given = ("-p", "no:randomly", "-p", "no:asyncio", "-n", "0", "--corpus-report=r.json", "--corpus-strict")
    run_process(forks.forking_python(), "-m", "pytest", *given, cwd=folder, env=environment(CORPUS_TEST_ENV="local"))
    assert json.loads((folder / "r.json").read_text("utf-8"))["verdict"] == "conformant"


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_is_written(component: str, tmp_path: Path) -> None:
    """The repository has all that it takes; nothing of it needs this plugin at run time, or is left to be filled in."""
    ended = call_command("init", component.upper(), tmp_path / "a" / "b")
    assert ended.code == 0
    assert ("one SHOULD finding: COM-TENANT-3" in ended.err) == (component in ("vector", "graph"))
    files = tree(tmp_path / "a" / "b")
    package = f"{component}_adapter"
    shared = ("__init__", "arguments", "errors", "provider", "wire", component)
    modules = ("__init__.py", "adapter.py", "provider.py", *(f"corpus_wire/{name}.py" for name in shared))
    others = (".gitignore", "README.md", "conftest.py", "pyproject.toml", ".github/workflows/conformance.yml")
    assert {*others, *(f"{package}/{name}" for name in modules)} <= files.keys()
    assert sorted(ended.out.splitlines()) == sorted(f"wrote {tmp_path / 'a' / 'b' / name}" for name in files)
    for name, text in files.items():
        assert "COMPONENT" not in text
        if name.startswith(package):
            imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
            assert "pytest_corpus" not in "".join(map(ast.unparse, imported))
            assert len(text.splitlines()) < 400
    assert re.search(r"# EDIT: here (call|ask) your library", files[f"{package}/provider.py"])


@pytest.mark.parametrize(("given", "said"), [
    ((), "name a component: llm, vector, embedding, graph; for example"),
    (("vectors",), "there is no component 'vectors'; did you mean vector?"),
    (("x",), "there is no component 'x'; use llm, vector, embedding, graph"),
    (("llm", "full"), "is not empty: it holds mine.py; name a new one"),
    (("llm", "full/mine.py"), "full/mine.py is a file; name a folder that is empty, or a new one"),
    (("llm", "full/mine.py/deeper"), "full/mine.py"),
])  # fmt: skip
def test_refusals(given: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is one sentence with exit code 2, and nothing is touched."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    assert said in refusal_of("init", *given)
    assert tree(tmp_path) == {"full/mine.py": "x = 1\n"}


def test_here_beside_git_and_a_virtual_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder it is the current one, where a new repository and a virtual environment may lie."""
    for name in (".git", ".venv"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert call_command("init", "embedding").code == 0
    assert (tmp_path / "embedding_adapter").is_dir()
    assert call_command("init", "embedding").code == 2


@pytest.mark.parametrize("existing", [True, False])
def test_whole_or_not_at_all(existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If writing ends in the middle, nothing of it is left, nor a folder that was not there."""
    folder, move = tmp_path / "deep" / "new", os.rename
    if existing:
        folder.mkdir(parents=True)

    def third_time(source: Any, target: Any) -> None:
        if Path(target).name == "c":
            raise KeyboardInterrupt
        move(source, target)

    monkeypatch.setattr(os, "rename", third_time)
    with pytest.raises(KeyboardInterrupt):
        write_folder({"a": "1", "b/x": "2", "c": "3"}.items(), folder)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == (
        ["deep", "deep/new"] if existing else []
    )


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A name that is taken stays as it is, and nothing else is written."""
    (tmp_path / "b").write_text("mine")
    with pytest.raises(FileExistsError):
        write_folder({"a": "1", "b": "2"}.items(), tmp_path)
    assert tree(tmp_path) == {"b": "mine"}
