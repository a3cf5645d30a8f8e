"""Wheel, sdist and installation hold what lies in the repository."""

import json
import re
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
from cli_runs import run_process

ROOT = Path(__file__).resolve().parent.parent
DATA = ("schemas", "golden", "skeletons")


def python_with(folder: Path, package: object) -> Path:
    """The interpreter of a new virtual environment with a package, which the pip of this environment installs."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run_process(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile", package, cwd=folder)
    return python


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("built")
    python = python_with(folder / "venv", "hatchling")
    run_process(python, "-m", "hatchling", "build", "-d", folder / "dist", cwd=ROOT)
    return folder / "dist"


@pytest.fixture(scope="session")
def wheel(built: Path) -> Iterator[zipfile.ZipFile]:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.mark.parametrize("folder", DATA)
def test_data_files_of_the_wheel(wheel: zipfile.ZipFile, folder: str) -> None:
    """The wheel carries every schema, golden and skeleton, byte for byte, and no other."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    expected = {f"pytest_corpus/{path.relative_to(ROOT).as_posix()}": path.read_bytes() for path in files}
    found = {
        name: wheel.read(name)
        for name in wheel.namelist()
        if name.startswith(f"pytest_corpus/{folder}/") and not name.endswith("/")
    }
    assert len(expected) > 15
    assert found == expected


def test_modules_of_the_wheel(wheel: zipfile.ZipFile) -> None:
    """The wheel has all modules, `py.typed`, pages, editions, assets, templates, the .proto; no tests, no caches."""
    package = ROOT / "pytest_corpus"
    kinds = (
        "*.py",
        "py.typed",
        "reports/html/assets/*.*",
        "reports/*/templates/*.*",
        "*.proto",
        "scenarios/*.txt",
        "suites/*/*.txt",
        "editions/*.toml",
    )
    expected = {path.relative_to(ROOT).as_posix() for kind in kinds for path in package.glob(f"**/{kind}")}
    expected |= {f"pytest_corpus/documents/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    data = tuple(f"pytest_corpus/{folder}/" for folder in DATA)
    found = {name for name in wheel.namelist() if ".dist-info/" not in name and not name.startswith(data)}
    assert found == expected


def test_entry_points_of_the_wheel(wheel: zipfile.ZipFile) -> None:
    """pytest finds the plugin, and the shell the command."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
    points = ConfigParser()
    points.read_string(wheel.read(name).decode())
    assert points["pytest11"]["corpus"] == "pytest_corpus.plugin"
    assert points["console_scripts"]["pytest-corpus"] == "pytest_corpus.cli:main"


def test_metadata_of_the_wheel(wheel: zipfile.ZipFile) -> None:
    """Name, licence, the oldest Python and the runtime dependencies are declared."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    lines = wheel.read(name).decode().splitlines()
    for line in ("Name: pytest-corpus", "Requires-Python: >=3.11", "Classifier: Framework :: Pytest"):
        assert line in lines
    required = [line for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    wanted = ("pytest", "jsonschema", "jsonschema-rs", "referencing", "orjson")
    assert all(any(line.split()[1].startswith(name) for line in required) for name in wanted)
    assert any(name.endswith("LICENSE") for name in wheel.namelist())


def test_every_dependency_has_a_lower_bound(wheel: zipfile.ZipFile) -> None:
    """The metadata alone says what `tox run -e lowest` installs."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    lines = wheel.read(name).decode().splitlines()
    required = [line.partition(";")[0] for line in lines if line.startswith("Requires-Dist: ")]
    assert len(required) > 10
    assert [line for line in required if ">=" not in line and "==" not in line] == []


def test_the_sdist_builds_the_same_wheel(built: Path, wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """The sdist has what it takes: a wheel built from it holds the same files."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    assert (source / "tests").is_dir()
    python = next((built.parent / "venv").glob("*/python"))
    run_process(python, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", cwd=source)
    (again,) = (tmp_path / "again").glob("*.whl")
    with zipfile.ZipFile(again) as second:
        names = sorted(name for name in second.namelist() if not name.endswith("RECORD"))
        assert names == sorted(name for name in wheel.namelist() if not name.endswith("RECORD"))
        assert all(second.read(name) == wheel.read(name) for name in names)


def test_installed_in_a_fresh_environment(built: Path, tmp_path: Path) -> None:
    """From the wheel alone, in an empty folder, the first command of the README ends green and conformant."""
    (path,) = built.glob("*.whl")
    python = python_with(tmp_path / "venv", path)
    folder = tmp_path / "empty"
    folder.mkdir()
    options = ("-p", "no:cacheprovider", "--corpus-adapter=pytest_corpus.reference:llm", "--corpus-report=r.json")
    done = run_process(python.with_name("pytest"), *options, cwd=folder)
    report = json.loads((folder / "r.json").read_text("utf-8"))
    assert (report["verdict"], report["complete"]) == ("conformant", True)
    open_ones = [entry["id"] for entry in report["requirements"] if entry["status"] == "not_assessed"]
    assert open_ones == []
    assert sum(len(entry["tests"]) for entry in report["requirements"]) >= 120
    assert "failed" not in done.stdout
    assert {path.name for path in folder.iterdir()} == {"r.json"}
    command = python.with_name("pytest-corpus")
    run_process(command, "init", "graph", tmp_path / "new", cwd=folder)
    assert (tmp_path / "new" / "graph_adapter" / "provider.py").is_file()
    assert "R20 Labels" in run_process(command, "explain", "R20", cwd=folder).stdout


def test_the_readme_of_the_package_index(wheel: zipfile.ZipFile) -> None:
    """Its pictures have an absolute address or are words, and so has every link."""
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    text = wheel.read(name).decode("utf-8")
    assert "Description-Content-Type: text/markdown" in text
    assert "## Five minutes to a verdict" in text
    assert "A terminal with a red run" in text
    addresses = re.findall(r'(?:src|srcset)="([^"]*)"|\]\(([^)]*)\)', text)
    assert [each for pair in addresses for each in pair if each and not each.startswith("https://")] == []
