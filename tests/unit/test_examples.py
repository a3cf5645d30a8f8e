"""The examples are whole, alike where they share, and known to tox and to their table."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
COMMON = ROOT / "skeletons" / "common" / "package"
VECTOR_ADAPTERS = sorted((ROOT / "examples").glob("vector-*/*/adapter.py"))
LIGHT = ("minimal", "multi", "graph-networkx", "vector-sqlite")
"""What is installed and run in less than a minute each."""

HEAVY = pytest.mark.skipif(
    not os.environ.get("CORPUS_ALL_EXAMPLES"), reason="it installs much; `make examples` runs it"
)
READMES = [pytest.param(path, marks=() if path.name in LIGHT else HEAVY, id=path.name) for path in EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_has_a_page_an_environment_and_a_row(example: Path) -> None:
    """Its README has commands, tox runs it, and the table of the examples names it."""
    assert commands(example)
    assert re.search(rf"^\[testenv:.*[{{,]{example.name}[,}}]", (ROOT / "tox.ini").read_text("utf-8"), re.MULTILINE)
    assert f"[{example.name}]({example.name}/README.md)" in (ROOT / "examples" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_what_examples_share_is_what_init_writes(example: Path) -> None:
    """`wire.py`, `arguments.py` and `context.py` are changed in `skeletons/` alone."""
    package = example / example.name.replace("-", "_")
    for name in ("wire.py", "arguments.py", "context.py") if package.is_dir() else ():
        assert (package / name).read_text("utf-8") == (COMMON / name).read_text("utf-8"), f"{example.name}: {name}"


class Plain(ast.NodeTransformer):
    """A module without its docstrings, the name of its server and how it is closed."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST | None:
        return None if node.name == "aclose" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        is_server = isinstance(node.value, str) and node.value.startswith(("vector-", "COMPONENT-", "multi-"))
        return ast.Constant("server") if is_server else node


@pytest.mark.parametrize("adapter", VECTOR_ADAPTERS, ids=lambda path: path.parent.name)
def test_a_vector_adapter_is_what_init_writes(adapter: Path) -> None:
    """What the back ends have in common is the same code: a mistake in it is mended in the skeleton, and copied."""
    written = (ROOT / "skeletons" / "vector" / "package" / "adapter.py").read_text("utf-8")
    mine, ours = (ast.dump(Plain().visit(ast.parse(text))) for text in (adapter.read_text("utf-8"), written))
    assert mine == ours


@pytest.mark.slow
@pytest.mark.parametrize("example", READMES)
def test_the_commands_of_a_readme_work(example: Path, tmp_path: Path) -> None:
    """In a fresh virtual environment, copied as they stand, they come to the verdict that the README gives."""
    shutil.copytree(ROOT, tmp_path / "project", ignore=shutil.ignore_patterns(".*", "node_modules", "__pycache__"))
    folder = tmp_path / "project" / "examples" / example.name
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    verdicts = set()
    for command in commands(folder):
        words = shlex.split(command, comments=True)
        words[0] = sys.executable if words[0] == "python" else words[0]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        verdicts.update(re.findall(r"^  verdict: (\w+)$", done.stdout, re.MULTILINE))
    (verdict,) = verdicts
    assert f"verdict: {verdict}" in (folder / "README.md").read_text("utf-8")


def commands(example: Path) -> list[str]:
    """The lines of the README's first block of commands."""
    return re.findall(r"^    (\S.*)$", (example / "README.md").read_text("utf-8"), re.MULTILINE)
