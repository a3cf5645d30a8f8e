"""The examples are complete, repeat nothing of the package that they share, and are known to tox and to their table."""

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
WIRE = ROOT / "skeletons" / "corpus-wire" / "corpus_wire"
COMMON = ("arguments.py", "errors.py", "wire.py")
"""The modules of `corpus_wire` whose names no module of an example has."""
ALONE = ("minimal", "corpus-sdk")  # the examples that do without `corpus_wire`
LIGHT = ("minimal", "multi", "graph-networkx", "vector-sqlite")
"""The examples that are installed and run in less than a minute each."""

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
def test_an_example_holds_only_its_own_code(example: Path) -> None:
    """No example repeats a module of the package that all of them share, nor a definition of it."""
    definition = re.compile(r"^(?:async )?(?:class|def) (\w+)", re.MULTILINE)
    shared = {name for path in WIRE.glob("*.py") for name in definition.findall(path.read_text("utf-8"))}
    for path in example.rglob("*.py") if example.name not in ALONE else ():
        assert path.name == "__init__.py" or path.name not in COMMON, path
        assert not shared.intersection(definition.findall(path.read_text("utf-8"))) - {"Provider"}, path


@pytest.mark.slow
@pytest.mark.parametrize("example", READMES)
def test_the_commands_of_a_readme_work(example: Path, tmp_path: Path) -> None:
    """In a fresh virtual environment, copied unchanged, they come to the verdict that the README gives."""
    oldest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (example / "pyproject.toml").read_text("utf-8"))
    if oldest and sys.version_info < tuple(map(int, oldest.groups())):
        pytest.skip("this Python is older than the example needs")
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
    return re.findall(r"^    (\S.*)$", (example / "README.md").read_text("utf-8"), re.MULTILINE)
